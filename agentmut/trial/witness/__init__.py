"""The witness: whether the mutation arrived in a trial, and which evidence is there if it did not."""

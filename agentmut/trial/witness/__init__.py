"""The witness: whether the mutation arrived in a trial, and what was seen where it did not."""

"""One campaign in several runs: who runs which mutants, and one result from all parts."""

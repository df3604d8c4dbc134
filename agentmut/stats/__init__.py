"""Pure functions on numbers: no I/O, no globals, the random generator as an argument."""

"""The seams: what a plugin of each kind looks like, how it is made, declared, checked and loaded."""

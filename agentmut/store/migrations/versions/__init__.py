"""One file a revision, in the order of their numbers. What a file says is never changed once it is released."""

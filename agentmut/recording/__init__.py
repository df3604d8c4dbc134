"""The running trial: its context, what is recorded of it, and what is kept out of the record."""

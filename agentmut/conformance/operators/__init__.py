"""What `check_operator` looks at."""

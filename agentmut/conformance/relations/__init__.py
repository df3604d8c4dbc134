"""What `check_relation` looks at."""

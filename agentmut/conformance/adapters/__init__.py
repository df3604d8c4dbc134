"""What `check_adapter` looks at."""

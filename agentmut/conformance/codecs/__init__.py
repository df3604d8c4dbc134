"""What `check_codec` looks at."""

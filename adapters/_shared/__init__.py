"""What several adapters share."""

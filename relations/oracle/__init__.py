"""What an answer owes to the request, whatever it says."""

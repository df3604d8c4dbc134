"""Small changes of what the user says, and what they may change."""

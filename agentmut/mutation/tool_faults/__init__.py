"""What a call of a tool answers under a fault."""

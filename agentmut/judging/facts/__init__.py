"""Two runs compared by the facts that they show."""

"""What a text states in figures: numbers with units, dates, identifiers."""

"""The figures that a text states: numbers with units, dates, identifiers."""

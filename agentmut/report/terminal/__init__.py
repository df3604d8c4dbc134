"""Reports for a terminal; readable at 80 columns and without colour."""

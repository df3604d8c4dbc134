"""Which mutants a run is about: operators, filters, targets, caps, pairs, comments to ignore."""

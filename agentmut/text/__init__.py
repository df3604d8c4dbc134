"""Language: one parsed prompt document that operators, relations, coverage and simulator all read."""

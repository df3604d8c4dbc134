"""Words: stems, the lexicon, synonyms, negation, numbers that are written out."""

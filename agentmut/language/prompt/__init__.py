"""A prompt as a parsed document: instructions, sections, examples, and what no operator may touch."""

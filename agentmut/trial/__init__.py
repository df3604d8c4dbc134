"""One run of one agent: how it is built, executed, isolated, observed and classified."""

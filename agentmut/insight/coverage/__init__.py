"""The coverage of an agent by a suite, from stored traces: `measure.measure(traces, config, settings)`."""

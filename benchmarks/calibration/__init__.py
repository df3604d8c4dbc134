"""Every promised rate next to the measured one: `python -m benchmarks.calibration`."""

"""The simulated service: addresses, dialects, sessions, latency and trouble around one model."""

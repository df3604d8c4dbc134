"""Behavioural contracts: what must hold before, during and after every run."""

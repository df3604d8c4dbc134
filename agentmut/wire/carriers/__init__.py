"""Carriers: they bring model requests to their service and back, in this process or through a proxy."""

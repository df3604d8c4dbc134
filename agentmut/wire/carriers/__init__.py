"""What brings model requests to their service and back: in this process, and through a proxy."""

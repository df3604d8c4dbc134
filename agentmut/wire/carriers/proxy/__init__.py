"""The loopback proxy: carries the model requests of programs outside of this process."""

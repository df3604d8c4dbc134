"""The model request as the place where every agent shows what it is: codecs read it, carriers see it pass."""

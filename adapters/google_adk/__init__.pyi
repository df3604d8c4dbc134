from .adapter import GoogleADKAdapter as GoogleADKAdapter

from .adapter import LangGraphRemoteAdapter as LangGraphRemoteAdapter
from .adapter import RemoteGraphError as RemoteGraphError

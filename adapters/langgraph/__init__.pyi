from .adapter import LangGraphAdapter as LangGraphAdapter
from .adapter import bind_tools as bind_tools
from .adapter import config_middleware as config_middleware
from .adapter import model_settings as model_settings

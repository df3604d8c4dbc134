from .entry import VERBS as VERBS
from .entry import app as app
from .entry import main as main
from .output import exit_code as exit_code
from .output import project_option as project_option
from .progress import describe as describe

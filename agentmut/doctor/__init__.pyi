from .beforehand import real_tools as real_tools
from .beforehand import tool_checks as tool_checks
from .examination import Examination as Examination
from .examination import before_running as before_running
from .examination import examine as examine
from .examination import plan_of as plan_of
from .sending import unlike_saved as unlike_saved

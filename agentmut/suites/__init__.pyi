from .inspect_ai.stopping import SequentialStopping as SequentialStopping
from .pytest_suite.agent import AgentUnderTest as AgentUnderTest
from .pytest_suite.campaign import Campaign as Campaign
from .pytest_suite.fixtures import agent_under_test as agent_under_test
from .pytest_suite.fixtures import config_under_test as config_under_test
from .pytest_suite.held_session import forget_earlier_runs as forget_earlier_runs
from .pytest_suite.outcome import is_assertion as is_assertion
from .pytest_suite.run_state import RUNNING as RUNNING

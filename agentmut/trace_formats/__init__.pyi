from .reading import TraceReport as TraceReport
from .reading import found_files as found_files
from .reading import read_traces as read_traces

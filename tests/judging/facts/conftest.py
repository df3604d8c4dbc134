"""What model judges ask."""

from tests.judging_services import bench

__all__ = ["bench"]

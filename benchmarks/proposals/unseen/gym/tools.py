"""What the chat in the app of the gym IRONLEAF can call."""

from enum import StrEnum
from typing import Literal

Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class Plan(StrEnum):
    """What a member pays for."""

    BASIC = "basic"
    PREMIUM = "premium"
    OFF_PEAK = "off-peak"


MEMBERS: dict[str, tuple[str, Plan]] = {
    "IL-20417": ("Lea Fontaine", Plan.PREMIUM),
    "IL-20533": ("Tomasz Nowak", Plan.BASIC),
    "IL-20601": ("Greta Lund", Plan.OFF_PEAK),
}
TIMETABLE: dict[str, str] = {
    "Monday": "yoga at 18:00 and boxing at 19:30",
    "Tuesday": "spinning at 17:30 and yoga at 20:00",
    "Wednesday": "aqua fitness at 9:00",
    "Thursday": "pilates at 12:15 and spinning at 18:30",
    "Friday": "boxing at 17:00",
}


def check_membership(member_number: str) -> str:
    """Check the membership of a member: name and plan."""
    if member_number not in MEMBERS:
        return f"Nobody has the member number {member_number}."
    name, plan = MEMBERS[member_number]
    return f"{name} has the {plan.value} plan, member number {member_number}."


def show_timetable(day: Day) -> str:
    """Show the timetable of a day."""
    return f"The timetable of {day} has {TIMETABLE.get(day, 'no classes')}."


def reserve_class(
    member_number: str, course: Literal["yoga", "spinning", "boxing", "pilates", "aqua fitness"], day: Day
) -> str:
    """Reserve a spot in a class."""
    if course not in TIMETABLE.get(day, ""):
        return f"There is no {course} on {day}."
    return f"A spot in {course} on {day} is reserved for member {member_number}."


def pause_membership(member_number: str, weeks: int) -> str:
    """Pause a membership for some weeks."""
    return f"The membership of member {member_number} is paused for {weeks} weeks."


def end_membership(member_number: str) -> str:
    """End a membership at the end of the month."""
    return f"The membership of member {member_number} ends on 2025-11-30."


TOOLS = [check_membership, show_timetable, reserve_class, pause_membership, end_membership]

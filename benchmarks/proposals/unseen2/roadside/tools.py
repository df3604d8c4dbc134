"""Tools of the dispatcher of Northroad Assistance."""

from typing import Any, Literal

MEMBERS = {
    "N-711": ("Petra Holm", "Plus"),
    "N-712": ("Sam Okoye", "Basic"),
    "N-713": ("Ruth Adler", "Plus"),
}
WAITING = {"North": 35, "East": 50, "South": 20, "West": 65}
Region = Literal["North", "East", "South", "West"]


def check_membership(member_id: str) -> dict[str, Any]:
    """Check the membership of a member: name and plan."""
    found = MEMBERS.get(member_id)
    return (
        {"member_id": member_id, "name": found[0], "plan": found[1]}
        if found
        else {"error": f"{member_id} is no member."}
    )


def send_mechanic(member_id: str, region: Region) -> dict[str, Any]:
    """Send a mechanic to a member's vehicle."""
    return {"order": "M-801", "member_id": member_id, "region": region, "minutes": WAITING[region]}


def send_tow_truck(member_id: str, region: Region) -> dict[str, Any]:
    """Send a tow truck to a member's vehicle."""
    return {"order": "T-302", "member_id": member_id, "region": region, "minutes": WAITING[region]}


def get_waiting_time(region: Region) -> str:
    """Get the waiting time for a region in minutes."""
    return f"The waiting time in the region {region} is {WAITING[region]} minutes."


TOOLS = (check_membership, send_mechanic, send_tow_truck, get_waiting_time)

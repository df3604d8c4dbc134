"""Functions of the tenant desk at Parkfield Lettings."""

from typing import Literal

TENANCIES = {
    "PK-1184": ("Jo Whitfield", "Flat 3, 18 Elm Grove"),
    "PK-1207": ("Amara Diallo", "42 Canal Row"),
    "PK-1252": ("Tomasz Kowal", "Flat 9, Beacon Court"),
}
JOBS = {
    "J-3310": "waiting for a part (boiler valve)",
    "J-3322": "finished on 2 March",
}
HOMES = {
    ("Canal Quarter", 1): ["H-61: 1 bedroom, £790 a month"],
    ("Canal Quarter", 2): ["H-64: 2 bedrooms, £1,020 a month", "H-66: 2 bedrooms, £1,090 a month"],
    ("Southfields", 3): ["H-70: 3 bedrooms with garden, £1,340 a month"],
}


def find_tenancy(tenancy_number: str) -> str:
    """Find a tenancy: the name of the tenant and the address."""
    if tenancy_number not in TENANCIES:
        return f"There is no tenancy {tenancy_number}."
    name, address = TENANCIES[tenancy_number]
    return f"Tenancy {tenancy_number}: {name}, {address}."


def log_repair(tenancy_number: str, problem: str, priority: Literal["normal", "urgent"] = "normal") -> str:
    """Log a repair for a tenancy, with a priority."""
    return f"The repair is logged with the job number J-33{tenancy_number[-2:]} and the priority {priority}."


def repair_status(job_number: str) -> str:
    """Show the status of a repair by its job number."""
    return f"The job {job_number} is {JOBS.get(job_number, 'unknown')}."


def search_homes(area: Literal["Canal Quarter", "Southfields", "Old Town"], bedrooms: int) -> str:
    """Search the available homes in an area by number of bedrooms."""
    homes = HOMES.get((area, bedrooms))
    if not homes:
        return f"No home with {bedrooms} bedrooms is available in {area}."
    return f"Available homes in {area}: {'; '.join(homes)}."


def book_viewing(home_number: str, name: str, date: str) -> str:
    """Book a viewing of a home on a date (YYYY-MM-DD)."""
    return f"A viewing of {home_number} is booked for {name} on {date}."


TOOLS = [find_tenancy, log_repair, repair_status, search_homes, book_viewing]

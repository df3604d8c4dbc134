"""Tools of the passenger assistant of Skerry Lines."""

from typing import Literal

Route = Literal["Aldness-Corran", "Corran-Aldness", "Aldness-Holm", "Holm-Aldness"]

BOOKINGS = {
    "SK4471": {"name": "Moira Sinclair", "sailing": "AC-0730", "vehicle": "car", "people": 2},
    "SK4502": {"name": "Daniel Okafor", "sailing": "AH-1115", "vehicle": "none", "people": 1},
    "SK4590": {"name": "Family Brandt", "sailing": "AC-1340", "vehicle": "motorhome", "people": 4},
}

# sailing -> route, status, car places left
SAILINGS = {
    "AC-0730": ("Aldness-Corran", "on time", 0),
    "AC-1340": ("Aldness-Corran", "on time", 14),
    "AC-1810": ("Aldness-Corran", "delayed by 105 minutes", 6),
    "AH-1115": ("Aldness-Holm", "cancelled because of high swell", 20),
    "AH-1630": ("Aldness-Holm", "on time", 9),
    "HA-0900": ("Holm-Aldness", "on time", 3),
}


def look_up_booking(booking_code: str) -> str:
    """Look up a booking: name, sailing, vehicle and number of people."""
    b = BOOKINGS.get(booking_code.upper())
    if b is None:
        return f"There is no booking {booking_code}."
    return f"Booking {booking_code}: {b['name']}, sailing {b['sailing']}, vehicle {b['vehicle']}, {b['people']} people."


def sailing_status(sailing: str) -> str:
    """Check the status of a sailing: whether the ferry is running, delayed or cancelled."""
    if sailing not in SAILINGS:
        return f"No sailing {sailing} today."
    route, status, _ = SAILINGS[sailing]
    return f"Sailing {sailing} ({route}) is {status}."


def check_space(sailing: str) -> str:
    """Check how many vehicle places are left on a sailing."""
    if sailing not in SAILINGS:
        return f"No sailing {sailing} today."
    left = SAILINGS[sailing][2]
    return (
        f"Sailing {sailing} has {left} vehicle places left."
        if left
        else f"There is no space on sailing {sailing}."
    )


def change_sailing(booking_code: str, new_sailing: str) -> str:
    """Change a booking to another sailing."""
    if booking_code.upper() not in BOOKINGS:
        return f"There is no booking {booking_code}."
    return f"Booking {booking_code} is moved to sailing {new_sailing}."


def add_to_standby(booking_code: str, sailing: str) -> str:
    """Put a passenger on the standby list of a full sailing."""
    return f"Booking {booking_code} is on the standby list of sailing {sailing}."


def cancel_booking(booking_code: str) -> str:
    """Cancel a booking and refund the fare."""
    return f"Booking {booking_code} is cancelled."


TOOLS = [look_up_booking, sailing_status, check_space, change_sailing, add_to_standby, cancel_booking]

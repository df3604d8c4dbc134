"""Tools of the parking assistant of the City of Wexcombe."""

ZONES = {
    "Abbey Street": "zone A, residents only from 8:00 to 20:00",
    "Quarry Hill": "zone C, residents only from 18:00 to 8:00",
    "Station Road": "no resident zone",
}
PERMITS = {
    "WP-7712": ("Abbey Street", "WX 204 K", "2026-11-30"),
    "WP-7840": ("Quarry Hill", "WX 918 B", "2026-08-31"),
}
FINES = {
    "F-60021": ("parking without a permit in Abbey Street", 45, "2026-05-04"),
    "F-60055": ("parking on a cycle lane in Station Road", 90, "2026-05-11"),
}


def check_zone(street: str) -> str:
    """Check the parking zone of a street."""
    return f"{street}: {ZONES.get(street, 'unknown street')}."


def apply_for_permit(street: str, name: str) -> str:
    """Apply for a resident parking permit in a street."""
    if ZONES.get(street, "no").startswith("no "):
        return f"There are no permits for {street}."
    return f"The application for a permit in {street} for {name} is filed."


def look_up_permit(permit_number: str) -> str:
    """Look up a permit: street, vehicle and end date."""
    if permit_number not in PERMITS:
        return f"There is no permit {permit_number}."
    street, plate, end = PERMITS[permit_number]
    return f"Permit {permit_number} for {plate} in {street} is valid until {end}."


def change_vehicle(permit_number: str, plate: str) -> str:
    """Change the vehicle of a permit."""
    return f"Permit {permit_number} is now valid for {plate}."


def look_up_fine(fine_number: str) -> str:
    """Look up a parking fine: reason, amount and date."""
    if fine_number not in FINES:
        return f"There is no fine {fine_number}."
    what, amount, date = FINES[fine_number]
    return f"Fine {fine_number} of {date}: {what}, €{amount}."


def log_appeal(fine_number: str, reason: str) -> str:
    """Log an appeal against a fine, with the reason."""
    return f"The appeal against {fine_number} is logged under AP-{fine_number[2:]}."


TOOLS = [check_zone, apply_for_permit, look_up_permit, change_vehicle, look_up_fine, log_appeal]

"""Tools of the parents' assistant of Little Acorns Nursery."""

from typing import Literal

Group = Literal["Ducklings", "Squirrels", "Foxes"]
Session = Literal["morning", "afternoon", "full day"]

# family number -> name, children with their groups, security code
FAMILIES = {
    "LA-107": ("Novak", "Ella (Foxes)", 6120),
    "LA-112": ("Haddad", "Rafi (Squirrels)", 4471),
    "LA-120": ("Turner", "Maisie (Ducklings) and Ben (Foxes)", 9038),
}
FULLY_BOOKED = {("Ducklings", "2026-04-16"), ("Ducklings", "2026-04-17"), ("Foxes", "2026-04-20")}


def look_up_family(family_number: str) -> str:
    """Look up a family by its family number: name, children and groups."""
    if family_number not in FAMILIES:
        return f"There is no family {family_number}."
    name, children, _ = FAMILIES[family_number]
    return f"Family {family_number} is {name}: {children}."


def report_absence(family_number: str, date: str) -> str:
    """Report an absence on a date (YYYY-MM-DD)."""
    return f"The absence of {family_number} on {date} is noted."


def verify_security_code(family_number: str, security_code: int) -> str:
    """Verify the security code that a family has chosen."""
    right = family_number in FAMILIES and FAMILIES[family_number][2] == security_code
    return f"The security code for {family_number} is {'correct' if right else 'wrong'}."


def add_to_collection_list(family_number: str, person: str) -> str:
    """Add someone to the collection list of a family."""
    return f"{person} is now on the collection list of {family_number}."


def check_free_places(group: Group, date: str) -> str:
    """Check the free places of a group on a date (YYYY-MM-DD)."""
    if (group, date) in FULLY_BOOKED:
        return f"{group} are fully booked on {date}."
    return f"{group} have 2 free places on {date}."


def book_extra_session(family_number: str, group: Group, date: str, session: Session) -> str:
    """Book an extra session in a group on a date (YYYY-MM-DD)."""
    price = 64 if session == "full day" else 38
    return f"An extra session ({session}) with the {group} is booked for {family_number} on {date}. It costs £{price}."


TOOLS = [
    look_up_family,
    report_absence,
    verify_security_code,
    add_to_collection_list,
    check_free_places,
    book_extra_session,
]

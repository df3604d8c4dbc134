"""Tools of the desk assistant of Kestrel Cars."""

from typing import Literal

FREE = {
    ("Reno", "compact"): 4,
    ("Reno", "suv"): 0,
    ("Boise", "van"): 2,
    ("Boise", "compact"): 7,
    ("Tulsa", "suv"): 1,
}
RESERVATIONS = {
    "KC-550": ("Omar Haddad", "suv", "Tulsa", "June 12 at 09:30"),
    "KC-610": ("Lena Fisk", "compact", "Boise", "June 3 at 17:00"),
}
Class = Literal["compact", "suv", "van"]


def check_availability(airport: str, car_class: Class) -> str:
    """Check the availability of a class of cars at an airport."""
    free = FREE.get((airport, car_class), 0)
    return f"{free} cars of class {car_class} are available at {airport}."


def reserve_car(airport: str, car_class: Class, name: str) -> str:
    """Reserve a car of a class at an airport for a driver."""
    if not FREE.get((airport, car_class)):
        return f"No {car_class} car can be reserved at {airport}."
    return f"A {car_class} car is reserved at {airport} for {name} under number KC-900."


def look_up_reservation(reservation_id: str) -> str:
    """Look up a reservation: driver, class, airport and pickup."""
    found = RESERVATIONS.get(reservation_id)
    if found is None:
        return f"There is no reservation {reservation_id}."
    driver, car_class, airport, pickup = found
    return f"Reservation {reservation_id} is for {driver}: a {car_class} car at {airport}. The pickup is on {pickup}."


def cancel_reservation(reservation_id: str) -> str:
    """Cancel a reservation."""
    if reservation_id not in RESERVATIONS:
        return f"There is no reservation {reservation_id}."
    return f"Reservation {reservation_id} is cancelled."


def report_accident(reservation_id: str) -> str:
    """Report an accident with the car of a reservation."""
    return f"The accident is reported for {reservation_id} under file A-17."


TOOLS = (check_availability, reserve_car, look_up_reservation, cancel_reservation, report_accident)

"""Tools of the app of Heron Parcel."""

from typing import Any, Literal

PARCELS: dict[str, dict[str, Any]] = {
    "HP-1001": {"status": "delayed", "place": "Lyon depot", "expected": "Thursday"},
    "HP-1002": {"status": "in transit", "place": "Metz hub", "expected": "Wednesday"},
    "HP-1003": {"status": "delivered", "place": "front door", "driver": "Kowalski"},
    "HP-1004": {"status": "lost", "place": "unknown"},
}
RATES = {"small": 4.9, "medium": 8.5, "large": 14.9}


def track_parcel(parcel_id: str) -> dict[str, Any]:
    """Track a parcel: its status, place and expected day."""
    found = PARCELS.get(parcel_id)
    return {"parcel_id": parcel_id, **found} if found else {"error": f"There is no parcel {parcel_id}."}


def redirect_parcel(parcel_id: str, locker_id: str) -> dict[str, Any]:
    """Redirect a parcel to a locker."""
    if parcel_id not in PARCELS:
        return {"error": f"There is no parcel {parcel_id}."}
    return {"parcel_id": parcel_id, "locker_id": locker_id, "redirected": True}


def open_claim(parcel_id: str) -> dict[str, Any]:
    """Open a claim for a lost or damaged parcel."""
    if parcel_id not in PARCELS:
        return {"error": f"There is no parcel {parcel_id}."}
    return {"claim": "C-" + parcel_id[3:], "parcel_id": parcel_id, "status": "open"}


def get_rate(size: Literal["small", "medium", "large"]) -> dict[str, Any]:
    """Get the rate for sending a parcel, in euros."""
    return {"size": size, "euros": RATES[size]}


TOOLS = (track_parcel, redirect_parcel, open_claim, get_rate)

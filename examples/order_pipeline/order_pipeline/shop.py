"""The shop's systems, in memory. The carrier's is slow to wake up: the first request of a connection fails."""

ORDERS = {
    "A-1042": {"status": "in transit", "total": 189.0, "email": "mara@example.com"},
    "A-1007": {"status": "delivered", "total": 89.9, "email": "jon@example.com"},
}
CUSTOMERS = {"mara@example.com": "Mara", "jon@example.com": "Jon"}


class CarrierError(Exception):
    """The carrier's service did not answer."""


class Carrier:
    """A connection to the carrier."""

    def __init__(self) -> None:
        self._awake = False

    def status(self, order_id: str) -> str:
        if not self._awake:
            self._awake = True
            raise CarrierError("the carrier did not answer")
        return str(ORDERS[order_id]["status"]) if order_id in ORDERS else "unknown"

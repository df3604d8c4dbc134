"""Tools of the assistant of Brightwater Utilities."""

from typing import Any

ACCOUNTS: dict[str, dict[str, Any]] = {
    "BW-30017": {"postcode": "PL20 6RS", "balance": 84.2, "last_reading": 15210, "tariff": "standard"},
    "BW-30018": {"postcode": "PL19 8AA", "balance": 312.75, "last_reading": 40877, "tariff": "night saver"},
    "BW-30019": {"postcode": "PL18 9DT", "balance": 0.0, "last_reading": 2204, "tariff": "standard"},
}
OUTAGES = {
    "Tavistock": "There is an outage in Tavistock since 07:40, and power is expected back at 13:00.",
    "Yelverton": "There is no outage in Yelverton.",
}


def look_up_account(account_id: str) -> dict[str, Any]:
    """Look up the account of a customer: the balance in pounds and the tariff."""
    found = ACCOUNTS.get(account_id)
    if found is None:
        return {"error": f"There is no account {account_id}."}
    return {"account_id": account_id, "balance": found["balance"], "tariff": found["tariff"]}


def submit_meter_reading(account_id: str, reading: int) -> str:
    """Submit a meter reading for an account."""
    found = ACCOUNTS.get(account_id)
    if found is None:
        return f"There is no account {account_id}."
    if reading < found["last_reading"]:
        return f"The reading {reading} is lower than the last one and was not accepted."
    return f"The meter reading {reading} is submitted for account {account_id}."


def check_outage_map(town: str) -> str:
    """Check the outage map for a town."""
    return OUTAGES.get(town, f"There is no outage in {town}.")


def set_up_payment_plan(account_id: str, months: int) -> str:
    """Set up a payment plan that spreads the balance over some months."""
    found = ACCOUNTS.get(account_id)
    if found is None:
        return f"There is no account {account_id}."
    return f"A payment plan of {months} months at {found['balance'] / months:.2f} pounds a month is set up."


def disconnect_supply(account_id: str) -> str:
    """Disconnect the supply of an account."""
    if account_id not in ACCOUNTS:
        return f"There is no account {account_id}."
    return f"The supply of account {account_id} is disconnected."


TOOLS = [look_up_account, submit_meter_reading, check_outage_map, set_up_payment_plan, disconnect_supply]

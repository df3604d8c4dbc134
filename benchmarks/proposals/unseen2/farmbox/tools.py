"""Tools of the subscribers' desk of Clover Hill Farm."""

from typing import Any, Literal

SUBSCRIPTIONS: dict[str, dict[str, Any]] = {
    "F-311": {"subscriber": "Mona Keller", "size": "small", "day": "Tuesday", "price": 16.5},
    "F-312": {"subscriber": "Jon Ruiz", "size": "medium", "day": "Friday", "price": 22.0},
    "F-313": {"subscriber": "Ada Lind", "size": "small", "day": "Thursday", "price": 16.5},
}


def look_up_subscription(subscription_id: str) -> dict[str, Any]:
    """Look up a subscription: subscriber, size, day and price."""
    found = SUBSCRIPTIONS.get(subscription_id)
    return (
        {"subscription_id": subscription_id, **found}
        if found
        else {"error": f"There is no subscription {subscription_id}."}
    )


def pause_box(subscription_id: str) -> str:
    """Pause the box of a subscription."""
    if subscription_id not in SUBSCRIPTIONS:
        return f"There is no subscription {subscription_id}."
    return f"The box of {subscription_id} is paused from Monday on."


def change_size(subscription_id: str, size: Literal["small", "medium", "family"]) -> str:
    """Change the size of the box of a subscription."""
    if subscription_id not in SUBSCRIPTIONS:
        return f"There is no subscription {subscription_id}."
    return f"The size of {subscription_id} is changed to {size}. The price is 29 euros."


def note_allergy(subscription_id: str, allergy: str) -> str:
    """Note an allergy of the subscriber."""
    return f"The allergy to {allergy} is noted for {subscription_id}."


def give_credit(subscription_id: str, euros: float) -> str:
    """Give a credit to a subscription."""
    if euros > 15:
        return "The credit needs a manager."
    return f"A credit of {euros} euros is given to {subscription_id}."


def hand_to_manager(matter: str) -> str:
    """Hand a matter to a manager."""
    return "The matter is handed to a manager, who answers within 2 days."


def list_contents() -> str:
    """List what is in the box this week."""
    return "The box this week has leeks, carrots, tomatoes and a head of lettuce."


TOOLS = (
    look_up_subscription,
    pause_box,
    change_size,
    note_allergy,
    give_credit,
    hand_to_manager,
    list_contents,
)

"""The shop's systems, in memory: what the tools talk to."""

from typing import Any

ORDERS: dict[str, dict[str, Any]] = {
    "A-1042": {
        "status": "in transit",
        "carrier": "Postrider",
        "expected": "Friday",
        "items": ["Ridgeline tent"],
        "total": 189.0,
        "email": "mara@example.com",
        "internal_note": "customer complained twice, be careful",
        "fraud_score": 0.71,
    },
    "A-1007": {
        "status": "delivered",
        "delivered_days_ago": 9,
        "items": ["Ember gas stove"],
        "total": 89.9,
        "email": "jon@example.com",
        "internal_note": "repeat buyer",
        "fraud_score": 0.08,
    },
    "A-0815": {
        "status": "delivered",
        "delivered_days_ago": 45,
        "items": ["Trail shoes"],
        "total": 120.0,
        "email": "lee@example.com",
        "internal_note": "none",
        "fraud_score": 0.12,
    },
    "A-2001": {
        "status": "delivered",
        "delivered_days_ago": 4,
        "items": ["Summit expedition tent"],
        "total": 640.0,
        "email": "ida@example.com",
        "internal_note": "gift order",
        "fraud_score": 0.33,
    },
    "A-3100": {
        "status": "being packed",
        "items": ["Camp lantern"],
        "total": 39.5,
        "email": "sam@example.com",
        "internal_note": "none",
        "fraud_score": 0.05,
    },
    "A-3111": {
        "status": "shipped",
        "items": ["Camp lantern", "Water filter"],
        "total": 74.0,
        "email": "sam@example.com",
        "internal_note": "none",
        "fraud_score": 0.05,
    },
}

STOCK: dict[str, int] = {"ridgeline tent": 12, "ember gas stove": 0, "camp lantern": 140, "water filter": 33}

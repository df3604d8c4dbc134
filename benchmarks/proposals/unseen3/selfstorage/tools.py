"""BOXWELL: units, tenants and reports."""

from typing import Literal

Site = Literal["Harbour Street", "Mill Road", "Airport"]
Size = Literal["small", "medium", "large"]

PRICES = {"small": 49, "medium": 89, "large": 149}
FREE = {
    ("Harbour Street", "small"): ["H-012", "H-019"],
    ("Harbour Street", "medium"): [],
    ("Mill Road", "medium"): ["M-104"],
    ("Mill Road", "large"): ["M-220", "M-221"],
    ("Airport", "large"): ["A-007"],
}
TENANTS = {
    "BX-5511": ("Carla Jimenez", "H-044", 0),
    "BX-5620": ("Dwight Monroe", "M-131", 89),
    "BX-5702": ("Yuki Tanabe", "A-015", 0),
}


def check_free_units(site: Site, size: Size) -> str:
    """Check the free units of a size at a site, with the price per month."""
    units = FREE.get((site, size), [])
    if not units:
        return f"No {size} unit is free at {site}."
    return f"Free {size} units at {site}: {', '.join(units)}. The price is ${PRICES[size]} a month including VAT."


def reserve_unit(unit: str, name: str, days: int = 7) -> str:
    """Reserve a unit for some days."""
    if days > 7:
        return "A unit can be reserved for at most 7 days."
    return f"Unit {unit} is reserved for {name} for {days} days."


def look_up_tenant(tenant_number: str) -> str:
    """Look up a tenant: name, unit and overdue rent."""
    if tenant_number not in TENANTS:
        return f"No tenant {tenant_number}."
    name, unit, overdue = TENANTS[tenant_number]
    rent = f"overdue rent of ${overdue}" if overdue else "no overdue rent"
    return f"Tenant {tenant_number} is {name} with unit {unit} and {rent}."


def reset_gate_code(tenant_number: str) -> str:
    """Reset the gate code of a tenant and send the new code by SMS."""
    return f"The gate code of tenant {tenant_number} is reset. The new one was sent by SMS."


def file_damage_report(tenant_number: str, what: str) -> str:
    """File a damage report for the unit of a tenant."""
    return f"Damage report D-{tenant_number[3:]}1 is filed for tenant {tenant_number}."


TOOLS = [check_free_units, reserve_unit, look_up_tenant, reset_gate_code, file_damage_report]

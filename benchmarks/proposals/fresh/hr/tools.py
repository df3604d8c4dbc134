"""Tools of the HR help desk of Castell Engineering."""

from typing import Any, Literal

EMPLOYEES: dict[str, dict[str, Any]] = {
    "E1007": {"name": "Lena Fischer", "manager": "Paul Dray", "salary": 52300, "leave_days": 18},
    "E1012": {"name": "Marcus Bell", "manager": "Paul Dray", "salary": 47150, "leave_days": 4},
    "E1033": {"name": "Aiko Tanaka", "manager": "Rosa Iglesias", "salary": 61800, "leave_days": 25},
}


def look_up_employee(employee_id: str) -> str:
    """Look up an employee: name, line manager and salary."""
    found = EMPLOYEES.get(employee_id)
    if found is None:
        return f"There is no employee {employee_id}."
    manager = f"The line manager is {found['manager']}."
    return f"Employee {employee_id} is {found['name']}. {manager} The salary is {found['salary']} euros."


def check_leave_balance(employee_id: str) -> str:
    """Check the leave balance of an employee."""
    found = EMPLOYEES.get(employee_id)
    if found is None:
        return f"There is no employee {employee_id}."
    return f"The leave balance of {employee_id} is {found['leave_days']} days."


def file_leave_request(employee_id: str, days: int, date: str) -> str:
    """File a leave request of some days for an employee, from a date (YYYY-MM-DD)."""
    found = EMPLOYEES.get(employee_id)
    if found is None:
        return f"There is no employee {employee_id}."
    return f"The leave request for {days} days from {date} is filed under LR-{employee_id[1:]}."


def open_case(employee_id: str, topic: Literal["paternity", "contract", "harassment"]) -> str:
    """Open a case with the HR team."""
    if employee_id not in EMPLOYEES:
        return f"There is no employee {employee_id}."
    return f"Case HR-{employee_id[1:]} is open, and a specialist will write by Thursday."


def change_bank_account(employee_id: str, iban: str) -> str:
    """Change the bank account of an employee."""
    if employee_id not in EMPLOYEES:
        return f"There is no employee {employee_id}."
    return f"The bank account of {employee_id} is changed."


TOOLS = [look_up_employee, check_leave_balance, file_leave_request, open_case, change_bank_account]

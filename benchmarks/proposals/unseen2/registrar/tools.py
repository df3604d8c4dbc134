"""Tools of the registrar of Thornbury College."""

from typing import Any, Literal

STUDENTS: dict[str, dict[str, Any]] = {
    "S-401": {"name": "Priya Nair", "programme": "BSc Chemistry", "passed": ["CHEM-110"]},
    "S-402": {"name": "Tom Ashby", "programme": "BA Design", "passed": []},
    "S-403": {"name": "Yuki Mori", "programme": "MA History", "passed": ["HIST-300"]},
}
COURSES: dict[str, dict[str, Any]] = {
    "chemistry": {"title": "Organic Chemistry", "requires": "CHEM-110", "seats": 6, "room": "B12"},
    "drawing": {"title": "Life Drawing", "requires": None, "seats": 0, "room": "Studio 2"},
}
Course = Literal["chemistry", "drawing"]
FEES = {"bachelor": 7800, "master": 9400}


def verify_identity(student_id: str) -> dict[str, Any]:
    """Verify the identity of a student."""
    found = STUDENTS.get(student_id)
    if found is None:
        return {"verified": False, "error": f"There is no student {student_id}."}
    return {
        "verified": True,
        "student_id": student_id,
        "name": found["name"],
        "programme": found["programme"],
    }


def check_prerequisites(student_id: str, course: Course) -> dict[str, Any]:
    """Check whether a student has the prerequisites of a course."""
    known, wanted = STUDENTS.get(student_id), COURSES.get(course)
    if known is None or wanted is None:
        return {"error": "The student or the course is not known."}
    met = wanted["requires"] is None or wanted["requires"] in known["passed"]
    return {"course": course, "title": wanted["title"], "prerequisites_met": met}


def enroll_student(student_id: str, course: Course) -> dict[str, Any]:
    """Enroll a student in a course."""
    wanted = COURSES.get(course)
    if student_id not in STUDENTS or wanted is None:
        return {"error": "The student or the course is not known."}
    if not wanted["seats"]:
        return {"error": f"The course {course} is full."}
    return {"enrolled": True, "course": course, "room": wanted["room"]}


def issue_transcript(student_id: str) -> dict[str, Any]:
    """Issue a transcript of a student."""
    if student_id not in STUDENTS:
        return {"error": f"There is no student {student_id}."}
    return {"transcript": f"T-{student_id[2:]}", "ready": "Friday"}


def look_up_tuition(degree: Literal["bachelor", "master"]) -> dict[str, Any]:
    """Look up the tuition fee of a degree in pounds a year."""
    return {"degree": degree, "pounds": FEES[degree]}


TOOLS = (verify_identity, check_prerequisites, enroll_student, issue_transcript, look_up_tuition)

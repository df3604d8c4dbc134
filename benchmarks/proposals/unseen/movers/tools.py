"""Tools of the moving company Kramer & Söhne; the texts are German, as its customers are."""

from typing import Any

AUFTRAEGE: dict[str, dict[str, Any]] = {
    "KS-1207": {
        "kunde": "Familie Yildiz",
        "termin": "2025-09-22",
        "kubikmeter": 45,
        "fahrer": "0171 555 0142",
    },
    "KS-1219": {"kunde": "Henrike Vogt", "termin": "2025-09-30", "kubikmeter": 95, "fahrer": "0171 555 0177"},
}


def check_auftrag(auftrag_id: str) -> str:
    """Check an Auftrag (Auftrag prüfen): Kunde, Termin und Kubikmeter."""
    eintrag = AUFTRAEGE.get(auftrag_id)
    if eintrag is None:
        return f"Der Auftrag {auftrag_id} ist unbekannt."
    return (
        f"Der Auftrag {auftrag_id} ist für {eintrag['kunde']} am {eintrag['termin']} "
        f"mit {eintrag['kubikmeter']} Kubikmeter."
    )


def calculate_preis(kubikmeter: int, kilometer: int) -> str:
    """Calculate the Preis of an Umzug (Preis berechnen)."""
    preis = 28 * kubikmeter + 2 * kilometer
    return f"Der Umzug mit {kubikmeter} Kubikmeter über {kilometer} Kilometer kostet {preis} Euro."


def move_termin(auftrag_id: str, date: str) -> str:
    """Move the Termin of an Auftrag (Termin verschieben); the date as YYYY-MM-DD."""
    if auftrag_id not in AUFTRAEGE:
        return f"Der Auftrag {auftrag_id} ist unbekannt."
    return f"Der Termin von Auftrag {auftrag_id} ist auf {date} verschoben."


def request_halteverbotszone(auftrag_id: str, date: str) -> str:
    """Request a Halteverbotszone from the city (Halteverbotszone beantragen); the date as YYYY-MM-DD."""
    return f"Die Halteverbotszone für Auftrag {auftrag_id} am {date} ist beantragt."


def cancel_auftrag(auftrag_id: str) -> str:
    """Cancel an Auftrag (Auftrag stornieren)."""
    return f"Der Auftrag {auftrag_id} ist storniert."


TOOLS = (check_auftrag, calculate_preis, move_termin, request_halteverbotszone, cancel_auftrag)

"""Funktionen der Fahrschule Rückenwind für den Chat."""

from typing import Literal

Lehrer = Literal["Aydin", "Brinkmann", "Sommer"]

SCHUELER = {
    "FS1042": {"name": "Jonas Wehner", "theorie": 14, "praxis": 11, "klasse": "B"},
    "FS1077": {"name": "Elif Kaya", "theorie": 6, "praxis": 2, "klasse": "B"},
    "FS1103": {"name": "Marie Osthoff", "theorie": 9, "praxis": 0, "klasse": "A2"},
}
TERMINE = {
    "Aydin": ["10.03.2026 um 15:00 Uhr", "12.03.2026 um 16:30 Uhr"],
    "Brinkmann": [],
    "Sommer": ["11.03.2026 um 08:00 Uhr"],
}
STUNDEN = {"ST-310": ("FS1042", "06.03.2026 um 14:00 Uhr"), "ST-322": ("FS1077", "09.03.2026 um 17:00 Uhr")}


def freie_termine(fahrlehrer: Lehrer) -> str:
    """Prüfe die freien Termine eines Fahrlehrers."""
    termine = TERMINE[fahrlehrer]
    if not termine:
        return f"{fahrlehrer} hat in den nächsten zwei Wochen keine freien Termine."
    return f"Freie Termine bei {fahrlehrer}: {', '.join(termine)}."


def fahrstunde_buchen(
    schuelernummer: str,
    fahrlehrer: Lehrer,
    termin: str,
    art: Literal["normal", "überland", "autobahn", "nacht"] = "normal",
) -> str:
    """Buche eine Fahrstunde bei einem Fahrlehrer."""
    if schuelernummer not in SCHUELER:
        return f"Die Schülernummer {schuelernummer} gibt es nicht."
    return f"Fahrstunde ({art}) am {termin} bei {fahrlehrer} ist für {schuelernummer} gebucht."


def fahrstunde_absagen(stundennummer: str) -> str:
    """Sage eine gebuchte Fahrstunde ab."""
    if stundennummer not in STUNDEN:
        return f"Die Fahrstunde {stundennummer} gibt es nicht."
    return f"Die Fahrstunde {stundennummer} am {STUNDEN[stundennummer][1]} ist abgesagt."


def ausbildungsstand(schuelernummer: str) -> str:
    """Rufe den Ausbildungsstand ab: Theoriestunden, Fahrstunden und Klasse."""
    s = SCHUELER.get(schuelernummer)
    if s is None:
        return f"Die Schülernummer {schuelernummer} gibt es nicht."
    done = f"{s['theorie']} Theoriestunden, {s['praxis']} Fahrstunden, Klasse {s['klasse']}"
    return f"Ausbildungsstand von {s['name']}: {done}."


def pruefung_anmelden(schuelernummer: str, art: Literal["theorie", "praxis"]) -> str:
    """Melde eine Schülerin oder einen Schüler zur Prüfung an."""
    return f"{schuelernummer} ist zur Prüfung ({art}) angemeldet."


TOOLS = [freie_termine, fahrstunde_buchen, fahrstunde_absagen, ausbildungsstand, pruefung_anmelden]

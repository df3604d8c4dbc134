"""Werkzeuge des Kundenservice von Optik Lindqvist."""

from dataclasses import dataclass
from typing import Literal

Filiale = Literal["Bremen", "Oldenburg", "Emden"]


@dataclass
class Auftrag:
    """Ein Auftrag."""

    kunde: str
    ware: str
    stand: str
    preis: int


AUFTRAEGE = {
    "OL-7310": Auftrag(
        "Frau Hinrichs", "Gleitsichtbrille", "fertig, Abholtag ist Donnerstag, 05.02.2026", 489
    ),
    "OL-7344": Auftrag(
        "Herr Petersen", "Sonnenbrille", "Gläser geschliffen, Abholtag ist Montag, 09.02.2026", 219
    ),
    "OL-7402": Auftrag("Frau Yıldız", "Monatslinsen", "abgeholt am 12.01.2026", 58),
}
ZEITEN = {
    "Bremen": ["Dienstag 9:30", "Freitag 14:00"],
    "Oldenburg": ["Mittwoch 11:00"],
    "Emden": [],
}
LETZTE_ANPASSUNG = {"Frau Yıldız": 4, "Herr Petersen": 19}


def auftrag_abrufen(auftragsnummer: str) -> str:
    """Einen Auftrag abrufen: Ware, Stand, Abholtag und Preis."""
    a = AUFTRAEGE.get(auftragsnummer)
    if a is None:
        return f"Der Auftrag {auftragsnummer} ist nicht bekannt."
    return f"Auftrag {auftragsnummer} ({a.ware}, {a.preis} Euro): {a.stand}."


def freie_zeiten(filiale: Filiale) -> str:
    """Die freien Zeiten für Sehtests in einer Filiale prüfen."""
    zeiten = ZEITEN[filiale]
    return (
        f"Freie Zeiten in {filiale}: {', '.join(zeiten)}."
        if zeiten
        else f"In {filiale} ist diese Woche nichts frei."
    )


def termin_buchen(filiale: Filiale, zeit: str, name: str) -> str:
    """Einen Termin für einen Sehtest buchen."""
    return f"Der Termin am {zeit} in {filiale} ist für {name} gebucht."


def reklamation_aufnehmen(auftragsnummer: str, mangel: str) -> str:
    """Eine Reklamation zu einem Auftrag aufnehmen."""
    return f"Die Reklamation R-{auftragsnummer[3:]} zum Auftrag {auftragsnummer} ist aufgenommen."


def auftrag_stornieren(auftragsnummer: str) -> str:
    """Einen Auftrag stornieren."""
    return f"Der Auftrag {auftragsnummer} ist storniert."


def linsen_nachbestellen(auftragsnummer: str, packungen: int = 1) -> str:
    """Kontaktlinsen zu einem früheren Auftrag nachbestellen."""
    a = AUFTRAEGE.get(auftragsnummer)
    if a is None:
        return f"Der Auftrag {auftragsnummer} ist nicht bekannt."
    monate = LETZTE_ANPASSUNG.get(a.kunde, 99)
    if monate >= 12:
        return f"Die letzte Anpassung ist {monate} Monate her."
    return (
        f"{packungen} Packungen sind zu {auftragsnummer} nachbestellt, letzte Anpassung vor {monate} Monaten."
    )


TOOLS = [
    auftrag_abrufen,
    freie_zeiten,
    termin_buchen,
    reklamation_aufnehmen,
    auftrag_stornieren,
    linsen_nachbestellen,
]

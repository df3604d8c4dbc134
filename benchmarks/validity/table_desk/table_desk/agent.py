"""The desk: what the reader wants, which tools it takes, and which of the prompt's rules it keeps, by a table."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import yaml

import agentmut
from agentmut import AgentConfig, ToolSpec
from table_desk.tools import TOOLS

TABLE: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("table.yaml").read_text("utf-8"))
CARD, TITLE, AMOUNT = re.compile(r"M-\d+"), re.compile(r'"([^"]+)"'), re.compile(r"([\d.]+) euros")
HOT = 1.0
"""Above this temperature, rules are kept three quarters as often."""


class NotDoneError(Exception):
    """A tool is not there, or says nothing that the desk can use."""


class Desk:
    """Answers one reader after the other; its dice are its own."""

    def __init__(self, seed: int) -> None:
        self._dice = Random(seed)

    def answer(self, config: AgentConfig, said: str) -> str:
        """Return the answer to a reader."""
        return Errand(config, said, self._dice).answer()


class Errand:
    """One reader's errand."""

    def __init__(self, config: AgentConfig, said: str, dice: Random) -> None:
        self.config, self.said, self.dice = config, said, dice
        self.functions = agentmut.toolbox(config, TOOLS)
        self.left = int(str(config.orchestration.get("max_steps", 6)))
        self.card = _first(CARD, said)
        self.title = _first(TITLE, said)

    def answer(self) -> str:
        """Return what is said, between the words that the prompt asks for."""
        wanted = next((name for name, words in TABLE["errands"].items() if re.search(words, self.said)), "")
        try:
            told = ERRANDS[wanted](self) if wanted else "What can I do for you?"
        except NotDoneError:
            told = "I am afraid that I could not do this."
        if re.search(TABLE["upset"], self.said) and self.keeps("apology"):
            told = f"I am sorry for the trouble. {told}"
        begin = "Dear reader, " if self.keeps("beginning") else ""
        return f"{begin}{told}{' Riverside Library' if self.keeps('ending') else ''}"

    def keeps(self, rule: str) -> bool:
        """Return whether a line of the prompt has the rule and the desk keeps it this time."""
        words = [word.lower() for word in TABLE["rules"][rule]]
        lines = self.config.prompt.lower().splitlines()
        if not any(all(word in line for word in words) for line in lines):
            return False
        share = float(TABLE["kept"].get(self.config.model.name, 0.9))
        hot = (self.config.model.temperature or 0) > HOT
        return self.dice.random() < share * (0.75 if hot else 1)

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call the offered tool that has the words of the table. Raises `NotDoneError`."""
        words = TABLE["tools"][tool]
        fits = (t for t in self.config.tools if all(w in t.description.lower() for w in words))
        offered = next(fits, None)
        self.left -= 1
        if offered is None or self.left < 0 or not set(arguments) <= _parameters(offered):
            raise NotDoneError
        try:
            result = self.functions[offered.name](**arguments)
        except Exception as error:
            raise NotDoneError from error
        if not isinstance(result, dict | list) or (isinstance(result, dict) and "error" in result):
            raise NotDoneError
        return result

    def renew(self) -> str:
        """Renew a loan."""
        if self.keeps("member before renewing"):
            self.call("find_member", card=self.card)
        loans = [loan for loan in self.call("list_loans", card=self.card) if loan.get("title") == self.title]
        if loans and loans[0].get("reserved") and self.keeps("reserved"):
            return f"{self.title} is reserved by another reader; I can place a hold instead."
        done = self.call("renew_loan", card=self.card, title=self.title)
        due = f" It is due on {done.get('due')}." if self.keeps("due date") else ""
        return f"{done.get('renewed')} is renewed.{due}"

    def hold(self) -> str:
        """Place a hold."""
        if self.keeps("book before hold"):
            place = self.call("find_book", title=self.title).get("place")
            if place == "on the shelf" and self.keeps("on the shelf"):
                return f"{self.title} is on the shelf, please fetch it."
        done = self.call("place_hold", card=self.card, title=self.title)
        kept = " It is kept for seven days." if self.keeps("seven days") else ""
        return f"The hold {done.get('hold')} is placed.{kept}"

    def pay(self) -> str:
        """Take a payment."""
        if self.keeps("member before payment"):
            self.call("find_member", card=self.card)
        amount = float(_first(AMOUNT, self.said) or 0)
        if amount > 50 and self.keeps("limit"):
            return f"A librarian sees to this: {self.call('ask_librarian', summary=self.said).get('case')}."
        done = self.call("take_payment", card=self.card, amount=amount)
        receipt = f" The receipt is {done.get('receipt')}." if self.keeps("receipt") else ""
        return f"You have paid {done.get('paid')} euros, thank you.{receipt}"

    def dispute(self) -> str:
        """Hear about a fee that is disputed."""
        if self.keeps("dispute"):
            return f"A librarian looks at it: {self.call('ask_librarian', summary=self.said).get('case')}."
        return "The fee stands."

    def loans(self) -> str:
        """List what is borrowed."""
        loans = self.call("list_loans", card=self.card)
        told = [f"{loan.get('title')} is due on {loan.get('due')}." for loan in loans] or [
            "You have no loans."
        ]
        if any(loan.get("overdue") for loan in loans):
            fee = "fee" if self.keeps("penalty") else "penalty"
            told.append(f"The {fee} is 20 cents a day." if self.keeps("overdue") else f"There is a {fee}.")
        return " ".join(told)

    def member(self) -> str:
        """Say what is known about the member."""
        found = self.call("find_member", card=self.card)
        told = f"The card is {found.get('name')}'s, with open fees of {found.get('fee')} euros."
        return told if self.keeps("address") else f"{told} The address is {found.get('address')}."

    def hours(self) -> str:
        """Quote the lines of the documents that have most of the reader's words."""
        asked = set(re.findall(r"\w{5,}", self.said.lower()))
        lines = [line for text in self.config.context for line in text.text.splitlines()]
        scored = [(len(asked & set(re.findall(r"\w{5,}", line.lower()))), line) for line in lines]
        best = max(scored, default=(0, ""))
        source = " (Opening hours)" if self.keeps("document") else ""
        return f"{best[1]}{source}" if best[0] else "I do not know."


ERRANDS: Mapping[str, Callable[[Errand], str]] = {
    "renew": Errand.renew,
    "hold": Errand.hold,
    "dispute": Errand.dispute,
    "pay": Errand.pay,
    "loans": Errand.loans,
    "member": Errand.member,
    "hours": Errand.hours,
}
DESK = Desk(seed=1)


def run(config: AgentConfig, said: str) -> str:
    """Answer a reader."""
    return DESK.answer(config, said)


def _parameters(tool: ToolSpec) -> set[str]:
    known = tool.parameters.get("properties")
    return set(known) if isinstance(known, dict) else set()


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found.group(found.lastindex or 0) if found else ""

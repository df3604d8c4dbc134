"""A conversation with an ADK agent: turn by turn, in a session in memory; events for the user are answers."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from google.adk.agents.run_config import RunConfig
from google.adk.events import Event
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai.types import Content, Part
from pydantic import JsonValue

from agentmut._base import jsonable
from agentmut.adapters._shared.framework import EarlierMessage, Session
from agentmut.adapters.google_adk.toolsets import Toolsets

USER = "user"
ASKS = "adk_request_"
"""The names of calls begin with this by which ADK asks a user to confirm, to sign in or to tell something."""


@dataclass(eq=False)
class Conversation(Session):
    """A conversation, in a new session of ADK."""

    app: Callable[[], Awaitable[Any]]
    toolsets: Toolsets
    limit: int | None
    state: JsonValue
    ends: bool
    """Whether the agent is this conversation's alone, and is closed with it."""
    _sessions: InMemorySessionService = field(default_factory=InMemorySessionService)
    _runner: Any = None
    _earlier: Sequence[EarlierMessage] = ()
    _id: str | None = None

    def begin(self, earlier: Sequence[EarlierMessage]) -> None:
        """Start a new conversation after the earlier turns."""
        self._earlier, self._id = earlier, None

    async def ask(self, text: str, turn: int) -> JsonValue:
        """Run the agent on one turn and return its answer."""
        if self._runner is None:
            self._runner = Runner(app=await self.app(), session_service=self._sessions)
        limit = {} if self.limit is None else {"max_llm_calls": self.limit}
        asked = self._runner.run_async(
            user_id=USER,
            session_id=await self._session(),
            new_message=Content(role=USER, parts=[Part(text=text)]),
            run_config=RunConfig(**limit),
        )
        async with aclosing(asked) as events:
            seen = [event async for event in events]
        kinds = ([find(event) for event in seen] for find in (_waiting, _answer, _last_word))
        answers = (answer for found in kinds for answer in reversed(found) if answer is not None)
        return next(answers, "")

    async def close(self) -> None:
        """Close the agent's resources, unless other runs use the same agent."""
        if self.ends and self._runner is not None:
            await self._runner.close()
        await self.toolsets.close()

    async def _session(self) -> str:
        if self._id is None:
            state = dict(self.state) if isinstance(self.state, dict) else None
            session = await self._sessions.create_session(
                app_name=self._runner.app_name, user_id=USER, state=state
            )
            for said in self._earlier:
                await self._sessions.append_event(session, self._event(said))
            self._id = session.id
        return self._id

    def _event(self, message: EarlierMessage) -> Event:
        own = message.role == USER
        return Event(
            author=USER if own else self._runner.app.root_agent.name,
            content=Content(role=USER if own else "model", parts=[Part(text=message.text)]),
        )


def _answer(event: Any) -> JsonValue:
    """Return an event's answer to the user; None for internal events and empty ones."""
    if event.output is not None and not event.content:  # what a node of a graph gives
        return jsonable(event.output)
    if event.error_code and not event.content:
        return {"error_code": str(event.error_code), "error_message": event.error_message}
    if not event.is_final_response() or not event.content:
        return None
    said = [part.text for part in event.content.parts or () if part.text and not part.thought]
    return "".join(said) or None


def _last_word(event: Any) -> JsonValue:
    """Return the result of a tool that ended the turn; None for other events."""
    if not event.actions.skip_summarization:
        return None
    said = [jsonable(one.response) for one in event.get_function_responses()]
    return said[-1] if said else None


def _waiting(event: Any) -> JsonValue:
    """Return the question for which a run waits."""
    asked = [call for call in event.get_function_calls() if str(call.name).startswith(ASKS)]
    if not asked:
        return None
    about = (asked[0].args or {}).get("originalFunctionCall") or {}
    return {"waits_for": asked[0].name, "tool": about.get("name")}

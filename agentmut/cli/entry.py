"""The command line has one module per verb. Each verb imports what it needs when it runs."""

import atexit
import gc
import sys
import traceback
from collections.abc import Mapping
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from agentmut._base import (
    DISK_IS_FULL,
    REFUSALS_OF_THE_SYSTEM,
    AgentmutError,
    ExitCode,
    RunError,
    RunInterruptedError,
    error_location,
    fault_behind,
    limit_behind,
    nobody_asked_to_stop,
    supervisor,
)
from agentmut.cli.kept_sentences import kept_by, resumed_by
from agentmut.cli.masking import masked
from agentmut.cli.plain_options import plain_options, say_plainly
from agentmut.cli.streams import drop_output, keep_streams
from agentmut.cli.supervising import (
    UNSUPERVISED,
    ProcessEnd,
    supervised,
    wants_supervisor,
)

GROUPS = {
    "Start": ("init", "doctor"),
    "Measure": ("mutants", "plan", "run", "resume", "merge", "test", "relations", "coverage"),
    "Understand": ("show", "report", "trials", "suggest", "rescore", "replay", "export", "import", "analyze"),
    "Decide": ("gate", "baseline", "trend", "watch", "serve"),
    "Maintain": ("clean", "store", "simulate", "proxy", "schema"),
}
"""The verbs by what one wants to do, as `agentmut --help` shows them."""
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)
HELP_NAMES = {"help_option_names": ["-h", "--help"]}
OPTION_ERROR: Any = typer.BadParameter.__base__
"""What the option parser raises: typer brings its own, and gives no other public name to it."""
BY_CTRL_C = "ended by Ctrl-C."
ROOT_HELP = """If my agent silently got worse, would my tests notice?

agentmut breaks an LLM agent on purpose, and says which breakages its tests do not notice.

Example: agentmut init my_project"""


OTHER_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "survivors": "`agentmut report` lists the survivors, `agentmut show ID` explains one, and `agentmut suggest` "
        "proposes tests.",
        "compare": "Did you mean `agentmut baseline compare`, or `agentmut report --compare RUN`?",
        "save": "Did you mean `agentmut baseline save`?",
        "score": "`agentmut report` prints the score of the latest run.",
    }
)
"""Words that users take for verbs, with the command that does it."""


class LazyVerbs(TyperGroup):
    """Imports a verb's module when the verb is named, so that `--help` stays quick."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs, in the order of use."""
        return list(VERBS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs, group by group."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.get_command(ctx, name).short_help) for name in names])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that was typed. For an unknown one the error names verbs that are spelled like it."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            alike = get_close_matches(args[0], VERBS)
            hint = f" Did you mean {' or '.join(alike)}?" if alike else ""
            hint = f" {OTHER_WORDS[args[0]]}" if args[0] in OTHER_WORDS else hint
            ctx.fail(f"There is no verb {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def make_context(self, *given: Any, **named: Any) -> Any:
        """Parse the words. Ctrl-C meanwhile is told: typer would end with its code and print nothing."""
        try:
            return super().make_context(*given, **named)
        except KeyboardInterrupt:
            raise RunInterruptedError(f"{BY_CTRL_C} Nothing was run.") from None

    def invoke(self, ctx: Any) -> Any:
        """Run the verb. A connection that was lost is an error of its own: typer would end with exit code 1 for it."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ConnectionError(f"a connection or a pipe was lost: {error}") from error
        except KeyboardInterrupt as error:  # typer would end with its code and print nothing
            if ctx.invoked_subcommand in UNSUPERVISED:  # it ends a server
                raise
            if nobody_asked_to_stop():
                place = error_location(error)
                problem = f"code of yours, or of a plugin, raised KeyboardInterrupt ({place}). Take that out"
                raise RunError(f"{problem}; finished trials are kept.") from error
            raise RunInterruptedError(f"{BY_CTRL_C} {kept_by([ctx.invoked_subcommand])}") from None
        except SystemExit as error:  # no verb leaves by it, and its code would be taken for ours
            place = error_location(error)
            problem = (
                f"code of yours, or of a plugin, called sys.exit({error.code!r}) ({place}). Take that out"
            )
            raise RunError(f"{problem}; finished trials are kept.") from error

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import `agentmut.cli.<verb>` and build its command."""
        import importlib

        if cmd_name not in VERBS:
            return None
        verb = importlib.import_module(f"agentmut.cli.verbs.{cmd_name}_verb")
        verbs = getattr(verb, "app", None)  # of a verb with verbs of its own
        if verbs is None:
            verbs = typer.Typer(add_completion=False, rich_markup_mode=None)
            verbs.command(name=cmd_name, **getattr(verb, "SETTINGS", {}))(getattr(verb, cmd_name))
        command = plain_options(typer.main.get_command(verbs))
        command.context_settings = {**command.context_settings, **HELP_NAMES}
        command.short_help = (command.help or "").partition("\n\n")[0]  # as a whole: else it is cut to a line
        return command


app = typer.Typer(
    cls=LazyVerbs,
    help=ROOT_HELP,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help starts twice as fast
    pretty_exceptions_enable=False,
    context_settings=HELP_NAMES,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from agentmut._base import __version__

        typer.echo(f"agentmut {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False,
        "--version",
        is_eager=True,
        callback=_print_version,
        help="Print the version of agentmut, and do nothing else.",
    ),
) -> None:
    _ = version  # its callback has done the work


def main(arguments: list[str] | None = None) -> None:
    """Run the `agentmut` command: errors become one paragraph on stderr and an exit code.

    Without `arguments` they are those of the process, and verbs that run code of users run in a process of their own.
    """
    if arguments is None:
        keep_streams()
        atexit.register(gc.freeze)  # or Python's end looks through every object once more, for a second
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is not None or not wants_supervisor(words):
        _main(words)
        return
    try:
        ended = supervised(partial(_main, words), resumed_by(words), _say_on_stderr)
    except OSError as error:
        ended = ProcessEnd(
            ExitCode.BROKEN, f"no process could be started: {error.strerror}. Nothing was run."
        )
    except Exception:
        _bug(words)
    if ended.problem:
        _say_on_stderr(ended.problem)
        if not ended.printed:
            _say_json(ended.problem, int(ended.code), words)
    sys.exit(int(ended.code))


def _say_on_stderr(message: str) -> None:
    typer.echo(f"agentmut: {message}", err=True)


def _main(arguments: list[str]) -> None:
    """Run a verb in this process and exit with its code; every error becomes one paragraph and its exit code."""
    try:
        code = app(args=arguments, standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except OPTION_ERROR as error:
        say_plainly(error)
        error.show()
        _say_json(error.format_message(), error.exit_code, arguments)
        sys.exit(error.exit_code)
    except typer.Abort:
        # A no, or the end of the input, at a question. 1 would be evidence against the agent, and nothing was run.
        _exit("stopped at the question: nothing was run.", ExitCode.INTERRUPTED, arguments)
    except AgentmutError as error:
        _exit_by_users(limit_behind(error), arguments)
        _exit_by(error, arguments)
    except KeyboardInterrupt:
        _exit(f"{BY_CTRL_C} {kept_by(arguments)}", ExitCode.INTERRUPTED, arguments)
    except OSError as error:
        _exit_by_users(limit_behind(error), arguments)
        _exit_by_system_error(error, arguments)
    except SystemExit:
        raise
    except BaseException as error:  # exit code 1 means evidence against the agent, which a bug of ours is not
        _exit_by_users(fault_behind(error), arguments)
        _exit_by_plugin(error, arguments)
        _bug(arguments)


def _exit_by_system_error(error: OSError, arguments: list[str]) -> NoReturn:
    """Exit with the remedy for what the system refused; any error but a refusal or a full disk is a bug."""
    if remedy := REFUSALS_OF_THE_SYSTEM.get(error.errno or 0):
        where = f" ({error.filename})" if error.filename else ""
        why = f"the system refuses: {error.strerror}{where}. {remedy} Finished trials are kept."
        _exit_by(AgentmutError(why), arguments)
    if error.errno not in DISK_IS_FULL:
        _bug(arguments)
    message = f"{error.strerror}: the output could not be written whole. Finished trials are kept."
    _say_on_stderr(message)
    try:
        sys.stdout.flush()
        _say_json(message, int(ExitCode.BROKEN), arguments)
    except OSError:  # it is stdout that has no room
        drop_output()
    sys.exit(int(ExitCode.BROKEN))


def _exit_by_plugin(error: BaseException, arguments: list[str]) -> None:
    """Exit with the name of the plugin of another package whose code raised the error, if one did."""
    from agentmut.seams import described, plugin_at_fault

    if label := plugin_at_fault(error):
        why = f"{label} raised {described(error)}. Fix or uninstall that package; finished trials are kept."
        _exit_by(AgentmutError(why), arguments)


def _exit_by_users(fault: str, arguments: list[str]) -> None:
    """Exit with what code of users has done to this process, if anything; where there is a supervisor, it says so."""
    if not fault:
        return
    if line := supervisor():
        line.give_up(fault)
    problem = f"{fault} Set `execution: {{isolate: process}}`. Finished trials are kept."
    _exit_by(AgentmutError(problem), arguments)


def _bug(arguments: list[str]) -> NoReturn:
    """Print the traceback of the error that is being handled, for a report on it, and exit."""
    from agentmut.report import clean

    sys.stderr.write(clean(masked(traceback.format_exc(), arguments)))
    message = "this is a bug in agentmut; finished trials are kept. Please report it."
    _exit(message, ExitCode.BROKEN, arguments)


def _exit_by(error: AgentmutError, arguments: list[str]) -> NoReturn:
    """Exit with the error's code and its message, which is masked and made fit for a terminal."""
    from agentmut.report import clean

    _exit(clean(masked(str(error), arguments)), error.exit_code, arguments)


def _exit(message: str, code: ExitCode, arguments: list[str]) -> NoReturn:
    """Print one paragraph on stderr, with `--json` also one document on stdout, and exit."""
    _say_on_stderr(message)
    _say_json(message, int(code), arguments)
    sys.exit(int(code))


def _say_json(message: str, exit_code: int, arguments: list[str]) -> None:
    line = supervisor()
    if "--json" in arguments and not (line and line.document_begun):
        import json

        from agentmut.cli.output import JSON_VERSION, print_document

        refusal = {"schema_version": JSON_VERSION, "error": message, "exit_code": exit_code}
        print_document(json.dumps(refusal, ensure_ascii=False))

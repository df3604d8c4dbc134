"""`python -m agentmut`: runs the command line."""

import sys


def run() -> None:
    """Run the command line. Ctrl-C while it is still being loaded ends it with exit code 130 and no traceback."""
    try:
        from agentmut.cli import main
    except KeyboardInterrupt:
        _say_ended()
        sys.exit(130)
    main()


def _say_ended() -> None:
    """Print what the command line prints after Ctrl-C; it is not there yet."""
    said = "ended by Ctrl-C. Nothing was run."
    print(f"agentmut: {said}", file=sys.stderr)
    if "--json" in sys.argv:
        print(f'{{"schema_version": 1, "error": "{said}", "exit_code": 130}}')


if __name__ == "__main__":
    run()

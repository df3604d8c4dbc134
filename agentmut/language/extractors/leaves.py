"""Walk the plain values and the objects in JSON."""

from collections.abc import Iterator

from pydantic import JsonValue


def leaves(value: JsonValue, path: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Yield every plain value with its JSON pointer. A `*` in the pointer stands for any index of a list."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, f"{path}/{escaped(key)}")
    elif isinstance(value, list) and value:
        for item in value:
            yield from leaves(item, f"{path}/*")
    else:
        yield path, value


def objects(value: JsonValue, path: str = "") -> Iterator[tuple[str, JsonValue]]:
    """Yield every object that is an item of a list, with the pointer that `leaves` gives to its values."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from objects(item, f"{path}/{escaped(key)}")
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield f"{path}/*", item
            yield from objects(item, f"{path}/*")


def escaped(key: str) -> str:
    """Return a key as JSON pointers (RFC 6901) write it."""
    return key.replace("~", "~0").replace("/", "~1")

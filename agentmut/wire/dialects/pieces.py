"""How texts are streamed by the codecs: in pieces as services send them."""


def words(text: str) -> list[str]:
    """The pieces in which a text is streamed: each word with the blank before it."""
    pieces = text.split(" ")
    return [word if i == 0 else f" {word}" for i, word in enumerate(pieces)] if text else []


def halves(text: str) -> list[str]:
    """A text in two pieces, empty ones left out."""
    half = len(text) // 2
    return [piece for piece in (text[:half], text[half:]) if piece]

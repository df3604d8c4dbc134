"""A desk of a bicycle shop: one function that asks a model through the SDK of OpenAI, with the prompt in the code."""

from openai import OpenAI

RULES = """\
You are the desk of a bicycle shop.
- Begin every answer with "Good day!"
- If the customer asks for a repair, say "Repairs take 3 days."
- Never promise a discount.
"""


def answer(input: str) -> str:
    """Return the model's answer to a customer."""
    messages = [{"role": "system", "content": RULES}, {"role": "user", "content": input}]
    reply = OpenAI().chat.completions.create(model="gpt-5.2", messages=messages)  # type: ignore[arg-type]
    return reply.choices[0].message.content or ""

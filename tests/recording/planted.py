"""Planted secrets: made at random after the formats that services document, each in a text as an agent may say it."""

import base64
import json
import random
import string
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"
HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits


class Planted(NamedTuple):
    """A text, and the secret in it."""

    kind: str
    text: str
    secret: str


TOKENS = {
    "OpenAI project": ("sk-proj-", URL_SAFE, 156),
    "OpenAI service account": ("sk-svcacct-", URL_SAFE, 156),
    "OpenAI, older": ("sk-", ALNUM, 48),
    "Anthropic": ("sk-ant-api03-", URL_SAFE, 95),
    "Anthropic OAuth": ("sk-ant-oat01-", URL_SAFE, 95),
    "OpenRouter": ("sk-or-v1-", HEX, 64),
    "DeepSeek": ("sk-", HEX, 32),
    "ElevenLabs": ("sk_", HEX, 48),
    "Google API key": ("AIzaSy", URL_SAFE, 33),
    "Google OAuth": ("ya29.a0", URL_SAFE, 160),
    "Google client": ("GOCSPX-", URL_SAFE, 28),
    "Groq": ("gsk_", ALNUM, 52),
    "xAI": ("xai-", ALNUM, 80),
    "Hugging Face": ("hf_", string.ascii_letters, 34),
    "Replicate": ("r8_", ALNUM, 37),
    "Perplexity": ("pplx-", ALNUM, 48),
    "NVIDIA": ("nvapi-", URL_SAFE, 64),
    "Cerebras": ("csk-", LOWER, 48),
    "Tavily": ("tvly-dev-", ALNUM, 32),
    "Pinecone": ("pcsk_", ALNUM + "_", 69),
    "LangSmith": ("lsv2_pt_", HEX, 32),
    "GitHub classic": ("ghp_", ALNUM, 36),
    "GitHub OAuth": ("gho_", ALNUM, 36),
    "GitHub app": ("ghs_", ALNUM, 36),
    "GitHub fine-grained": ("github_pat_", ALNUM + "_", 82),
    "GitLab": ("glpat-", URL_SAFE, 20),
    "GitLab runner": ("glrt-", URL_SAFE, 20),
    "Atlassian": ("ATATT3xFfGF0", URL_SAFE, 171),
    "npm": ("npm_", ALNUM, 36),
    "PyPI": ("pypi-AgEIcHlwaS5vcmc", URL_SAFE, 150),
    "Docker": ("dckr_pat_", URL_SAFE, 27),
    "AWS key id": ("AKIA", string.ascii_uppercase + "234567", 16),
    "AWS session key id": ("ASIA", string.ascii_uppercase + "234567", 16),
    "DigitalOcean": ("dop_v1_", HEX, 64),
    "Databricks": ("dapi", HEX, 32),
    "Vault": ("hvs.", URL_SAFE, 95),
    "Grafana": ("glsa_", ALNUM, 32),
    "Supabase": ("sbp_", HEX, 40),
    "Slack bot": ("xoxb-263594206564-", ALNUM, 24),
    "Slack app": ("xapp-1-A0123-", LOWER, 64),
    "Twilio": ("SK", HEX, 32),
    "Mailgun": ("key-", HEX, 32),
    "Stripe live": ("sk_live_", ALNUM, 24),
    "Stripe restricted": ("rk_live_", ALNUM, 24),
    "Stripe webhook": ("whsec_", ALNUM, 32),
    "Shopify": ("shpat_", HEX, 32),
    "Linear": ("lin_api_", ALNUM, 40),
    "Notion": ("ntn_", ALNUM, 46),
    "Figma": ("figd_", URL_SAFE, 40),
    "New Relic": ("NRAK-", string.ascii_uppercase + string.digits, 27),
}
"""Service -> what its tokens begin with, the characters that follow, and how many."""

SAYINGS = (
    "The key is {}.", "Use `{}` for now", '{{"note": "{}"}}', "curl -H 'x: {}' https://example.org", "export X={}",
    "line one\\n{}\\nline three", "({})", "key={}&b=1",
)  # fmt: skip
NAMES_OF_PASSWORDS = (
    'password: "{}"', "password={}", '{{"password": "{}"}}', '{{\\"user\\": \\"a\\", \\"Password\\": \\"{}\\"}}',
    "DB_PASSWORD={}", "Your new password is {}.", "--passwd={}", "Server=db;Uid=a;Pwd={};", "SMTP_PASS={}", "pwd: '{}'",
)  # fmt: skip
NAMES_OF_KEYS = (
    "api_key = '{}'", '{{"apiKey":"{}"}}', "X-Api-Key: {}", "AWS_SECRET_ACCESS_KEY={}", "client_secret: {}",
    '{{"access_token": "{}", "expires_in": 3600}}', "auth-token={}", 'private_key: "{}"', "Your API key is {}",
    "AccountKey={};EndpointSuffix=core.windows.net",
)  # fmt: skip


def planted_secrets(seed: int = 20) -> list[Planted]:
    """Return 200 secrets of 60 kinds; the same for the same seed."""
    rng = random.Random(seed)
    found = [*_tokens(rng), *_structured(rng), *_named(rng)]
    return found + [_random(rng) for _ in range(200 - len(found))]


def _some(rng: random.Random, characters: str, count: int) -> str:
    """Return random characters, at least one of them a digit where digits are among them."""
    drawn = "".join(rng.choices(characters, k=count))
    digits = [c for c in characters if c.isdigit()]
    return drawn if not digits or any(map(str.isdigit, drawn)) else drawn[:-1] + rng.choice(digits)


def _tokens(rng: random.Random) -> list[Planted]:
    made = []
    for kind, (prefix, characters, count) in TOKENS.items():
        for _ in range(2):
            secret = (
                prefix
                + _some(rng, characters, count - 1)
                + rng.choice(characters.replace("-", "").replace("_", ""))
            )
            made.append(Planted(kind, rng.choice(SAYINGS).format(secret), secret))
    return made


def _structured(rng: random.Random) -> list[Planted]:
    def some(characters: str, count: int) -> str:
        return _some(rng, characters, count)

    made = []
    for scheme in ("postgres", "mysql", "mongodb+srv", "redis", "amqp", "https"):
        password = some(ALNUM + "!$@", 12) + "x"
        made.append(Planted("address", f"{scheme}://app:{password}@db.example.org:5432/shop", password))
    password = some(ALNUM, 14)
    made.append(Planted("address", f"redis://:{password}@cache:6379/0", password))
    for path in ("hooks.slack.com/services/T0123ABCD/B0123ABCD/", "discord.com/api/webhooks/1052943813/"):
        rest = some(ALNUM, 24)
        made.append(Planted("webhook", f"post to https://{path}{rest}", rest))
    for _ in range(3):
        parts = [
            base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=")
            for p in ({"alg": "HS256"}, {"sub": "1"})
        ]
        signature = some(URL_SAFE, 43)
        made.append(Planted("JWT", f'{{"t": "{".".join(parts)}.{signature}"}}', signature))
    for kind in ("RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY"):
        lines = [some(ALNUM + "+/", 64) for _ in range(6)]
        pem = "\n".join((f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"))
        made += [
            Planted("PEM", pem, lines[3]),
            Planted("PEM in JSON", json.dumps({"key_file": pem}), lines[5]),
        ]
    made.append(Planted("SendGrid", f"SG.{some(URL_SAFE, 22)}.{(rest := some(ALNUM, 43))}", rest))
    made.append(
        Planted("Discord bot", f"bot MTA{some(ALNUM, 23)}.{some(ALNUM, 6)}.{(rest := some(ALNUM, 38))}", rest)
    )
    made.append(Planted("Telegram", f"bot 1234567890:AA{(rest := some(ALNUM, 33))}", rest))
    made.append(Planted("Mailchimp", f"{(rest := some(HEX, 32))}-us21", rest))
    made.append(Planted("Azure client", f"the secret {some(ALNUM, 3)}8Q~{(rest := some(ALNUM, 34))}", rest))
    made.append(Planted("Bearer", f"Authorization: Bearer {(rest := some(ALNUM, 40))}", rest))
    made.append(
        Planted(
            "Basic",
            f'"authorization": "Basic {(rest := base64.b64encode(b"a:" + some(ALNUM, 9).encode()).decode())}"',
            rest,
        )
    )
    for name in ("sessionid", "JSESSIONID", "connect.sid"):
        value = some(ALNUM, 26)
        made.append(Planted("cookie", f"Cookie: theme=dark; {name}={value}; lang=en", value))
    made.append(Planted("cookie", f'{{"set-cookie": "sid={(rest := some(ALNUM, 20))}; HttpOnly"}}', rest))
    made.append(Planted("query", f"GET /v1/items?api_key={(rest := some(ALNUM, 12))}&page=2", rest))
    made.append(
        Planted("query", f"https://b.s3.amazonaws.com/f?X-Amz-Signature={(rest := some(HEX, 64))}", rest)
    )
    return made


def _named(rng: random.Random) -> list[Planted]:
    passwords = (_some(rng, ALNUM + "!%-_", rng.randint(8, 14)) for _ in NAMES_OF_PASSWORDS * 2)
    keys = (_some(rng, rng.choice((HEX, LOWER, ALNUM)), rng.choice((24, 32, 40))) for _ in NAMES_OF_KEYS * 2)
    made = [
        Planted("password", saying.format(p), p)
        for saying, p in zip(NAMES_OF_PASSWORDS * 2, passwords, strict=True)
    ]
    return made + [
        Planted("key", saying.format(k), k) for saying, k in zip(NAMES_OF_KEYS * 2, keys, strict=True)
    ]


def _random(rng: random.Random) -> Planted:
    secret = _some(rng, rng.choice((ALNUM, ALNUM, ALNUM + "+/")), rng.choice((32, 40, 43, 64)))
    return Planted("random string", rng.choice(SAYINGS[:6]).format(secret), secret)

"""A second list of secrets, after the documents of services and not after agentmut's forms, each in many places."""

import random
import string
from collections.abc import Iterator
from urllib.parse import quote

from tests.recording.planted import ALNUM, HEX, LOWER, URL_SAFE, Planted

UPPER = string.ascii_uppercase + string.digits
DIGITS = string.digits[1:]


def _uuid(rng: random.Random) -> str:
    drawn = _some(rng, HEX, 32)
    return "-".join((drawn[:8], drawn[8:12], drawn[12:16], drawn[16:20], drawn[20:]))


def _some(rng: random.Random, characters: str, count: int) -> str:
    """Return random characters that begin and end with a letter or a digit, at least one of them a digit."""
    while True:
        drawn = "".join(rng.choices(characters, k=count))
        if any(map(str.isdigit, drawn)) and drawn[0].isalnum() and drawn[-1].isalnum():
            return drawn


def tokens(rng: random.Random) -> dict[str, str]:
    """Return a token of each service."""

    def some(characters: str, count: int) -> str:
        return _some(rng, characters, count)

    return {
        "Asana": f"1/{some(DIGITS, 16)}:{some(HEX, 32)}",
        "Anthropic admin": f"sk-ant-admin01-{some(URL_SAFE, 93)}AA",
        "Buildkite": f"bkua_{some(HEX, 40)}",
        "CircleCI": f"CCIPAT_{some(ALNUM, 22)}_{some(HEX, 40)}",
        "Cloudflare": f"v1.0-{some(HEX, 24)}-{some(HEX, 146)}",
        "Dropbox": f"sl.B{some(URL_SAFE, 130)}",
        "Elastic": f"essu_{some(ALNUM, 60)}",
        "Flutterwave": f"FLWSECK-{some(HEX, 32)}-X",
        "Firecrawl": f"fc-{some(HEX, 32)}",
        "Fireworks": f"fw_{some(ALNUM, 24)}",
        "GitHub": f"github_pat_{some(ALNUM, 22)}_{some(ALNUM, 59)}",
        "GitLab, routable": f"glpat-{some(URL_SAFE, 27)}.01.{some(LOWER, 9)}",
        "Google refresh": f"1//0{some(DIGITS, 1)}{some(URL_SAFE, 90)}",
        "Grafana": f"glsa_{some(ALNUM, 32)}_{some(HEX, 8)}",
        "Groq": f"gsk_{some(ALNUM, 52)}",
        "Heroku": f"HRKU-AA{some(URL_SAFE, 58)}",
        "HubSpot": f"pat-na1-{_uuid(rng)}",
        "Jina": f"jina_{some(ALNUM, 60)}",
        "JFrog": f"AKCp8{some(ALNUM, 68)}",
        "Langfuse": f"sk-lf-{_uuid(rng)}",
        "Mapbox": f"sk.eyJ1Ijoi{some(ALNUM, 40)}.{some(URL_SAFE, 22)}",
        "Neon": f"napi_{some(LOWER, 64)}",
        "Notion": f"ntn_{some(DIGITS, 11)}{some(ALNUM, 35)}",
        "Okta": f"00{some(URL_SAFE, 40)}",
        "OpenAI": f"sk-proj-{some(URL_SAFE, 74)}T3BlbkFJ{some(URL_SAFE, 74)}",
        "Pinecone": f"pcsk_{some(ALNUM, 5)}_{some(ALNUM, 63)}",
        "Prefect": f"pnu_{some(LOWER, 36)}",
        "Pulumi": f"pul-{some(HEX, 40)}",
        "Razorpay": f"rzp_live_{some(ALNUM, 14)}",
        "ReadMe": f"rdme_{some(LOWER, 70)}",
        "RunPod": f"rpa_{some(UPPER, 40)}{some(LOWER, 6)}",
        "Shippo": f"shippo_live_{some(HEX, 40)}",
        "Slack": f"xoxb-{some(DIGITS, 12)}-{some(DIGITS, 13)}-{some(ALNUM, 24)}",
        "SonarQube": f"squ_{some(HEX, 40)}",
        "Telegram": f"{some(DIGITS, 10)}:AA{some(URL_SAFE, 33)}",
        "Terraform": f"{some(ALNUM, 14)}.atlasv1.{some(ALNUM, 67)}",
        "Vercel": f"vcp_{some(ALNUM, 56)}",
        "Voyage": f"pa-{some(URL_SAFE, 43)}",
        "xAI": f"xai-{some(ALNUM, 80)}",
    }


PLACES = (
    "{}", "The token is {}.", "`{}`", '{{"x": "{}"}}', "line\\n{}\\nnext", "a\t{}\tb", "<td>{}</td>", "[{}](https://x)",
    "'{}'", "x:{},", "({})", "Authorization: Bearer {}", "https://h.example/p?access_token={}&a=1", "curl -u {}: h",
    "**{}**", "=>{}", "\x1b[31m{}\x1b[0m", "\x1b[1;31m{}\x1b[0m", "\u200b{}\u200b", "|{}|", "\\u003c{}\\u003e",
    "next%3D{}%26a",
)  # fmt: skip
PASSWORDS = (
    "{{b'password': b'{}'}}",
    "password is {}", 'password = "{}"', "PGPASSWORD={} psql", "sshpass -p {} ssh h", "--password {}", "--password={}",
    "passphrase: {}", "the password was {}", "login: bob / password: {}", "user=bob&password={}", "Passwort: {}",
    "mot de passe : {}", "contraseña: {}", "<password>{}</password>", "password</td><td>{}</td>",
    '"name": "password", "value": "{}"', "name: DB_PASSWORD\n  value: {}", "password => {}", "password (temporary): {}",
    "temp password - {}", "| password | {} |", "set password for bob to {}", "IDENTIFIED BY '{}'",
    "machine x login y password {}", "Server=x;User ID=a;Password={};Encrypt=True", "jdbc:postgresql://db/x?password={}&a",
)  # fmt: skip
COOKIES = (
    "Cookie: sid={}; a=b", "Set-Cookie: session={}; Path=/", '"Cookie": "laravel_session={}"', '-b "PHPSESSID={}"',
    "cookies={{'sessionid': '{}'}}", 'curl --cookie "user_session={}"', "ASP.NET_SessionId={}", "_gh_sess={}",
    "connect.sid=s%3A{}", "li_at={}", "AWSALB={}",
)  # fmt: skip
ADDRESSES = (
    "https://h.example/back?state=1&code={}", "https://h.example/a?auth={}", "https%3A%2F%2Fbob%3A{}%40db.example",
    "https://{}@o1234.ingest.sentry.io/6232131", "https://hooks.slack.com/services/T01/B01/{}",
    "https://discord.com/api/webhooks/1052/{}", "https://x.webhook.office.com/webhookb2/a@b/IncomingWebhook/{}",
    "https://outlook.office.com/webhook/{}", "https://hooks.zapier.com/hooks/catch/12/{}",
    "https://chat.googleapis.com/v1/spaces/AAA/messages?key=abc&token={}", "https://maker.ifttt.com/trigger/x/with/key/{}",
    "https://open.feishu.cn/open-apis/bot/v2/hook/{}", "https://hook.eu1.make.com/{}",
    "https://events.pagerduty.com/integration/{}", "https://api.telegram.org/bot1234567890:AA{}/sendMessage",
    "https://x.blob.core.windows.net/c?sv=2020&sig={}%3D&se=2024",
)  # fmt: skip
SCHEMES = (
    "postgresql+asyncpg", "mysql+pymysql", "mongodb+srv", "rediss", "amqps", "ftp", "smtp", "clickhouse", "https",
)  # fmt: skip
KEYS = ("RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK")


def second_list(seed: int) -> Iterator[Planted]:
    """Yield secrets, each token in six of the places."""
    rng = random.Random(seed)
    for kind, token in tokens(rng).items():
        for place in rng.sample(PLACES, 6):
            yield Planted(f"{kind} in {place!r}", place.format(token), token)
    for shapes, characters, count in (
        (PASSWORDS, ALNUM + "!", 11),
        (COOKIES, ALNUM, 28),
        (ADDRESSES, ALNUM, 33),
    ):
        for shape in shapes:
            secret = _some(rng, characters, count)
            yield Planted(shape, shape.format(secret), secret)
    for scheme in SCHEMES:
        secret = _some(rng, ALNUM, 12)
        yield Planted(scheme, f"{scheme}://svc:{secret}@db.internal:5432/app?a=b", secret)
    yield from _keys(rng)


def _keys(rng: random.Random) -> Iterator[Planted]:
    for kind in KEYS:
        lines = [_some(rng, ALNUM + "+/", 64) for _ in range(5)]
        pem = "\n".join((f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"))
        yield Planted(f"{kind} behind an indent", pem.replace("\n", "\n    "), lines[3])
        yield Planted(f"{kind} quoted", pem.replace("\n", "\n> "), lines[3])
        yield Planted(f"{kind} in one line", pem.replace("\n", " "), lines[3])
        yield Planted(f"{kind} cut off", pem[:200], lines[1])
        yield Planted(f"{kind} in an address", quote(pem), quote(lines[3]))

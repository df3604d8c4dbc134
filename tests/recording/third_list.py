"""A third list of secrets: carriers (headers, encodings, dumps, divided lines) more than services, and odd services."""

import base64
import codecs
import json
import random
import string
import zlib
from collections.abc import Callable
from urllib.parse import quote

from tests.recording.planted import ALNUM, HEX, LOWER, URL_SAFE

UPPER = string.ascii_uppercase + string.digits
PHRASE = (
    "legal winner thank year wave sausage worth useful legal winner thank yellow",
    "letter advice cage absurd amount doctor acoustic avoid letter advice cage above",
    "scheme spot photo card baby mountain device kick cradle pact join borrow",
    "gravity machine north sort system female filter attitude volume fold club stay feature office ecology stable "
    "narrow fog",
)
"""Mnemonics of BIP-39's own test vectors."""


def some(rng: random.Random, characters: str, count: int) -> str:
    """Return random characters with a letter or digit at both ends and a digit inside."""
    while True:
        drawn = "".join(rng.choices(characters, k=count))
        if any(map(str.isdigit, drawn)) and drawn[0].isalnum() and drawn[-1].isalnum():
            return drawn


def b64(text: str) -> str:
    """Return base64 of a text."""
    return base64.b64encode(text.encode()).decode()


def url64(text: str) -> str:
    """Return base64 for addresses, without the sign at the end."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


SERVICES: dict[str, Callable[[random.Random], str]] = {
    "Adafruit": lambda r: f"aio_{some(r, ALNUM, 28)}",
    "Airtable": lambda r: f"pat{some(r, ALNUM, 14)}.{some(r, HEX, 64)}",
    "Algolia admin in its header": lambda r: f"X-Algolia-API-Key: {some(r, HEX, 32)}",
    "Alibaba secret": lambda r: f"AccessKeySecret={some(r, ALNUM, 30)}",
    "Artifactory reference": lambda r: f"cmVmdGtuOjAx{some(r, ALNUM, 52)}",
    "AWS bedrock key": lambda r: f"ABSK{b64('BedrockAPIKey-x:' + some(r, ALNUM, 60)).rstrip('=')}",
    "Azure DevOps": lambda r: some(r, LOWER, 76) + "AZDO" + some(r, ALNUM, 4),
    "Azure OpenAI": lambda r: f"api-key: {some(r, HEX, 32)}",
    "Azure Cognitive, new": lambda r: some(r, ALNUM, 52) + "JQQJ99" + some(r, ALNUM, 26),
    "Azure storage": lambda r: f"AccountKey={b64(some(r, ALNUM, 64))}",
    "Azure SAS": lambda r: f"SharedAccessSignature sr=x&sig={quote(b64(some(r, ALNUM, 32)))}&se=17",
    "Beamer": lambda r: f"b_{some(r, ALNUM, 44)}",
    "Browserbase": lambda r: f"bb_live_{some(r, ALNUM, 26)}",
    "Civo": lambda r: f"CIVO_TOKEN={some(r, ALNUM, 50)}",
    "Clerk": lambda r: f"sk_live_{some(r, ALNUM, 42)}",
    "Clickhouse cloud": lambda r: f"4b1d{some(r, ALNUM, 38)}",
    "Cohere": lambda r: f"COHERE_API_KEY={some(r, ALNUM, 40)}",
    "Coinbase key name": lambda r:
        f'"privateKey": "-----BEGIN EC PRIVATE KEY-----\\n{some(r, ALNUM, 64)}\\n-----END EC '
    f'PRIVATE KEY-----\\n"',
    "Composio": lambda r: f"ak_{some(r, ALNUM, 20)}",
    "Contentful": lambda r: f"CFPAT-{some(r, URL_SAFE, 43)}",
    "Confluent": lambda r: f"cflt{some(r, ALNUM, 60)}",
    "Convex": lambda r: f"prod:happy-otter-123|{b64(some(r, ALNUM, 60))}",
    "Cursor": lambda r: f"key_{some(r, HEX, 64)}",
    "Daytona": lambda r: f"dtn_{some(r, HEX, 64)}",
    "Deepgram": lambda r: f"Authorization: Token {some(r, HEX, 40)}",
    "Dynatrace": lambda r: f"dt0c01.{some(r, UPPER, 24)}.{some(r, UPPER, 64)}",
    "E2B": lambda r: f"e2b_{some(r, HEX, 40)}",
    "Exa": lambda r:
        f"EXA_API_KEY: {some(r, HEX, 8)}-{some(r, HEX, 4)}-{some(r, HEX, 4)}-{some(r, HEX, 4)}-{some(r, HEX, 12)}",
    "EasyPost": lambda r: f"EZAK{some(r, ALNUM, 54)}",
    "Expo": lambda r: f"EXPO_TOKEN={some(r, ALNUM, 40)}",
    "Fastly": lambda r: f"Fastly-Key: {some(r, ALNUM, 32)}",
    "Frame.io": lambda r: f"fio-u-{some(r, URL_SAFE, 64)}",
    "Gitea": lambda r: f"Authorization: token {some(r, HEX, 40)}",
    "Google service account": lambda r: f'{{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\\n'
    f'{some(r, ALNUM, 64)}\\n-----END PRIVATE KEY-----\\n"}}',
    "Infracost": lambda r: f"ico-{some(r, ALNUM, 32)}",
    "Intra42": lambda r: f"s-s4t2ud-{some(r, HEX, 64)}",
    "Langfuse secret": lambda r:
        f"sk-lf-{some(r, HEX, 8)}-{some(r, HEX, 4)}-{some(r, HEX, 4)}-{some(r, HEX, 4)}-{some(r, HEX, 12)}",
    "LaunchDarkly": lambda r:
        f"sdk-{some(r, HEX, 8)}-{some(r, HEX, 4)}-{some(r, HEX, 4)}-{some(r, HEX, 4)}-{some(r, HEX, 12)}",
    "Llama cloud": lambda r: f"llx-{some(r, ALNUM, 48)}",
    "Llama API": lambda r: f"LLM|{some(r, string.digits, 15)}|{some(r, URL_SAFE, 27)}",
    "Logfire": lambda r: f"pylf_v1_us_{some(r, ALNUM, 43)}",
    "Lob": lambda r: f"live_{some(r, HEX, 35)}",
    "Mailersend": lambda r: f"mlsn.{some(r, HEX, 64)}",
    "MaxMind": lambda r: f"{some(r, ALNUM, 6)}_{some(r, ALNUM, 29)}_mmk",
    "Meraki": lambda r: f"X-Cisco-Meraki-API-Key: {some(r, HEX, 40)}",
    "Mistral": lambda r: f"MISTRAL_API_KEY={some(r, ALNUM, 32)}",
    "Modal": lambda r: f"as-{some(r, ALNUM, 22)}",
    "Netlify": lambda r: f"nfp_{some(r, ALNUM, 36)}",
    "Ngrok": lambda r: f"ngrok config add-authtoken {some(r, ALNUM, 27)}_{some(r, ALNUM, 21)}",
    "Notion, older": lambda r: f"secret_{some(r, ALNUM, 43)}",
    "Nylas": lambda r: f"nyk_v0_{some(r, ALNUM, 64)}",
    "OpenShift": lambda r: f"sha256~{some(r, URL_SAFE, 43)}",
    "Pagerduty": lambda r: f"Authorization: Token token={some(r, ALNUM, 20)}",
    "Pinecone, older": lambda r:
        f"Api-Key: {some(r, HEX, 8)}-{some(r, HEX, 4)}-{some(r, HEX, 4)}-{some(r, HEX, 4)}-{some(r, HEX, 12)}",
    "PlanetScale": lambda r: f"pscale_pw_{some(r, URL_SAFE, 43)}",
    "PostHog": lambda r: f"phx_{some(r, ALNUM, 43)}",
    "Polar": lambda r: f"polar_oat_{some(r, ALNUM, 43)}",
    "Portkey": lambda r: f"pk-live-{some(r, ALNUM, 32)}",
    "Qdrant": lambda r: f"QDRANT_API_KEY={some(r, URL_SAFE, 40)}",
    "Railway": lambda r:
        f"RAILWAY_TOKEN={some(r, HEX, 8)}-{some(r, HEX, 4)}-{some(r, HEX, 4)}-{some(r, HEX, 4)}-{some(r, HEX, 12)}",
    "RapidAPI": lambda r:
        f"X-RapidAPI-Key: {some(r, HEX, 10)}msh{some(r, HEX, 15)}p1{some(r, HEX, 6)}jsn{some(r, HEX, 12)}",
    "Render": lambda r: f"rnd_{some(r, ALNUM, 28)}",
    "Resend": lambda r: f"re_{some(r, ALNUM, 8)}_{some(r, ALNUM, 24)}",
    "Scalingo": lambda r: f"tk-us-{some(r, URL_SAFE, 48)}",
    "Sendinblue": lambda r: f"xkeysib-{some(r, HEX, 64)}-{some(r, ALNUM, 16)}",
    "Sentry DSN, older": lambda r: f"https://{some(r, HEX, 32)}:{some(r, HEX, 32)}@sentry.io/1234",
    "Sourcegraph": lambda r: f"sgp_{some(r, HEX, 40)}",
    "Stripe webhook": lambda r: f"whsec_{b64(some(r, ALNUM, 24))}",
    "Supabase service key": lambda r: f"sb_secret_{some(r, URL_SAFE, 31)}",
    "Tailscale": lambda r: f"tskey-auth-{some(r, ALNUM, 12)}CNTRL-{some(r, ALNUM, 32)}",
    "Tencent": lambda r: f"AKID{some(r, ALNUM, 32)}",
    "Twitch": lambda r: f"oauth:{some(r, LOWER, 30)}",
    "Typeform": lambda r: f"tfp_{some(r, ALNUM, 44)}_{some(r, ALNUM, 14)}",
    "Vercel blob": lambda r: f"vercel_blob_rw_{some(r, ALNUM, 16)}_{some(r, ALNUM, 30)}",
    "Unkey": lambda r: f"unkey_{some(r, ALNUM, 24)}",
    "Upstash": lambda r: f"UPSTASH_REDIS_REST_TOKEN=\"{some(r, ALNUM, 50)}\"",
    "Yandex": lambda r: f"AQVN{some(r, URL_SAFE, 36)}",
    "Zapier MCP": lambda r: f"https://mcp.zapier.com/api/mcp/s/{url64(some(r, ALNUM, 36))}/mcp",
    "Zhipu": lambda r: f"{some(r, HEX, 32)}.{some(r, ALNUM, 16)}",
    "Slack workflow": lambda r: f"https://hooks.slack.com/triggers/T01/123/{some(r, HEX, 32)}",
    "Teams, new": lambda r:
        f"https://prod-1.westeurope.logic.azure.com/workflows/x/triggers/manual/paths/invoke?sp=%2F&sv=1.0&sig="
    f"{some(r, URL_SAFE, 43)}",
    "Discord webhook": lambda r: f"https://ptb.discord.com/api/v10/webhooks/105294381300/{some(r, URL_SAFE, 68)}",
    "Google Chat webhook": lambda r:
        f"https://chat.googleapis.com/v1/spaces/A/messages?key=A&token={some(r, URL_SAFE, 43)}",
    "Calendar address": lambda r:
        f"https://calendar.google.com/calendar/ical/a%40b.c/private-{some(r, HEX, 32)}/basic.ics",
    "TOTP seed": lambda r:
        f"otpauth://totp/Shop:ann?secret={some(r, string.ascii_uppercase + '234567', 32)}&issuer=Shop",
    "WireGuard": lambda r:
        f"[Interface]\nPrivateKey = {base64.b64encode(r.randbytes(32)).decode()}\nAddress = 10.0.0.2/32",
    "WireGuard preshared": lambda r: f"PresharedKey = {base64.b64encode(r.randbytes(32)).decode()}",
    "htpasswd": lambda r: f"ann:$apr1${some(r, ALNUM, 8)}${some(r, ALNUM, 22)}",
    "bcrypt": lambda r: f"$2b$12${some(r, ALNUM, 53)}",
    "shadow": lambda r: f"ann:$6${some(r, ALNUM, 16)}${some(r, ALNUM + './', 86)}:19000:0:99999:7:::",
    "argon2": lambda r: f"$argon2id$v=19$m=65536,t=3,p=4${some(r, ALNUM, 22)}${some(r, ALNUM, 43)}",
    "Django": lambda r: f"SECRET_KEY = 'django-insecure-{some(r, ALNUM + '!@#$%^&*', 50)}'",
    "Rails": lambda r: f"secret_key_base: {some(r, HEX, 128)}",
    "Kubernetes secret": lambda r: f"kind: Secret\ndata:\n  password: {b64(some(r, ALNUM, 14))}",
    "Kubernetes secret, odd name": lambda r:
        f"kind: Secret\ntype: Opaque\ndata:\n  db-login: {b64(some(r, ALNUM, 14))}",
    "kubeconfig": lambda r: f"client-key-data: {b64('-----BEGIN RSA PRIVATE KEY-----' + some(r, ALNUM, 90))}",
    "Ethereum key": lambda r: f"private key 0x{some(r, HEX, 64)}",
    "Bitcoin WIF": lambda r: f"5K{some(r, ALNUM, 49)}",
    "xprv": lambda r: f"xprv9{some(r, ALNUM, 106)}",
    "PuTTY": lambda r:
        f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{some(r, ALNUM, 64)}\nPrivate-MAC: {some(r, HEX, 64)}",
    "JWK": lambda r: json.dumps({"kty": "EC", "crv": "P-256", "x": some(r, URL_SAFE, 43),
    "d": some(r, URL_SAFE, 43)}),
    "PASETO": lambda r: f"v4.local.{some(r, URL_SAFE, 120)}",
    "Fernet": lambda r: f"FERNET_KEY={base64.urlsafe_b64encode(r.randbytes(32)).decode()}",
    "Fernet token": lambda r: f"gAAAAAB{some(r, URL_SAFE, 93)}",
}  # fmt: skip
"""Service or kind -> a text with a secret in it."""


PASSWORDS = (
    "db.example.org:5432:shop:app:{}", "//registry.example.org/:_authToken={}",
    "[pypi]\nusername = __token__\npassword = {}",
    "psql 'host=db user=app password={} dbname=shop'", "variable \"db_password\" {{\n  default = \"{}\"\n}}",
    "helm upgrade shop ./chart --set auth.password={}", "CONFIG SET requirepass {}", "requirepass {}",
    "mysql -u root -p{} shop", "ALTER USER app WITH PASSWORD '{}'", "create role app login password '{}'",
    "bindpw: {}", "bind_pw = {}", "psk=\"{}\"", "wpa_passphrase={}", "echo '{}' | sudo -S apt update",
    "htpasswd -b users.txt ann {}", "openssl rsa -in k.pem -passin pass:{}", "zip -P {} a.zip a", "unzip -P {} a.zip",
    "gpg --batch --passphrase {} -d a.gpg", "curl -u ann:{} https://api.example.org",
    "curl --user 'ann:{}' https://x.example",
    "curl --proxy-user ann:{} https://x.example", "wget --http-password={} https://x.example",
    "http_proxy=http://ann:{}@proxy:3128",
    "a1 LOGIN ann {}", "331 Password required\nPASS {}",
    "sasl.jaas.config=X required username=\"a\" password=\"{}\";",
    "spring.datasource.password={}", "smtp_pass = {}", "Config(user='ann', password='{}', port=5)",
    "Login{{User:\"ann\", Password:\"{}\"}}",
    "密码: {}", "пароль: {}", "パスワード: {}", "senha: {}", "wachtwoord: {}", "hasło: {}", "lösenord: {}",
    "비밀번호: {}", "şifre: {}",
    "credentials: ann:{}", "login ann with password {}", "the password for ann: {}", "log in as ann / password {}",
    "pw: {}", "PW={}", "pass: {}", "user: ann, pass: {}", "sqlplus app/{}@shop",
    "jdbc:oracle:thin:app/{}@db:1521:shop",
    "net use x: \\\\srv\\s /user:ann {}", "rpcclient -U ann%{} srv", "smbclient //srv/s -U ann%{}",
    "ldapsearch -x -D cn=a -w {} -b dc=x",
    "sshpass -e ssh h # SSHPASS={}", "ansible_become_pass: {}", "ansible_ssh_pass={}",
    "vault write auth/userpass/login/ann password={}",
    "kubectl create secret generic db --from-literal=login={}", "docker login -u ann -p {} ghcr.io",
    "docker run -e DB_PASS={} shop",
    "az login --service-principal -u x -p {} --tenant y", "xfreerdp /u:ann /p:{} /v:srv",
    "mongosh --username ann -p {}",
    "redis-cli -a {} ping", "git clone https://ann:{}@git.example.org/x.git", "AUTH {}\r\n+OK",
    "PGPASSFILE=x PGPASSWORD='{}' psql",
    "<add key=\"Password\" value=\"{}\"/>", "<user name=\"ann\" password=\"{}\"/>",
    "<Password><![CDATA[{}]]></Password>",
    '{{"name": "db_password", "default": "{}"}}', '{{"key": "DB_PASSWORD", "value": "{}"}}',
    "('password', '{}')", "[\"password\", \"{}\"]",
    "- name: password\n  in: header\n  value: '{}'", "password\n{}", "Password:\n\n    {}", "password: >-\n  {}",
    "password: |\n  {}",
    "declare -x DB_PASSWORD=\"{}\"", "set -gx DB_PASSWORD {}", "$env:DB_PASSWORD = '{}'", "setx DB_PASSWORD {}",
    "ENV DB_PASSWORD {}",
    "E   AssertionError: assert '{}' == 'x' # password", "    password = '{}'\n    user = 'ann'", "password → {}",
    "**Password:** `{}`",
    "username,password\nann,{}", "user | password\nann | {}", "user\tpassword\nann\t{}",
    "Your one-time password is: {}",
    "with password \"{}\" you can log in", "use {} as the password", "{} is the password", "her password, {}, works",
)  # fmt: skip
"""Where passwords stand: files of tools, commands, statements, other languages, tables, dumps, sentences."""
KEYS = (
    "X-Auth-Token: {}", "X-Vault-Token: {}", "PRIVATE-TOKEN: {}", "X-Amz-Security-Token: {}", "x-goog-api-key: {}",
    "Ocp-Apim-Subscription-Key: {}", "apikey: {}", "Proxy-Authorization: Bearer {}", "authorization: token {}",
    '{{"name": "Authorization", "value": "Bearer {}"}}', '[["authorization", "{}"]]',
    "(b'authorization', b'Bearer {}')",
    "-H 'Authorization: {}'", "headers={{'X-Token': '{}'}}", "OPENAI_KEY={}", "STRIPE_SK={}",
    "aws_secret_access_key = {}",
    "aws configure set aws_secret_access_key {}", "secret_key_base: {}", "client-secret={}", "clientSecret: '{}',",
    "hmac_key: {}", "signingKey={}", "jwt_secret: {}", "JWT_SIGNING: {}", "encryption-key: {}",
    "consumerSecret = \"{}\"", "ACCESS={}",
    "integration key {}", "api key {}", "Api key → {}", "the token for the build is {}", "token={}",
    "?access_key={}&a=b", "#access_token={}&state=1",
    "/login?ticket=ST-1-{}", "/reset-password/{}", "/verify?t={}", "/invite/{}", "sessionToken: {}", "sid={}",
    "SESSION: {}", "csrf={}",
    "DATADOG_API: {}", "DD_APP_KEY={}", "bot_token: {}", "_authToken: {}", "pat: {}", "GH_PAT={}", "license: {}",
    "nonce: {}", "salt: {}",
    "webhook_secret: \"{}\"", "shared secret: {}", "pre-shared key {}", "recovery code: {}", "backup codes: {}",
    "seed: {}", "mnemonic: {}",
    "refresh: {}", "RefreshToken = {}", "id_token={}", "oauth_token_secret=\"{}\"", "oauth_signature=\"{}\"",
    "api_secret => {}",
    "Set-Cookie: auth={}; Secure", "cookie jar: .example.org TRUE / TRUE 0 auth {}", "document.cookie = 'auth={}'",
)  # fmt: skip
"""Where keys of letters and digits stand."""
GITHUB = "ghp_"
CARRIERS: dict[str, Callable[[str], str]] = {
    "base64 of JSON": lambda s: b64(json.dumps({"user": "ann", "password": s})),
    "base64 of JSON for addresses": lambda s: url64(json.dumps({"user": "ann", "password": s})),
    "base64 of variables": lambda s: b64(f"USER=ann\nDB_PASSWORD={s}\n"),
    "base64 of an address": lambda s: b64(f"postgres://app:{s}@db/shop"),
    "base64 of a header": lambda s: b64(f"Authorization: Bearer {s}{s}"),
    "base64 of JSON behind a name": lambda s: json.dumps({"config": b64(json.dumps({"api_key": s + "a1" * 8}))}),
    "base64 in lines": lambda s:
        base64.encodebytes(json.dumps({"user": "ann" * 20, "password": s}).encode()).decode(),
    "base64 in a data address": lambda s: f"data:application/json;base64,{b64(json.dumps({'password': s}))}",
    "base64 of a token in an address": lambda s:
        f"https://x.example/?state={url64(json.dumps({'token': GITHUB + s * 3}))}",
    "base64 of a cookie": lambda s: b64(f"Cookie: sessionid={s}{s}"),
    "base64 of base64": lambda s: b64(b64(json.dumps({"password": s}))),
    "SMTP AUTH PLAIN": lambda s: f"AUTH PLAIN {b64(chr(0) + 'ann' + chr(0) + s)}",
    "hex of JSON": lambda s: json.dumps({"password": s}).encode().hex(),
    "hex of a token": lambda s: (GITHUB + s * 3).encode().hex(),
    "hex with signs": lambda s: json.dumps({"password": s}).encode().hex(":"),
    "hex in Python": lambda s: "".join(f"\\x{c:02x}" for c in f"password={s}".encode()),
    "an address of JSON": lambda s: quote(json.dumps({"password": s})),
    "an address of a form": lambda s: quote(f"user=ann&password={s}", safe=""),
    "an address of an address of a form": lambda s: quote(quote(f"user=ann&password={s}", safe=""), safe=""),
    "every character for an address": lambda s: "".join(f"%{ord(c):02X}" for c in f"password={s}"),
    "unicode escapes": lambda s: "".join(f"\\u{ord(c):04x}" for c in f"password={s}"),
    "a token in unicode escapes": lambda s: "".join(f"\\u{ord(c):04x}" for c in GITHUB + s * 3),
    "entities": lambda s: "".join(f"&#{ord(c)};" for c in GITHUB + s * 3),
    "entities of JSON": lambda s: json.dumps({"password": s}).replace('"', "&quot;"),
    "entities of JSON by number": lambda s: json.dumps({"password": s}).replace('"', "&#34;"),
    "quoted-printable": lambda s: codecs.encode(f"password=3D{s}", "ascii").decode(),
    "JSON in JSON in JSON": lambda s: json.dumps(json.dumps(json.dumps({"password": s}))),
    "JSON in JSON in an address": lambda s: quote(json.dumps({"a": json.dumps({"password": s})})),
    "Python within JSON": lambda s: json.dumps(repr({"password": s})),
    "Python's bytes": lambda s: repr(json.dumps({"password": s}).encode()),
    "escaped slashes": lambda s: json.dumps({"u": f"postgres://app:{s}@db/shop"}).replace("/", "\\/"),
    "a token over two lines": lambda s: f"the key: {GITHUB}{s[:9]}\n{s[9:]}{s}{s}",
    "a token over two lines of JSON": lambda s: json.dumps(f"{GITHUB}{s}{s[:6]}\n{s[6:]}{s}"),
    "a token over two indented lines": lambda s: f"    {GITHUB}{s}{s[:6]}\n    {s[6:]}{s}",
    "a key over two lines": lambda s: f"api_key: {s}\\\n{s[::-1]}",
    "a random string over two lines": lambda s: f"{s}{s[::-1]}\n{s[3:]}{s[:3]}",
    "two strings joined in Python": lambda s: f"key = '{GITHUB}{s}' '{s[::-1]}{s}'",
    "two strings joined by a sign": lambda s: f"key = '{GITHUB}{s}' + '{s[::-1]}{s}'",
    "a password joined by a sign": lambda s: f"password = '{s[:6]}' + '{s[6:]}'",
    "two messages": lambda s:
        json.dumps([{"content": f"first half: {GITHUB}{s}"}, {"content": f"second: {s[::-1]}{s}"}]),
    "a zero-width space": lambda s: f"{GITHUB}{s}\u200b{s[::-1]}{s}",
    "a soft hyphen": lambda s: f"{GITHUB}{s}\u00ad{s[::-1]}{s}",
    "a colour within": lambda s: f"\x1b[1mpassword\x1b[0m: \x1b[32m{s}\x1b[0m",
    "a colour in JSON": lambda s: json.dumps(f"\x1b[1mpassword\x1b[0m=\x1b[32m{s}\x1b[0m"),
    "full-width signs": lambda s: f"password：{s}",
    "a non-breaking space": lambda s: f"password:\u00a0{s}",
    "UTF-16 seen as Latin": lambda s: "\x00".join(f"password={s}"),
    "a unified diff": lambda s: f"@@ -1 +1 @@\n-password: x\n+password: {s}\n",
    "a coloured diff": lambda s: f"\x1b[31m-DB_PASSWORD=old\x1b[m\n\x1b[32m+DB_PASSWORD={s}\x1b[m",
    "numbered lines": lambda s: f"  12\tpassword:\n  13\t  {s}\n",
    "grep's lines": lambda s: f"config.yaml:12:password: {s}",
    "a stack's variables": lambda s: f"    self = <Client>\n    password = '{s}'\n>   raise X\n",
    "logfmt": lambda s: f'level=info user=ann pass={s} msg="logged in"',
    "URL-encoded body in JSON": lambda s: json.dumps({"body": f"grant_type=password&username=a&password={s}"}),
    "multipart": lambda s: f'Content-Disposition: form-data; name="password"\r\n\r\n{s}\r\n--x',
    "multipart in JSON": lambda s: json.dumps(f'Content-Disposition: form-data; name="password"\r\n\r\n{s}\r\n--x'),
    "SOAP": lambda s: f'<wsse:Password Type="x#PasswordText">{s}</wsse:Password>',
    "plist": lambda s: f"<key>password</key>\n<string>{s}</string>",
    "TOML": lambda s: f'[db]\npassword = """{s}"""',
    "YAML flow": lambda s: f"{{user: ann, password: {s}, port: 5}}",
    "YAML anchor": lambda s: f"password: &pw {s}",
    "YAML tag": lambda s: f"password: !!str {s}",
    "a Ruby hash": lambda s: f":password => '{s}', :user => 'ann'",
    "PHP": lambda s: f"define('DB_PASSWORD', '{s}');",
    "PHP serialized": lambda s: f's:8:"password";s:{len(s)}:"{s}";',
    "Perl": lambda s: f"$password = q({s});",
    "C": lambda s: f'#define PASSWORD "{s}"',
    "Java": lambda s: f'DriverManager.getConnection(url, "app", "{s}"); // password',
    "Java setter": lambda s: f'config.setPassword("{s}");',
    "Python keyword of bytes": lambda s: f"connect(password=b'{s}')",
    "Python setter": lambda s: f"os.environ['DB_PASSWORD'] = '{s}'",
    "Python getenv's default": lambda s: f"os.getenv('DB_PASSWORD', '{s}')",
    "JavaScript template": lambda s: f"const password = `{s}`",
    "SQL row": lambda s: f"INSERT INTO users (name, password) VALUES ('ann', '{s}');",
    "GraphQL": lambda s: f'mutation {{ login(user: "ann", password: "{s}") }}',
    "a GraphQL variable in JSON": lambda s: json.dumps({"query": f'{{login(password: "{s}")}}'}),
    "proto text": lambda s: f'user: "ann" password: "{s}"',
    "Lua": lambda s: f"password = [[{s}]]",
    "an S-expression": lambda s: f'(password . "{s}")',
    "compressed": lambda s: base64.b64encode(zlib.compress(json.dumps({"password": s}).encode())).decode(),
    "reversed": lambda s: f"{(GITHUB + s * 3)[::-1]}",
    "rot13": lambda s: codecs.encode(f"password={s}", "rot13"),
}  # fmt: skip
"""What carries a secret of twelve characters."""


DRAWN: dict[str, Callable[[random.Random], str]] = {
    "password": lambda rng: some(rng, ALNUM + "!", 11),
    "key": lambda rng: some(rng, ALNUM, 24),
    "hex": lambda rng: some(rng, HEX, 32),
}


def third_list() -> dict[str, Callable[[random.Random], str]]:
    """Return what makes a text with a secret, by its kind."""
    made = dict(SERVICES)
    for shapes, kinds in ((PASSWORDS, ("password",)), (KEYS, ("key", "hex"))):
        made |= {f"{kind}: {shape}": _placed(shape.format, DRAWN[kind]) for kind in kinds for shape in shapes}
    made |= {name: _placed(carry, lambda rng: some(rng, ALNUM, 12)) for name, carry in CARRIERS.items()}
    return made


def _placed(
    place: Callable[[str], str], draw: Callable[[random.Random], str]
) -> Callable[[random.Random], str]:
    return lambda rng: place(draw(rng))


NOT_FOUND = {
    "a random string over two lines": "either half could be an id, and no service is known by them",
    "two messages": "either half could be an id",
    "rot13": "any text may be turned by any number of letters",
    "Java": "the name stands behind the value, in a comment",
    "SQL row": "names and values stand in two lists",
    "password: E   AssertionError: assert '{}' == 'x' # password": "the name stands behind the value, in a comment",
    "key: ACCESS={}": "a name that tells nothing, and fewer than 30 characters",
    "hex: ACCESS={}": "a name that tells nothing, and digits as those of a digest",
    "key: cookie jar: .example.org TRUE / TRUE 0 auth {}": "a name that tells nothing, and fewer than 30 characters",
    "hex: cookie jar: .example.org TRUE / TRUE 0 auth {}": "a name that tells nothing, and digits as those of a digest",
}
"""What is left, and why: SECURITY.md says so."""
CHARACTERS = (" ".join(f"{GITHUB}1a2B3c4D5e6F7g8H9i0J1k2L3m4N"), json.dumps(list("password=Tr0ub4dor3x")))
"""A secret of which each character stands alone is left, too."""
SOMETIMES_FOUND = {"reversed", "compressed"}
"""Random strings as a whole, if chance makes them look so."""

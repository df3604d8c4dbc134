"""Secrets recognised by their form: tokens of services, PEM keys, webhooks, passwords in addresses."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

BEGINS = (
    r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\[\dm)|(?<=[\[;]\d\dm)|(?<=;\dm))"
)
"""Where a token may begin: also behind an escaped line break, as what is searched may be JSON, or JSON within JSON;
behind an escape of an address (`%3D`), and behind a colour of a terminal (`[31m`)."""
_BEGINNING = re.compile(BEGINS)
_ENDS = r"(?![A-Za-z0-9])"


def always(found: re.Match[str]) -> bool:
    """Return True: every match of the pattern is a secret."""
    return True


def _begins_a_token(found: re.Match[str]) -> bool:
    return _BEGINNING.match(found.string, found.start()) is not None


class Form(NamedTuple):
    """The form of one kind of secret. The secret is the match without its leading group `kept`."""

    kind: str
    marks: tuple[str, ...]
    """One of these stands in every text that the pattern fits; it takes far less time to look for them."""
    pattern: re.Pattern[str]
    is_secret: Callable[[re.Match[str]], bool] = always
    before: tuple[int, ...] = (0,)
    """Characters between where the pattern begins and its mark. Empty: anywhere, so the whole text is searched."""

    def found_in(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the secrets of this form from left to right, without overlaps."""
        if self.before:
            return self._at_marks(text)
        return (match for match in self.pattern.finditer(text) if self.is_secret(match))

    def _at_marks(self, text: str) -> Iterator[re.Match[str]]:
        end = 0
        for place in _places_of_any(self.marks, text):
            for before in self.before:
                match = self.pattern.match(text, place - before) if place - before >= end else None
                if match is not None and self.is_secret(match):
                    end = match.end()
                    yield match
                    break


def places_of(mark: str, text: str) -> Iterator[int]:
    """Yield the places of a mark in a text."""
    place = text.find(mark)
    while place >= 0:
        yield place
        place = text.find(mark, place + 1)


@lru_cache(maxsize=2)
def _places_of_any(marks: tuple[str, ...], text: str) -> tuple[int, ...]:
    """Return the places of all marks in order. Several forms have the same marks and search the same text in turn."""
    return tuple(sorted({at for mark in marks for at in places_of(mark, text)}))


def secret_in(found: re.Match[str]) -> str:
    """Return the secret of a match, without what stays."""
    return found[0][len(kept_of(found)) :]


def kept_of(found: re.Match[str]) -> str:
    """Return what stays in the place of a match, such as the name before the value."""
    return (found.groupdict().get("kept") or "") if found.re.groups else ""


def token(kind: str, *prefixes: str, rest: str, ends: str = _ENDS) -> Form:
    """Return the form of tokens that begin with one of the prefixes and continue with the pattern `rest`."""
    begins = "|".join(map(re.escape, prefixes))
    return Form(kind, prefixes, re.compile(f"{BEGINS}(?:{begins}){rest}{ends}"))


_WORD = "[A-Za-z0-9_-]"
_DIGIT = f"(?={_WORD}{{0,80}}[0-9])"
"""At least one digit: names of classes and columns begin like some tokens."""
_UUID = r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"

SERVICES = (
    # model services
    token("Anthropic", "sk-ant-", rest=rf"{_WORD}{{16,}}"),
    token("OpenAI", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", rest=rf"{_WORD}{{16,}}"),
    token("OpenAI, OpenRouter, DeepSeek, Langfuse, ElevenLabs", "sk-", "sk_", rest=rf"{_DIGIT}{_WORD}{{16,}}"),
    token("Google API key", "AIza", rest=rf"{_WORD}{{30,}}"),
    token("Google OAuth", "ya29.", "GOCSPX-", "1//0", "AQ.Ab", rest=r"[A-Za-z0-9_.-]{20,}"),
    token("Groq", "gsk_", rest=r"[A-Za-z0-9]{20,}"),
    token("xAI", "xai-", rest=rf"{_DIGIT}{_WORD}{{20,}}"),
    token("Hugging Face", "hf_", "api_org_", rest=r"[A-Za-z0-9]{30,}"),
    token("Replicate", "r8_", rest=r"[A-Za-z0-9]{30,}"),
    token("Perplexity", "pplx-", rest=r"[A-Za-z0-9]{20,}"),
    token("NVIDIA", "nvapi-", rest=rf"{_WORD}{{20,}}"),
    token("Cerebras", "csk-", rest=rf"{_DIGIT}[A-Za-z0-9]{{20,}}"),
    token("Together", "tgp_v1_", rest=rf"{_WORD}{{20,}}"),
    token("Pinecone", "pcsk_", rest=rf"{_WORD}{{20,}}"),
    token("Tavily", "tvly-", rest=rf"{_WORD}{{20,}}"),
    token("LangSmith", "lsv2_pt_", "lsv2_sk_", rest=rf"{_WORD}{{20,}}"),
    token("Weights & Biases", "wandb_v1_", rest=rf"{_WORD}{{20,}}"),
    token("Fireworks", "fw_", rest=rf"{_DIGIT}[A-Za-z0-9]{{20,}}"),
    token("Firecrawl", "fc-", rest=r"[a-f0-9]{32}"),
    token("RunPod", "rpa_", rest=r"[A-Za-z0-9]{40,}"),
    token("Llama API", "LLM|", rest=rf"\d{{10,20}}\|{_WORD}{{20,}}"),
    token("LlamaCloud", "llx-", rest=r"[A-Za-z0-9]{40,}"),
    token("Composio, Unkey", "ak_", "unkey_", rest=rf"{_DIGIT}[A-Za-z0-9]{{16,}}"),
    token("Cursor", "key_", rest=r"[a-f0-9]{64}"),
    token("Logfire", "pylf_v", rest=r"\d_[a-z]{2}_[A-Za-z0-9]{40,}"),
    token("Browserbase", "bb_live_", "bb_test_", rest=r"[A-Za-z0-9_-]{20,}"),
    Form("Zhipu", (), before=(), is_secret=_begins_a_token, pattern=re.compile(
        rf"[a-f0-9]{{32}}\.(?=[A-Za-z]*[0-9])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{{16}}{_ENDS}")),
    # code and packages
    token("GitHub", "github_pat_", rest=r"[A-Za-z0-9_]{20,}"),
    token("GitHub", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", rest=r"[A-Za-z0-9_-]{16,}"),
    token(
        "GitLab", "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glagent-", "glft-", "gloas-",
        rest=r"[A-Za-z0-9_.-]{16,}",
    ),
    token("Bitbucket, Atlassian", "ATBB", "ATATT3", "ATCTT3", rest=r"[A-Za-z0-9_=-]{20,}"),
    token("npm", "npm_", rest=r"[A-Za-z0-9]{30,}"),
    token("PyPI", "pypi-AgE", rest=rf"{_WORD}{{30,}}"),
    token("RubyGems, Clojars", "rubygems_", "CLOJARS_", rest=rf"{_DIGIT}[A-Za-z0-9]{{30,}}"),
    token("Docker", "dckr_pat_", "dckr_oat_", rest=rf"{_WORD}{{20,}}"),
    token("SonarQube", "squ_", "sqp_", "sqa_", rest=r"[a-f0-9]{40}"),
    token("Buildkite", "bkua_", rest=r"[a-f0-9]{40}"),
    # clouds and what runs in them
    Form("Terraform", (".atlasv1.",), re.compile(rf"{BEGINS}[A-Za-z0-9]{{14}}\.atlasv1\.{_WORD}{{60,}}"), before=(14,)),
    token("Pulumi", "pul-", rest=r"[a-f0-9]{40}"),
    token("Neon", "napi_", rest=r"[a-z0-9]{40,}"),
    token("Cloudflare", "v1.0-", rest=r"[a-f0-9]{24}-[a-f0-9]{100,}"),
    token("AWS", "AKIA", "ASIA", "ABIA", "ACCA", rest=r"[A-Z0-9]{16}"),
    token("DigitalOcean", "dop_v1_", "doo_v1_", "dor_v1_", rest=r"[a-f0-9]{32,}"),
    token("Databricks", "dapi", rest=r"[a-f0-9]{32}(?:-\d)?"),
    token("HashiCorp", "hvs.", "hvb.", "hvr.", rest=rf"{_WORD}{{20,}}"),
    token("Grafana", "glsa_", "glc_", rest=r"[A-Za-z0-9_+/=]{20,}"),
    token("New Relic", "NRAK-", "NRII-", "NRJS-", rest=rf"{_DIGIT}{_WORD}{{15,}}"),
    token("Sentry", "sntrys_", "sntryu_", rest=r"[A-Za-z0-9_+/=]{30,}"),
    token("Doppler", "dp.pt.", "dp.st.", "dp.sa.", rest=r"[A-Za-z0-9.]{20,}"),
    token("PlanetScale", "pscale_tkn_", "pscale_pw_", "pscale_oauth_", rest=r"[A-Za-z0-9_.=-]{20,}"),
    token("Supabase", "sbp_", "sb_secret_", rest=rf"{_DIGIT}{_WORD}{{20,}}"),
    token("Prefect", "pnu_", "pnb_", rest=r"[A-Za-z0-9]{30,}"),
    token("ReadMe", "rdme_", rest=rf"{_DIGIT}[a-z0-9]{{50,}}"),
    token("Netlify", "nfp_", rest=r"[A-Za-z0-9]{30,}"),
    token("Fly", "fm1_", "fm2_", rest=r"[A-Za-z0-9+/=_-]{40,}"),
    token("age", "AGE-SECRET-KEY-1", rest=r"[A-Z0-9]{50,}"),
    token("1Password", "ops_eyJ", rest=r"[A-Za-z0-9+/=_-]{30,}"),
    token("Alibaba", "LTAI", rest=r"[A-Za-z0-9]{12,24}"),
    Form(
        "Azure", ("Q~",), re.compile(r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])"), before=(4,)
    ),
    token("LaunchDarkly", "sdk-", "mob-", "api-", rest=_UUID),
    token("Dynatrace", "dt0c01.", "dt0s16.", rest=r"[A-Z0-9]{20,}\.[A-Z0-9]{60,}"),
    token("AWS Bedrock", "ABSKQmVk", rest=r"[A-Za-z0-9+/]{60,}={0,2}"),
    Form("Azure DevOps", ("AZDO",), re.compile(rf"{BEGINS}[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}{_ENDS}"), before=(76,)),
    token("Tailscale", "tskey-", rest=r"[a-z]{2,12}-[A-Za-z0-9-]{16,}"),
    token("Sourcegraph", "sgp_", rest=r"[A-Za-z0-9_]{40,}"),
    token("Modal", "ak-", "as-", rest=r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{22}"),
    token("E2B", "e2b_", rest=r"[a-f0-9]{40}"),
    token("Daytona", "dtn_", rest=r"[a-f0-9]{64}"),
    token("Convex", "prod:", "dev:", rest=r"[a-z0-9-]{1,60}\|[A-Za-z0-9+/=]{40,}"),
    token("Render", "rnd_", rest=r"[A-Za-z0-9]{24,}"),
    token("OpenShift", "sha256~", rest=rf"{_WORD}{{40,}}"),
    token("Adafruit", "aio_", rest=r"[A-Za-z0-9]{28}"),
    token("Infracost", "ico-", rest=r"[A-Za-z0-9]{32}"),
    # messages, payments, work
    token("Slack", "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxd-", "xoxc-", "xapp-",
          rest=r"[A-Za-z0-9%._-]{10,}"),
    token("SendGrid", "SG.", rest=rf"{_WORD}{{16,}}\.{_WORD}{{16,}}"),
    token("Twilio", "SK", rest=r"[a-f0-9]{32}"),
    token("Mailgun", "key-", rest=r"[a-f0-9]{32}"),
    Form("Mailchimp", ("-us",), re.compile(rf"{BEGINS}[a-f0-9]{{32}}-us\d{{1,2}}{_ENDS}"), before=(32,)),
    token("Stripe", "rk_live_", "rk_test_", "whsec_", "pk_live_", "pk_test_", "pk-lf-", rest=rf"{_WORD}{{16,}}"),
    token("Shippo", "shippo_live_", "shippo_test_", rest=r"[a-f0-9]{40}"),
    token("Flutterwave", "FLWSECK-", "FLWSECK_TEST-", rest=r"[a-f0-9A-Z]{12,}"),
    token("Braintree", "access_token$production$", "access_token$sandbox$", rest=r"[a-z0-9]{16}\$[a-f0-9]{32}"),
    Form("Asana", ("1/", "2/"), re.compile(rf"{BEGINS}[12]/\d{{10,}}(?:/\d{{10,}})?:[a-f0-9]{{32}}{_ENDS}")),
    token("Razorpay", "rzp_live_", "rzp_test_", rest=r"[A-Za-z0-9]{14,}"),
    token("HubSpot", "pat-na1-", "pat-na2-", "pat-eu1-", rest=_UUID),
    token("Square", "sq0atp-", "sq0csp-", "EAAAE", rest=rf"{_WORD}{{20,}}"),
    token("Shopify", "shpat_", "shpca_", "shppa_", "shpss_", rest=r"[a-fA-F0-9]{32}"),
    token("Facebook", "EAAB", "EAAC", "EAAG", rest=rf"{_DIGIT}[A-Za-z0-9]{{40,}}"),
    token("Lob", "live_", "test_", rest=r"[a-f0-9]{35}"),
    token("MailerSend", "mlsn.", rest=r"[a-f0-9]{64}"),
    token("Brevo", "xkeysib-", "xsmtpsib-", rest=r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("Resend", "re_", rest=r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    token("Twitch", "oauth:", rest=r"[a-z0-9]{30}"),
    token("42", "s-s4t2ud-", "s-s4t2af-", rest=r"[a-f0-9]{64}"),
    token("EasyPost", "EZAK", "EZTK", rest=r"[A-Za-z0-9]{54}"),
    token("Nylas", "nyk_v", rest=r"\d_[A-Za-z0-9]{60,}"),
    token("Polar, PostHog", "polar_oat_", "polar_pat_", "phx_", rest=r"[A-Za-z0-9]{40,}"),
    token("Typeform", "tfp_", rest=r"[A-Za-z0-9_-]{40,}"),
    token("Vercel", "vercel_blob_rw_", "vcp_", "vck_", rest=r"[A-Za-z0-9_]{40,}"),
    token("Contentful", "CFPAT-", rest=rf"{_WORD}{{43}}"),
    token("Tencent", "AKID", rest=r"[A-Za-z0-9]{32}"),
    token("Linear", "lin_api_", "lin_oauth_", rest=r"[A-Za-z0-9]{30,}"),
    token("Notion", "ntn_", "secret_", rest=rf"{_DIGIT}[A-Za-z0-9]{{30,}}"),
    token("Figma", "figd_", "figo_", rest=rf"{_WORD}{{30,}}"),
    token("Postman", "PMAK-", rest=r"[a-f0-9]{24}-[a-f0-9]{34}"),
    Form("Airtable", ("pat",), re.compile(rf"{BEGINS}pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}}{_ENDS}")),
    Form("Telegram", (":AA",), re.compile(rf"(?:{BEGINS}|(?<=/bot))\d{{8,10}}:AA{_WORD}{{32,34}}{_ENDS}"),
         before=(8, 9, 10)),
    Form("Discord", ("MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),  # base64 of an id: of digits
         re.compile(rf"{BEGINS}[MNO][A-Za-z0-9_-]{{23,27}}\.{_WORD}{{6}}\.{_WORD}{{27,40}}{_ENDS}")),
)  # fmt: skip
"""By service, those with the longer prefix first. Lengths leave room for the next generation of a token."""

_IN_PEM = "[A-Z0-9 %+]"
"""What stands between the words of a PEM line: a space, which may be escaped as in an address."""

_COOKIES = (
    "JSESSIONID", "PHPSESSID", "sessionid", "connect.sid", "csrftoken", "XSRF-TOKEN", "ASP.NET_SessionId",
    "user_session", "_gh_sess", "laravel_session", "li_at", "AWSALB", "next-auth.session-token", "remember_token",
)  # fmt: skip
"""Names of cookies that a login leaves."""

STRUCTURES = (
    Form(
        "login of Docker",
        ('"auth"', '"auth\\'),
        re.compile(r"(?P<kept>\"auth\\*\"\s?:\s?\\*\")[A-Za-z0-9+/]{12,}={0,2}(?=\\*\")"),
    ),
    Form(
        "code in an address's query",
        ("?auth=", "&auth=", "?code=", "&code="),
        re.compile(r"(?P<kept>[?&](?:auth|code)=)(?=[A-Za-z_-]{0,80}\d)[\w-]{20,}"),
    ),
    Form(
        "encoded address",
        ("%3A%2F%2F", "%3a%2f%2f"),
        re.compile(r"(?P<kept>%3A%2F%2F[\w.~-]{0,60}%3A)[^%\s\"'&]{4,256}(?=%40)", re.IGNORECASE),
    ),
    Form(
        "private key",
        ("-----BEGIN",),
        re.compile(
            rf"-----BEGIN{_IN_PEM}{{1,40}}PRIVATE{_IN_PEM}{{1,3}}KEY(?:{_IN_PEM}{{1,3}}BLOCK)?-----"
            rf"(?:(?:[^-]|-(?!----)){{0,20000}}-----END{_IN_PEM}{{1,40}}PRIVATE{_IN_PEM}{{1,3}}KEY"
            rf"(?:{_IN_PEM}{{1,3}}BLOCK)?-----|(?:[A-Za-z0-9+/=%\s]|\\+[nr])*)"
        ),
    ),
    Form("JSON Web Token", ("eyJ",), re.compile(rf"{BEGINS}eyJ{_WORD}{{8,}}\.{_WORD}{{8,}}(?:\.{_WORD}*){{0,3}}")),
    Form(
        "webhook",
        (
            "hooks.slack.com/", "discord.com/", "discordapp.com/", "webhook.office.com/", "hooks.zapier.com/",
            "outlook.office.com/", "open-apis/bot/", "maker.ifttt.com/", "hook.", "events.pagerduty.com/",
            "mcp.zapier.com/", "calendar.google.com/",
        ),
        re.compile(
            r"(?P<kept>hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(?:\d+/)?"
            r"|webhook\.office\.com/webhookb2/|hooks\.zapier\.com/hooks/catch/|outlook\.office\.com/webhook/"
            r"|open-apis/bot/v2/hook/|maker\.ifttt\.com/trigger/[\w-]{1,80}/with/key/"
            r"|hook\.(?:[a-z]{2}\d\.)?(?:make|integromat)\.com/|events\.pagerduty\.com/integration/"
            r"|mcp\.zapier\.com/api/mcp/[as]/|calendar\.google\.com/calendar/ical/[^/\s]{1,120}/private-)[A-Za-z0-9_@/-]{16,}"
        ),
    ),
    Form(
        "Authorization",
        ("Bearer ", "bearer ", "Basic ", "basic "),
        re.compile(
            BEGINS + r"(?:[Bb]earer [A-Za-z0-9._~+/-]{16,}={0,2}"
            r"|[Bb]asic (?=[A-Za-z+/]*[0-9=])[A-Za-z0-9+/]{8,}={0,2})"
        ),
    ),
    # The last `@` before the path ends the password, which may have one itself. Redis has no user.
    Form(
        "user and password of an address",
        ("://",),
        re.compile(
            r"(?P<kept>://)(?!user(?:name)?:pass(?:word)?@|[\w-]*:\$\{?\w+\}?@)"
            r"[^/@\s\"'\\:<>?#]*:[^/\s\"'\\<>]+(?=@[A-Za-z0-9\[_.-])"
        ),
    ),
    Form(
        "key before the host of an address",
        ("://",),
        re.compile(rf"(?P<kept>://){_DIGIT}{_WORD}{{20,}}(?=@[A-Za-z0-9])"),
    ),
    Form(
        "value in an address's query",
        ("=",),
        re.compile(
            r"(?P<kept>[?&;][\w-]*(?<!badge\.svg\?)(?i:key|token|secret|password|passwd|sig|signature|credential)=)"
            r"[^&\s\"'\\<>\[\])]{6,}"
        ),
        before=(),
    ),
    Form(
        "session cookie",
        (*_COOKIES, "__Secure-", "__Host-"),
        re.compile(
            BEGINS + rf"(?P<kept>(?:{'|'.join(map(re.escape, _COOKIES))}|__(?:Secure|Host)-[\w.-]{{1,40}})"
            r"(?:=|\\*[\"']\s?[:=,]\s?\\*[\"']))[^\s;,\"'\\<>\[\]]{8,}"
        ),
    ),
)  # fmt: skip
"""What is secret by where it stands."""

"""New signatures for requests that the agent itself signed (AWS SigV4, as LiteLLM does) and a mutant changed."""

import re
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

_SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/\d{8}/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request,\s*"
    r"SignedHeaders=(?P<headers>[^,]+)"
)
_OF_THE_SIGNATURE = frozenset({"authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"})


def signed_again(method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
    """Return the headers that replace those of a changed request; none if the request is not signed.

    None either where botocore is not there or finds another key than the request was signed with: then the service
    refuses the request, and the mutant ends as `error`.
    """
    found = _SIGNED.match(headers.get("authorization", ""))
    if found is None or find_spec("botocore") is None:
        return {}
    credentials = import_module("botocore.session").get_session().get_credentials()
    if credentials is None or credentials.access_key != found["key"]:
        return {}
    kept = {name: headers[name] for name in found["headers"].split(";") if name in headers}
    plain = {name: value for name, value in kept.items() if name not in _OF_THE_SIGNATURE | {"host"}}
    request = import_module("botocore.awsrequest").AWSRequest(method, url, headers=plain, data=body)
    import_module("botocore.auth").SigV4Auth(credentials, found["service"], found["region"]).add_auth(request)
    return {name: value for name, value in request.headers.items() if name.lower() in _OF_THE_SIGNATURE}

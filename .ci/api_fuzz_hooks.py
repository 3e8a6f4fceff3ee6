"""What `.ci/api-fuzz` teaches schemathesis about Boxoffice.

Three of four cases get the names of things that exist in place of generated
ones, which name nothing, and most get credentials that fit their operation.
Which ones follows from the case alone, so a seed gives the same run.
Checks of our own look at what every answer promises. The answers per operation
are written down for the summary.
"""

import atexit
import collections
import itertools
import json
import os
import urllib.request
import uuid
import zlib

import schemathesis

with open(os.environ["API_FUZZ_WORLD"]) as f:
    WORLD = json.load(f)
ANSWERS = collections.defaultdict(collections.Counter)
number = itertools.count()
spare_token = None


def content(case, salt):
    return repr((salt, case.method, case.path, case.path_parameters, case.query, case.body)).encode("utf-8", "backslashreplace").decode()


def pick(case, salt, options):
    """One of the options, by the case's own content."""
    return options[zlib.crc32(content(case, salt).encode()) % len(options)]


@schemathesis.hook
def before_call(context, case, kwargs):
    if pick(case, "known", (True, True, True, False)):
        put_known(case, case.path_parameters)
        put_known(case, case.query)
        if isinstance(case.body, dict):
            put_known(case, case.body)
            items = case.body.get("items")
            for item in items if isinstance(items, list) else ():
                put_known(case, item)
    if pick(case, "key", (True, True, True, False)) and valid(case.headers.get("Idempotency-Key")):
        # The cases of a phase share one, and would be refused for that alone.
        case.headers["Idempotency-Key"] = str(uuid.uuid5(uuid.NAMESPACE_OID, content(case, next(number))))


def valid(key):
    try:
        return bool(uuid.UUID(key))
    except (ValueError, AttributeError, TypeError):
        return False


def put_known(case, values):
    """Puts names of things that exist where the names of such things stand."""
    if not isinstance(values, dict):
        return
    for name in values:
        for prefix, member, known in WORLD["known"]:
            if name == member and case.path.startswith(prefix):
                values[name] = pick(case, name, known)
                break


@schemathesis.auth(refresh_interval=None)
class Credentials:
    """Credentials of one of the kinds that the operation takes."""

    def get(self, case, context):
        row = case.operation.definition.raw
        kind = pick(case, "kind", row["x-credentials"])
        if kind in WORLD["tokens"] and "Auth" in row["tags"]:
            return kind, spare()  # what ends sessions ends another's
        return kind, WORLD["tokens"].get(kind)

    def set(self, case, data, context):
        kind, token = data
        if token:
            case.headers["Authorization"] = "Bearer " + token
        if kind == "orderToken":
            body = case.body if isinstance(case.body, dict) else {}
            order = [*(case.path_parameters or {}).values(), body.get("orderId")][0]
            if isinstance(order, str) and order in WORLD["orders"]:
                case.query = {**(case.query or {}), "token": WORLD["orders"][order]}


def spare():
    """The access token of an account that nothing else needs."""
    global spare_token
    if spare_token is None:
        request = urllib.request.Request(
            WORLD["api"] + "/auth/login", json.dumps(WORLD["spare"]).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            spare_token = json.load(answer)["data"]["accessToken"]
    return spare_token


@schemathesis.hook
def after_call(context, case, response):
    global spare_token
    row = case.operation.definition.raw
    if response.status_code == 401:
        spare_token = None
    if case.method.upper() == case.operation.method.upper():
        ANSWERS[row["operationId"]][response.status_code] += 1
        if response.status_code in (200, 201) and row["operationId"] in MAKES:
            learn(row["operationId"], json.loads(response.content)["data"])


# What an operation makes is known from then on, in paths that begin so.
MAKES = {
    "createEvent": ("/api/v1/organizer/events/", "id"),
    "createTicketType": ("/api/v1/organizer/events/", "ticketTypeId"),
    "createApiKey": ("/api/v1/", "keyId"),
    "placeOrder": ("/api/v1/orders/", "id"),
    "register": ("/api/v1/auth/refresh", "refreshToken"),
    "refreshTokens": ("/api/v1/auth/refresh", "refreshToken"),
}


def learn(operation, made):
    for prefix, member, known in WORLD["known"]:
        if (prefix, member) == MAKES.get(operation):
            known.append(made[member if member in made else "id"])
            del known[:-8]
    if "accessToken" in made and "id" in made:
        WORLD["orders"][made["id"]] = made["accessToken"]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """A provider that is not configured here is no fault."""
    return not (response and response.status_code == 503 and b"PROVIDER_NOT_CONFIGURED" in response.content)


def header(response, name):
    return (response.headers.get(name) or [""])[0]


@schemathesis.check
def keeps_promises(ctx, response, case):
    """The request id is everywhere, and a refusal's code is one of the answer's."""
    request_id = header(response, "x-request-id")
    assert request_id, "no X-Request-Id"
    if response.status_code < 400 or case.method.upper() == "HEAD":
        return
    failure = json.loads(response.content)
    if header(response, "idempotency-replayed") != "true":  # byte for byte what the first request got
        assert failure["meta"]["request_id"] == request_id, "meta.request_id is not X-Request-Id"
    documented = case.operation.definition.raw["responses"].get(str(response.status_code))
    if case.method.upper() != case.operation.method.upper():
        documented = WORLD["responses"]["MethodNotAllowed"]
    elif documented is None:
        return  # status_code_conformance tells
    elif "$ref" in documented:
        documented = WORLD["responses"][documented["$ref"].rsplit("/", 1)[1]]
    code = failure["error"]["code"]
    assert code in documented["x-error-codes"], f"{code} is not documented for {response.status_code}"
    if response.status_code in (429, 503) and code != "PROVIDER_NOT_CONFIGURED":
        assert header(response, "retry-after"), f"no Retry-After with {code}"


@atexit.register
def write_answers():
    with open(os.environ["API_FUZZ_ANSWERS"], "w") as f:
        json.dump(ANSWERS, f)

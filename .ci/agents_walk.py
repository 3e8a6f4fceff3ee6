"""Sells events out by tools alone, with the Python SDK of the Model Context Protocol.

Usage: agents_walk.py http://127.0.0.1:8080, of a node with a payment simulator and
the limits of production. Run by .ci/agents.
"""

import asyncio
import contextlib
import datetime
import sys
import uuid

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

BASE = sys.argv[1]


async def main():
    async with httpx2.AsyncClient(base_url=BASE) as http:
        for mode, version in ("auto", "2026-07-28"), ("legacy", "2025-11-25"):
            # A new organization each time: limits and events are its own.
            account = await post(http, "/api/v1/auth/register", {
                "email": f"agent-{uuid.uuid4()}@example.org", "password": "correct horse", "organizationName": "Agents' Hall"})
            owner = {"Authorization": "Bearer " + account["accessToken"]}
            organization = (await get(http, "/api/v1/users/me", owner))["organizations"][0]["id"]

            async def key(*scopes):
                made = await post(http, f"/api/v1/organizer/integrations/org/{organization}/api-keys", {
                    "name": "An agent", "environment": "test", "scopes": scopes or None}, owner)  # none named: all
                return made["secret"]

            async with connect(await key(), mode) as everything, connect(await key("events:read"), mode) as reader:
                assert everything.protocol_version == version, everything.protocol_version
                tools = await lists_tools_by_scope(everything, reader)
                await sells_out(everything, http)
            async with connect(await key("webhooks:manage"), mode) as hasty:
                await hits_its_limit(hasty)
            print(f"Python, {version}: {tools} tools, an event sold out, a limit hit")


@contextlib.asynccontextmanager
async def connect(secret, mode):
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer " + secret}, timeout=30) as http:
        async with Client(streamable_http_client(BASE + "/mcp", http_client=http), mode=mode) as client:
            yield client


async def lists_tools_by_scope(everything, reader):
    most, some = await tools_of(everything), await tools_of(reader)
    assert "create_event" in most and "create_event" not in some and "list_own_events" in some, some
    assert "get_gate_stats" not in some and len(some) < len(most)
    jobs = [p.name for p in (await everything.list_prompts()).prompts]
    assert jobs == ["find_order", "put_event_on_sale", "refund_order", "watch_gates"], jobs
    assert (await reader.list_prompts()).prompts == []
    resources = (await reader.list_resources()).resources
    assert len(resources) == 2 and (await reader.read_resource(resources[0].uri)).contents[0].text.startswith("{")
    assert "FORBIDDEN (403)" in await refusal(reader, "create_event", event_body())  # by its name, unseen
    return len(most)


async def sells_out(client, http):
    body = event_body() | {"idempotencyKey": str(uuid.uuid4())}
    event = (await done(client, "create_event", body))["id"]
    assert (await done(client, "create_event", body))["id"] == event, "a replay made a second event"
    assert "IDEMPOTENCY_KEY_REUSED (409)" in await refusal(client, "create_event", body | {"title": "Another"})
    floor = (await done(client, "create_ticket_type", {
        "id": event, "name": "Floor", "type": "general", "price": 25, "quantityTotal": 3, "saleStart": in_days(-1), "saleEnd": in_days(7)}))["id"]
    await done(client, "publish_event", {"id": event})
    for quantity in 2, 1:
        order = await done(client, "place_order", order_body(floor, quantity) | {"idempotencyKey": str(uuid.uuid4())})
        payment = await done(client, "pay_order", {"id": order["id"], "provider": "paystack", "token": order["accessToken"]})
        await http.post(payment["authorizationUrl"], json={"outcome": "success"})  # the buyer's own doing
        paid = await done(client, "verify_payment", {"orderId": order["id"], "token": order["accessToken"]})
        assert paid["status"] == "completed", paid["status"]
    assert "SOLD_OUT (409)" in await refusal(client, "place_order", order_body(floor, 1))
    assert (await done(client, "list_ticket_types", {"id": event}))["items"][0]["available"] == 0


async def hits_its_limit(client):
    for _ in range(31):
        text = await refusal(client, "create_webhook", {})
        if text.startswith("RATE_LIMITED (429)"):
            assert "Try again in" in text, text
            return
    raise AssertionError("31 strict writes in a minute were let through")


async def tools_of(client):
    names, cursor = set(), None
    while True:
        page = await client.list_tools(cursor=cursor)
        names |= {tool.name for tool in page.tools}
        if not (cursor := page.next_cursor):
            return names


async def done(client, tool, arguments):
    """What the tool answers; the SDK holds it to the tool's output schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, f"{tool}: {result.content[0].text}"
    return result.structured_content["data"]


async def refusal(client, tool, arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error, f"{tool} was let through"
    return result.content[0].text


async def post(http, path, body, headers=None):
    return (await http.post(path, json=body, headers=headers)).raise_for_status().json()["data"]


async def get(http, path, headers):
    return (await http.get(path, headers=headers)).raise_for_status().json()["data"]


def in_days(n):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=n)).isoformat()


def event_body():
    return {"title": "Friday Night", "category": "music", "timezone": "Europe/Berlin", "venueType": "physical",
            "startDate": in_days(7), "endDate": in_days(8)}


def order_body(ticket_type, quantity):
    return {"guestEmail": "ada@example.org", "items": [{"ticketTypeId": ticket_type, "quantity": quantity}]}


asyncio.run(main())

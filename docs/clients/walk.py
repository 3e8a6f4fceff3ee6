"""From registration to the gate, with the generated client (docs/clients.md).

Usage: python walk.py http://127.0.0.1:8080
"""

import datetime
import sys
import uuid
from typing import TypeVar, cast

import httpx

from boxoffice_client import AuthenticatedClient, Client
from boxoffice_client.api.auth import register
from boxoffice_client.api.check_in import scan_ticket
from boxoffice_client.api.orders_and_payments import get_order, pay_order, place_order, verify_payment
from boxoffice_client.api.organizer_events import create_event, publish_event
from boxoffice_client.api.ticket_types import create_ticket_type
from boxoffice_client.models import (
    CreateEvent, CreateEventVenueType, CreateTicketType, CreateTicketTypeType, Error, OrderItem, PayOrder, PayOrderProvider,
    PlaceOrder, Register, ScanTicket, VerifyPayment,
)


T = TypeVar("T")


class Refusal(Exception):
    def __init__(self, error: Error) -> None:
        super().__init__(f"{error.error.code}: {error.error.message} ({error.meta.request_id})")


def taken(answer: T | Error | None) -> T:
    """What a success carries; a refusal is raised."""
    if isinstance(answer, Error):
        raise Refusal(answer)
    assert answer is not None
    return answer


def in_days(n: int) -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=n)


base_url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
anybody = Client(base_url=base_url)
# Guests may place orders, which the generator doesn't see: it wants credentials for what may have them.
guest = cast(AuthenticatedClient, anybody)

session = taken(register.sync(client=anybody, body=Register(
    email=f"py-{uuid.uuid4()}@example.org", password="correct horse", organization_name="Snake Hall"))).data
organizer = AuthenticatedClient(base_url=base_url, token=session.access_token)

event = taken(create_event.sync(client=organizer, body=CreateEvent(
    title="Friday Night", category="music", timezone="Europe/Berlin", venue_type=CreateEventVenueType.PHYSICAL,
    start_date=in_days(7), end_date=in_days(8)))).data
floor = taken(create_ticket_type.sync(str(event.id), client=organizer, body=CreateTicketType(
    name="Floor", type_=CreateTicketTypeType.GENERAL, price=25, quantity_total=100, sale_start=in_days(-1), sale_end=in_days(7)))).data
assert taken(publish_event.sync(str(event.id), client=organizer)).data.status == "published"

# The key makes the order safe to repeat: a lost answer is asked for again, and bought once.
key = str(uuid.uuid4())
wanted = PlaceOrder(guest_email="ada@example.org", items=[OrderItem(ticket_type_id=uuid.UUID(floor.id), quantity=1)])
order = taken(place_order.sync(client=guest, body=wanted, idempotency_key=key)).data
assert taken(place_order.sync(client=guest, body=wanted, idempotency_key=key)).data.id == order.id

payment = taken(pay_order.sync(order.id, client=guest, body=PayOrder(
    provider=PayOrderProvider.PAYSTACK, token=order.access_token))).data
httpx.post(str(payment.authorization_url), json={"outcome": "success"})  # the simulator's page, where a buyer clicks
paid = taken(verify_payment.sync(client=guest, body=VerifyPayment(
    order_id=uuid.UUID(order.id), token=order.access_token))).data
assert paid.status == "completed", paid.status

for device, expected in (("gate-1", "success"), ("gate-2", "denied_duplicate")):
    scan = taken(scan_ticket.sync(client=organizer, body=ScanTicket(
        event_id=str(event.id), qr_data=str(paid.tickets[0].qr), gate_name="North", device_id=device))).data
    assert scan.status == expected, scan.status

nobody = get_order.sync(order.id, client=guest)
assert isinstance(nobody, Error) and nobody.error.code == "UNAUTHORIZED"
print("Python: walked from registration to the gate")

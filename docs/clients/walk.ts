// From registration to the gate, with the generated client (docs/clients.md).
// Usage: node walk.js http://127.0.0.1:8080
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const baseUrl = process.argv[2] ?? "http://127.0.0.1:8080";

class Refusal extends Error {
  constructor(readonly error: components["schemas"]["Error"]) {
    super(`${error.error.code}: ${error.error.message} (${error.meta.request_id})`);
  }
}

/** taken is what a success carries; a refusal is thrown. */
function taken<T>(answer: { data?: { data: T }; error?: components["schemas"]["Error"] }): T {
  if (answer.data) return answer.data.data;
  throw new Refusal(answer.error!);
}

const inDays = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString();

const guest = createClient<paths>({ baseUrl });
const session = taken(await guest.POST("/api/v1/auth/register", {
  body: { email: `ts-${randomUUID()}@example.org`, password: "correct horse", organizationName: "Typed Hall" },
}));
const organizer = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${session.accessToken}` } });

const event = taken(await organizer.POST("/api/v1/organizer/events", {
  body: { title: "Friday Night", category: "music", timezone: "Europe/Berlin", venueType: "physical", startDate: inDays(7), endDate: inDays(8) },
}));
const floor = taken(await organizer.POST("/api/v1/organizer/events/{id}/tickets", {
  params: { path: { id: event.id } },
  body: { name: "Floor", type: "general", price: 25, quantityTotal: 100, saleStart: inDays(-1), saleEnd: inDays(7) },
}));
const published = taken(await organizer.POST("/api/v1/organizer/events/{id}/publish", { params: { path: { id: event.id } } }));
assert.equal(published.status, "published");

// The key makes the order safe to repeat: a lost answer is asked for again, and bought once.
const key = randomUUID();
const place = () => guest.POST("/api/v1/orders", {
  params: { header: { "Idempotency-Key": key } },
  body: { guestEmail: "ada@example.org", items: [{ ticketTypeId: floor.id, quantity: 1 }] },
});
const order = taken(await place());
assert.equal(taken(await place()).id, order.id);

const token = order.accessToken!;
const payment = taken(await guest.POST("/api/v1/orders/{id}/pay", { params: { path: { id: order.id } }, body: { provider: "paystack", token } }));
await fetch(payment.authorizationUrl!, { // the simulator's page, where a buyer clicks
  method: "POST", redirect: "manual", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ outcome: "success" }),
});
const paid = taken(await guest.POST("/api/v1/payments/verify", { body: { orderId: order.id, token } }));
assert.equal(paid.status, "completed");

for (const [device, expected] of [["gate-1", "success"], ["gate-2", "denied_duplicate"]] as const) {
  const scan = taken(await organizer.POST("/api/v1/checkin/scan", {
    body: { eventId: event.id, qrData: paid.tickets[0]!.qr!, gateName: "North", deviceId: device },
  }));
  assert.equal(scan.status, expected);
}

const nobody = await guest.GET("/api/v1/orders/{id}", { params: { path: { id: order.id } } });
assert.equal(nobody.error?.error.code, "UNAUTHORIZED");
console.log("TypeScript: walked from registration to the gate");

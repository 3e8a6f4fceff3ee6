// A sale under load, for k6 (docs/clients.md): 1,000 tickets, and buyers who want two each.
// Usage: BASE=http://127.0.0.1:8080 k6 run sale.js
import http from "k6/http";
import { check, fail } from "k6";
import { Counter } from "k6/metrics";

const api = `${__ENV.BASE || "http://127.0.0.1:8080"}/api/v1`;
const sold = new Counter("tickets_sold");
const refused = new Counter("orders_refused");

export const options = {
  scenarios: {
    rush: {
      executor: "constant-arrival-rate", // buyers don't wait for each other
      rate: Number(__ENV.RATE || 50),
      timeUnit: "1s",
      duration: __ENV.DURATION || "20s",
      preAllocatedVUs: 50,
      maxVUs: 500,
    },
  },
  thresholds: { checks: ["rate==1"] },
};

const inDays = (n) => new Date(Date.now() + n * 86400000).toISOString();

function post(path, body, headers = {}) {
  return http.post(api + path, JSON.stringify(body), { headers: { "Content-Type": "application/json", ...headers } });
}

function made(answer) {
  if (answer.status >= 300) fail(`${answer.url}: ${answer.status} ${answer.body}`);
  return answer.json("data");
}

export function setup() {
  const email = `k6-${Date.now()}@example.org`;
  const session = made(post("/auth/register", { email, password: "correct horse", organizationName: "Load Hall" }));
  const own = { Authorization: `Bearer ${session.accessToken}` };
  const event = made(post("/organizer/events", {
    title: "On sale", category: "music", timezone: "Europe/Berlin", venueType: "physical", startDate: inDays(7), endDate: inDays(8),
  }, own));
  const type = made(post(`/organizer/events/${event.id}/tickets`, {
    name: "Floor", type: "general", price: 25, quantityTotal: 1000, saleStart: inDays(-1), saleEnd: inDays(7),
  }, own));
  made(post(`/organizer/events/${event.id}/publish`, {}, own));
  return { type: type.id };
}

export default function (sale) {
  const key = crypto.randomUUID(); // one purchase: a repeat of a request whose answer is lost has the same
  const answer = post("/orders", {
    guestEmail: `buyer-${__VU}-${__ITER}@example.org`,
    items: [{ ticketTypeId: sale.type, quantity: 2 }],
  }, { "Idempotency-Key": key });
  const soldOut = answer.status === 409 && answer.json("error.code") === "TICKET_SOLD_OUT";
  check(answer, { "sold or sold out": (a) => a.status === 201 || soldOut });
  if (answer.status === 201) sold.add(2);
  else refused.add(1, { status: String(answer.status) });
}

package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/swaggest/openapi-go/openapi31"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

const jsonType = "application/json"

// These are the names of components that do not come from a Go type: headers, then
// parameters, then answers.
const (
	headerRequestID    = "X-Request-Id"
	headerLimit        = "X-RateLimit-Limit"
	headerRemaining    = "X-RateLimit-Remaining"
	headerReset        = "X-RateLimit-Reset"
	headerRetryAfter   = "Retry-After"
	headerReplayed     = "Idempotency-Replayed"
	headerETag         = "ETag"
	headerAuthenticate = "WWW-Authenticate"

	keyReplay   = "IdempotencyKeyReplay"
	keyByActor  = "IdempotencyKeyActor"
	ifNoneMatch = "IfNoneMatch"

	notModified     = "NotModified"
	requestTimeout  = "RequestTimeout"
	headersTooLarge = "RequestHeaderFieldsTooLarge"
	methodNotKnown  = "MethodNotAllowed"
)

// reference returns a reference to a component of the document.
func reference(kind, name string) *openapi31.Reference {
	return (&openapi31.Reference{}).WithRef("#/components/" + kind + "/" + name)
}

// addHeader adds one of the components' headers to an answer.
func addHeader(r *openapi31.Response, name string) {
	r.WithHeadersItem(name, openapi31.HeaderOrReference{Reference: reference("headers", name)})
}

// addCommonHeaders adds the headers that every answer of an operation has.
func addCommonHeaders(r *openapi31.Response) {
	for _, name := range []string{headerRequestID, headerLimit, headerRemaining, headerReset} {
		addHeader(r, name)
	}
}

// addComponents adds the components that operations refer to and that come from no Go type:
// headers, parameters and answers of the transport. It also adds x-any-path, the answer of every path to
// a method that the path does not have.
func (p *printer) addComponents() {
	c := p.spec.ComponentsEns()
	headerOf := func(name, schema, description string) {
		c.WithHeadersItem(name, openapi31.HeaderOrReference{
			Header: (&openapi31.Header{}).WithSchema(map[string]any{"type": schema}).WithDescription(description),
		})
	}
	headerOf(headerRequestID, "string", "Names the request in logs; in an error also meta.request_id, which in a replayed one names the first request.")
	headerOf(headerLimit, "integer", "Requests a minute that the tighter of the limits allows that counted this one.")
	headerOf(headerRemaining, "integer", "Requests that are left of it now.")
	headerOf(headerReset, "integer", "When all of it is there again, in unix seconds.")
	headerOf(headerRetryAfter, "integer", "Seconds after which a retry makes sense.")
	headerOf(headerReplayed, "string", "true when the answer is the stored one of an earlier request with this Idempotency-Key.")
	headerOf(headerETag, "string", "Names these bytes, for If-None-Match; only without credentials.")
	headerOf(headerAuthenticate, "string", "Bearer.")

	key := func(name, description string) {
		c.WithParametersItem(name, openapi31.Parameter{
			Name: "Idempotency-Key", In: openapi31.ParameterInHeader, Description: &description,
			// The schema has no format uuid, for which openapi-python-client would send an object that is no text.
			Schema: map[string]any{"type": "string", "pattern": "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"},
		}.ToParameterOrRef())
	}
	key(keyReplay, "Makes a retry safe: a repeat with the same key, path and body within 24 hours gets the first answer, byte for byte, with the header Idempotency-Replayed. "+
		"The same key with another body is IDEMPOTENCY_KEY_REUSED; while the first still runs, IDEMPOTENCY_IN_FLIGHT. Answers 401, 409, 429 and 5xx are not kept.")
	key(keyByActor, "Makes a retry safe: a repeat with the same key and body within 24 hours does nothing again and gets the first answer. "+
		"The same key with another body is IDEMPOTENCY_KEY_REUSED.")
	tag := "The ETag of an answer that the client has; 304 if it still holds. A 304 does not count against the limit."
	c.WithParametersItem(ifNoneMatch, openapi31.Parameter{
		Name: "If-None-Match", In: openapi31.ParameterInHeader, Description: &tag, Schema: map[string]any{"type": "string"},
	}.ToParameterOrRef())

	same := (&openapi31.Response{}).WithDescription("The client has this answer.")
	addCommonHeaders(same)
	addHeader(same, headerETag)
	c.WithResponsesItem(notModified, openapi31.ResponseOrReference{Response: same})
	p.addTransportAnswer(requestTimeout, engine.Validation, "The request did not arrive in time.", "The request did not arrive within 5 seconds.")
	p.addTransportAnswer(headersTooLarge, engine.Validation, "The request headers are too large.", "Path, query and headers have more than 8 KB.")
	p.spec.WithMapOfAnythingItem("x-any-path", map[string]any{"405": reference("responses", methodNotKnown)})
	p.addTransportAnswer(methodNotKnown, engine.MethodNotAllowed, engine.CodeTable[engine.MethodNotAllowed].Sentence, "Any path, with a method that it does not have.")
}

// addTransportAnswer adds an answer that the server gives before it has found an operation. It has the headers
// of a rate limit as every answer has: 405 and 431 count as public reads, and 408 says what is left of these.
func (p *printer) addTransportAnswer(name string, code engine.Code, message, description string) {
	content := errorContent()
	content.WithExamplesItem(string(code), openapi31.ExampleOrReference{
		Example: (&openapi31.Example{}).WithSummary(string(code)).WithValue(exampleEnvelope(code, message, nil)),
	})
	r := (&openapi31.Response{}).WithDescription(description).WithContentItem(jsonType, content)
	r.WithMapOfAnythingItem("x-error-codes", []engine.Code{code})
	addCommonHeaders(r)
	p.spec.ComponentsEns().WithResponsesItem(name, openapi31.ResponseOrReference{Response: r})
}

// These describe the ids that stand in many paths.
const (
	anEvent        = "The event's UUID or its number."
	anOrganization = "The organization's number."
	anOrder        = "The order's id, a UUID."
	aTicket        = "The ticket's id, a UUID."
)

// named describes parameters of paths that mean the same everywhere, by the part of the path in
// front of them. If the tag of a parameter's field has a description, the document has that
// description instead.
var named = map[string]string{
	"event/{id}":               anEvent,
	"events/{id}":              anEvent,
	"events/{eventId}":         anEvent,
	"by-id/{eventId}":          anEvent,
	"event-customization/{id}": anEvent,
	"venues/{id}":              "The venue map's UUID.",
	"webhooks/{id}":            "The endpoint's number.",
	"deliveries/{id}":          "The delivery's number.",
	"reports/{id}":             "The report's UUID.",
	"organizations/{id}":       anOrganization,
	"org/{orgId}":              anOrganization,
	"members/{userId}":         "The UUID of the member's account.",
	"api-keys/{keyId}":         "The key's number.",
	"enrolments/{enrolmentId}": "The enrolment's number.",
	"orders/{id}":              anOrder,
	"payments/{orderId}":       anOrder,
	"refunds/{id}":             "The refund's id: its order's, -r and a number.",
	"tickets/{id}":             aTicket,
	"tickets/{ticketId}":       aTicket,
	"attendees/{ticketId}":     aTicket,
	"promo-codes/{id}":         "The promo code's number.",
}

// whatItNames returns the description that named has for a parameter of a path, or nil if it has
// none.
func whatItNames(path, parameter string) *string {
	for place, text := range named {
		if strings.HasSuffix(place, "{"+parameter+"}") && strings.Contains(path, "/"+place) {
			return &text
		}
	}
	return nil
}

// tagTexts has the names and descriptions of the groups of operations, in the order in which the
// document lists them.
var tagTexts = []struct{ name, text string }{
	{"Auth", "Accounts of organizers and buyers, sessions and second factors."},
	{"Users", "The signed-in user's own account."},
	{"Organizations", "Organizations and their members."},
	{"API keys", "Credentials of programs, each of one organization and within scopes."},
	{"Wallets", "An organization's money, per currency."},
	{"Refunds", "Money that goes back: asked for by buyers, decided by organizations."},
	{"Organizer orders", "An organization's orders."},
	{"Promo codes", "Codes that take something off an order, and how buyers ask what one would."},
	{"Public events", "What everybody may read: events on sale and what is left of them."},
	{"Seats", "An event's seats: the map, what is taken, a live stream of it, and what a shopper holds."},
	{"Organizer events", "The making and the life of an organization's events."},
	{"Ticket types", "What an event sells."},
	{"Schedule", "The sessions of an event's schedule."},
	{"Sections", "The parts of an event's room, which ticket types may name."},
	{"Event pages", "How an event's page looks."},
	{"Media", "Files that organizations upload, and everybody or the buyers alone may read."},
	{"Venue maps", "Drawings of houses, published in versions by which events seat their guests."},
	{"Seating", "The seating of an event: its map, prices and blocks."},
	{"Buyers", "What buyers have: tickets, which they may pass on."},
	{"Attendees", "Who attends an organization's events, by their tickets."},
	{"Customers", "Who has bought or holds tickets of an organization, and what it writes down about them."},
	{"Growth", "How an organization tags and reaches its guests."},
	{"Analytics", "What events and organizations sell."},
	{"Orders and payments", "Buying: an order holds tickets until it is paid, cancelled or expired."},
	{"Waiting room", "The line before and during a rush: entries, places by a draw that anybody can check, and admissions."},
	{"Waitlist", "Waiting for sold-out tickets, and what comes free for those who wait."},
	{"Community", "What guests say of events, complain of and ask."},
	{"Check-in", "Gates: scans and counters."},
	{"Courses", "Online courses as their learners read them: lessons, progress, exam and certificate."},
	{"Webhooks", "What the world is told: sent to endpoints, or pulled from the feed."},
	{"Platform", "For administrators of the platform."},
	{"Operations", "The running of the service, for the platform's administrators."},
}

// listTags adds the groups that the table uses, in the order of tagTexts. A group that
// tagTexts does not describe comes at the end, without a text.
func (p *printer) listTags(ops []route.Op) {
	// missing has the groups that the operations use and that the document does not list yet.
	missing := map[string]bool{}
	for i := range ops {
		missing[ops[i].Tag] = true
	}
	for _, t := range tagTexts {
		if missing[t.name] {
			p.spec.Tags = append(p.spec.Tags, *(&openapi31.Tag{}).WithName(t.name).WithDescription(t.text))
			delete(missing, t.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		p.spec.Tags = append(p.spec.Tags, openapi31.Tag{Name: name})
	}
}

// limitsTable returns the table of rate limits in Markdown. It is made from route.Limits, from which the server
// takes its limits too, so the two cannot differ, unless the node scales its limits (BOXOFFICE_LIMITS_SCALE).
func limitsTable() string {
	var b strings.Builder
	b.WriteString("\n## Rate limits\n\n| Tier | Requests a minute | Counted per |\n|---|---|---|\n")
	for _, tier := range slices.Sorted(maps.Keys(route.Limits)) {
		limit := route.Limits[tier]
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", tier, limit.PerMinute, limit.CountedPer)
	}
	return b.String()
}

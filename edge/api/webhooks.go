package api

import (
	"time"

	"boxoffice/edge/route"
)

// CreateWebhook makes an endpoint: an address to which an organization's facts are sent.
type CreateWebhook struct {
	QueryOrg string   `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several; it may stand in the body instead."`
	OrgID    string   `json:"orgId" maxLength:"40" description:"The number of the organization that is told, if the caller acts for several."`
	URL      string   `json:"url" required:"true" maxLength:"2048" example:"https://hooks.example.org/boxoffice" description:"The address to send to: https on port 443 of a public host, in ASCII."`
	Events   []string `json:"events" required:"true" minItems:"1" maxItems:"64" maxLength:"40" example:"[\"order.completed\",\"ticket.created\"]" description:"The types to send, of GET /webhooks/catalog, or * alone for all of today and later."`
	Name     string   `json:"name" format:"name" maxLength:"120" example:"Bookkeeping" description:"What people call the endpoint."`
}

// ListWebhooks asks for an organization's endpoints.
type ListWebhooks struct {
	OrgID string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
}

// UpdateWebhook changes those fields of an endpoint that are sent.
type UpdateWebhook struct {
	ID     string              `path:"id" format:"id" maxLength:"128"`
	URL    route.Opt[string]   `json:"url,omitzero" maxLength:"2048" nullable:"false" description:"The address to send to: https on port 443 of a public host, in ASCII."`
	Events route.Opt[[]string] `json:"events,omitzero" minItems:"1" maxItems:"64" maxLength:"40" nullable:"false" description:"The types to send, instead of those before: of the catalogue, or * alone for all."`
	Name   route.Opt[string]   `json:"name,omitzero" format:"name" maxLength:"120" description:"What people call the endpoint; null clears it."`
	Status route.Opt[string]   `json:"status,omitzero" enum:"active,disabled" nullable:"false" description:"disabled sends nothing and cancels what waits; active begins anew with what happens from then on."`
}

// Webhook is an endpoint of an organization, without its signing secret.
type Webhook struct {
	ID             string    `json:"id" description:"The endpoint's number."`
	OrganizationID string    `json:"organizationId" description:"The number of the organization that is told."`
	URL            string    `json:"url" example:"https://hooks.example.org/boxoffice" description:"The address that is sent to."`
	Events         []string  `json:"events" example:"[\"order.completed\",\"ticket.created\"]" description:"The types that are sent, or * alone for all."`
	Name           *string   `json:"name" description:"What people call it; null without a name."`
	Status         string    `json:"status" enum:"active,disabled" description:"disabled is sent nothing until somebody sets it to active."`
	DisabledReason *string   `json:"disabledReason" enum:"gone,exhausted" description:"Why the service disabled it: gone, it answered 410; exhausted, three deliveries in a row used up their attempts; null if it did not."`
	SecretHint     string    `json:"secretHint" example:"whsec_3kQ9…" description:"The first letters of the signing secret, to tell which one it is."`
	CreatedAt      time.Time `json:"createdAt" description:"When it was made."`
	UpdatedAt      time.Time `json:"updatedAt" description:"When it was changed last."`
}

// WebhookSecret is an endpoint with its signing secret. Only the answers that make an endpoint or rotate its
// secret have this type.
type WebhookSecret struct {
	Webhook
	Secret string `json:"secret" description:"The key of the signatures, whsec_ included; no other answer shows it."`
}

// ListWebhookDeliveries asks for the deliveries of an endpoint, the newest first, also those that are still
// to be sent.
type ListWebhookDeliveries struct {
	ID string `path:"id" format:"id" maxLength:"128"`
	Page
}

// SentWebhook is a delivery with the body that is sent and all attempts to send it.
type SentWebhook struct {
	WebhookDelivery
	Payload JSON             `json:"payload" format:"object" description:"The body that is sent; an empty object if the fact is not kept any more."`
	Tries   []WebhookAttempt `json:"tries" description:"The attempts, the first one first."`
}

// WebhookAttempt is one attempt to send a delivery, and how the endpoint answered.
type WebhookAttempt struct {
	Number         int       `json:"number" example:"1" description:"1 is the first."`
	At             time.Time `json:"at" description:"When it was made."`
	ResponseStatus *int      `json:"responseStatus" example:"503" description:"The HTTP status of the answer; null if there was none."`
	LatencyMS      int       `json:"latencyMs" example:"84" description:"How many milliseconds it took."`
	Error          *string   `json:"error" description:"What was wrong; null if nothing was."`
	Answer         *string   `json:"answer" description:"The beginning of the answer's body on one line, at most 1 KiB, or 128 bytes if the event was taken; null if it was empty."`
}

// WebhookDelivery is one fact on its way to one endpoint, with the result of the last attempt.
type WebhookDelivery struct {
	ID             string    `json:"id" example:"4711" description:"The delivery's number, which is sent as X-Service-Delivery."`
	WebhookID      string    `json:"webhookId" description:"The number of the endpoint."`
	EventID        string    `json:"eventId" example:"evt_5t8w0n3x2q6k9m1j4h7g0f2d8s" description:"The id in what is sent; a replay has the same."`
	EventType      string    `json:"eventType" example:"order.completed" description:"The type in the catalogue, or webhook.test."`
	Status         string    `json:"status" enum:"pending,succeeded,failed,exhausted,cancelled" description:"pending waits for its first attempt, failed for the next; succeeded got 2xx; exhausted failed for the last time; cancelled will not be sent."`
	Attempts       int       `json:"attempts" description:"How often it was tried, 12 times at most."`
	RetryCount     int       `json:"retryCount" description:"How many of the attempts came after the first."`
	ResponseStatus *int      `json:"responseStatus" example:"200" description:"The HTTP status that the endpoint answered last; null if it did not answer."`
	LatencyMS      *int      `json:"latencyMs" example:"84" description:"How many milliseconds the last attempt took; null before the first."`
	Error          *string   `json:"error" description:"What was wrong with the last attempt, with the beginning of the answer; null if nothing was."`
	ReplayOf       *string   `json:"replayOf" description:"The number of the delivery that this one repeats; null if it is the first."`
	AttemptedAt    Time      `json:"attemptedAt" description:"When the last attempt was made; null before the first."`
	NextAttemptAt  Time      `json:"nextAttemptAt" description:"When it is tried again; null before the first attempt and when there is no further one."`
	CreatedAt      time.Time `json:"createdAt" description:"When it was queued."`
}

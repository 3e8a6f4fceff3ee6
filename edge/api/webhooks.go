package api

import (
	"time"

	"boxoffice/edge/route"
)

// CreateWebhook makes an endpoint of an organization.
type CreateWebhook struct {
	QueryOrg string   `query:"orgId" maxLength:"40"`
	OrgID    string   `json:"orgId" maxLength:"40" description:"of a user who belongs to several organizations"`
	URL      string   `json:"url" required:"true" maxLength:"2048" example:"https://hooks.example.org/boxoffice" description:"https on port 443 of a public host; in ASCII"`
	Events   []string `json:"events" required:"true" minItems:"1" maxItems:"64" maxLength:"40" example:"[\"order.completed\",\"ticket.created\"]" description:"types of the catalogue, or * alone for all"`
	Name     string   `json:"name" maxLength:"120" example:"Bookkeeping"`
}

// ListWebhooks asks for an organization's endpoints.
type ListWebhooks struct {
	OrgID string `query:"orgId" maxLength:"40"`
}

// UpdateWebhook changes the fields that are sent.
type UpdateWebhook struct {
	ID     string              `path:"id" format:"id" maxLength:"128"`
	URL    route.Opt[string]   `json:"url,omitzero" maxLength:"2048" nullable:"false" description:"https on port 443 of a public host; in ASCII"`
	Events route.Opt[[]string] `json:"events,omitzero" minItems:"1" maxItems:"64" maxLength:"40" nullable:"false" description:"replaces them: types of the catalogue, or * alone for all"`
	Name   route.Opt[string]   `json:"name,omitzero" maxLength:"120"`
	Status route.Opt[string]   `json:"status,omitzero" enum:"active,disabled" nullable:"false" description:"a disabled endpoint is sent nothing, and what waited for it is cancelled; active begins anew with what happens from now on"`
}

// Webhook is an endpoint.
type Webhook struct {
	ID             string    `json:"id" description:"numeric"`
	OrganizationID string    `json:"organizationId" description:"numeric"`
	URL            string    `json:"url"`
	Events         []string  `json:"events" description:"types of the catalogue, or * alone"`
	Name           *string   `json:"name"`
	Status         string    `json:"status" enum:"active,disabled"`
	DisabledReason *string   `json:"disabledReason" enum:"gone,exhausted" description:"why the service disabled it: it answered 410, or three deliveries in a row used up their attempts; null: it did not"`
	SecretHint     string    `json:"secretHint" description:"the signing secret, masked"`
	CreatedAt      time.Time `json:"createdAt"`
	UpdatedAt      time.Time `json:"updatedAt"`
}

// WebhookSecret is an endpoint at the one moment at which its signing secret is
// shown.
type WebhookSecret struct {
	Webhook
	Secret string `json:"secret" description:"signs what is sent; it cannot be shown again"`
}

// ListWebhookDeliveries asks for what an endpoint was and will be sent, the newest
// first.
type ListWebhookDeliveries struct {
	ID string `path:"id" format:"id" maxLength:"128"`
	Page
}

// WebhookDelivery is one event on its way to one endpoint, with what came of the
// last attempt.
type WebhookDelivery struct {
	ID             string    `json:"id" description:"numeric; X-Service-Delivery of what is sent"`
	WebhookID      string    `json:"webhookId"`
	EventID        string    `json:"eventId" description:"the id in what is sent; a replay keeps it"`
	EventType      string    `json:"eventType" description:"of the catalogue, or webhook.test"`
	Status         string    `json:"status" enum:"pending,succeeded,failed,exhausted,cancelled" description:"pending: not sent yet; failed: will be sent again; exhausted: failed for the last time; cancelled: will not be sent"`
	Attempts       int       `json:"attempts"`
	RetryCount     int       `json:"retryCount" description:"attempts after the first"`
	ResponseStatus *int      `json:"responseStatus" description:"HTTP; null: no answer"`
	LatencyMS      *int      `json:"latencyMs"`
	Error          *string   `json:"error" description:"what was wrong, with the beginning of the answer"`
	ReplayOf       *string   `json:"replayOf" description:"the delivery that this one repeats"`
	AttemptedAt    Time      `json:"attemptedAt"`
	NextAttemptAt  Time      `json:"nextAttemptAt"`
	CreatedAt      time.Time `json:"createdAt"`
}

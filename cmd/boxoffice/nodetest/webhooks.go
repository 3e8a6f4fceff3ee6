package nodetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/deliveries"
)

// WebhooksPath is the path at which organizers manage webhook endpoints.
const WebhooksPath = "/webhooks"

// Silent is an address where nobody listens.
const Silent = "http://127.0.0.1:1/hook"

// WebhookBody returns the body of a request that makes an endpoint where nobody listens.
func WebhookBody() Object { return Object{"url": Silent, "events": []string{"event.completed"}} }

// Webhook makes an endpoint in the organizer's only organization.
func (s *Shop) Webhook() string {
	s.T.Helper()
	s.RoomForWebhooks()
	return s.Own("POST", WebhooksPath, WebhookBody()).Is(201, "").Str("id")
}

// RoomForWebhooks deletes the second-oldest endpoint if the organization has as many as it may
// have.
func (s *Shop) RoomForWebhooks() {
	s.T.Helper()
	all := s.Own("GET", WebhooksPath, nil).Is(200, "")
	if n := len(all.Data("items").([]any)); n >= deliveries.MaxPerOrg {
		s.Own("DELETE", WebhooksPath+"/"+all.Str(fmt.Sprintf("items.%d.id", n-2)), nil).Is(200, "")
	}
}

// Sent makes a test delivery to an endpoint and marks it as succeeded in the table.
func (s *Shop) Sent(endpoint string) (delivery string) {
	s.T.Helper()
	delivery = s.Own("POST", WebhooksPath+"/"+endpoint+"/test", nil).Is(202, "").Str("id")
	_, err := s.Pool().Exec(s.T.Context(), `UPDATE webhook_deliveries SET status = 'succeeded', due = NULL WHERE id = $1`, delivery)
	require.NoError(s.T, err)
	return delivery
}

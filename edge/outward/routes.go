package outward

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes are the area's rows.
func (h *Handlers) Routes() []route.Op {
	return []route.Op{
		{Method: "GET", Path: "/api/v1/organizer/facts", ID: "listFacts", Tag: "Webhooks", Summary: "Read the facts after a place in the feed", Auth: own, Scope: route.WebhooksManage, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.listFacts)},
		{Method: "GET", Path: "/api/v1/webhooks/catalog", ID: "listFactTypes", Tag: "Webhooks", Summary: "List the types of facts", Auth: route.Public, Tier: route.TierPublic, Status: 200, Errors: codes{}, Handler: route.Handle(h.listFactTypes)},
		{Method: "POST", Path: "/api/v1/webhooks", ID: "createWebhook", Tag: "Webhooks", Summary: "Make a webhook endpoint", Auth: own, Scope: route.WebhooksManage, Tier: route.TierStrict, Idempotency: route.Replay, Status: 201, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(h.createWebhook)},
		{Method: "GET", Path: "/api/v1/webhooks", ID: "listWebhooks", Tag: "Webhooks", Summary: "List an organization's webhook endpoints", Auth: own, Scope: route.WebhooksManage, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.listWebhooks)},
		{Method: "PUT", Path: "/api/v1/webhooks/{id}", ID: "updateWebhook", Tag: "Webhooks", Summary: "Change a webhook endpoint", Auth: own, Scope: route.WebhooksManage, Tier: route.TierStrict, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.updateWebhook)},
		{Method: "DELETE", Path: "/api/v1/webhooks/{id}", ID: "deleteWebhook", Tag: "Webhooks", Summary: "Delete a webhook endpoint", Auth: own, Scope: route.WebhooksManage, Tier: route.TierStrict, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.deleteWebhook)},
		{Method: "POST", Path: "/api/v1/webhooks/{id}/test", ID: "testWebhook", Tag: "Webhooks", Summary: "Send a webhook endpoint a test", Auth: own, Scope: route.WebhooksManage, Tier: route.TierStrict, Idempotency: route.Replay, Status: 202, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(h.testWebhook)},
		{Method: "POST", Path: "/api/v1/webhooks/{id}/rotate-secret", ID: "rotateWebhookSecret", Tag: "Webhooks", Summary: "Replace the signing secret of a webhook endpoint", Auth: own, Scope: route.WebhooksManage, Tier: route.TierStrict, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.rotateWebhookSecret)},
		{Method: "GET", Path: "/api/v1/webhooks/{id}/deliveries", ID: "listWebhookDeliveries", Tag: "Webhooks", Summary: "List what a webhook endpoint was and will be sent", Auth: own, Scope: route.WebhooksManage, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.listWebhookDeliveries)},
		{Method: "POST", Path: "/api/v1/webhooks/deliveries/{id}/replay", ID: "replayWebhookDelivery", Tag: "Webhooks", Summary: "Send an event to a webhook endpoint once more", Auth: own, Scope: route.WebhooksManage, Tier: route.TierStrict, Idempotency: route.Replay, Status: 202, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(h.replayWebhookDelivery)},
	}
}

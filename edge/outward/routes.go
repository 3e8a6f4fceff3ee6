package outward

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes returns the area's rows: the feed of public facts and the webhook endpoints of an organization, and the
// catalogue of facts for everybody.
func (h *Handlers) Routes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1",
			Tag:    "Webhooks",
			Auth:   own,
			Read:   route.WebhooksManage,
			Write:  route.WebhooksManage,
			Tier:   route.TierStrict,
			Errors: codes{engine.NotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					Path:        "/organizer/facts",
					ID:          "listFacts",
					Summary:     "Read the facts after a place in the feed",
					Description: "A program that would rather ask than be sent reads what webhooks tell, the oldest first, and goes on from the cursor of each answer. Facts are kept for 30 days; a cursor that is older than that is refused, since some would be missed.",
					Tier:        route.TierAdmin,
					Handler:     route.Handle(h.listFacts),
				},
				{
					Method:      "POST",
					Path:        "/webhooks",
					ID:          "createWebhook",
					Summary:     "Make a webhook endpoint",
					Description: "The organization names an address to which facts of some types are sent, signed, from now on. The signing secret is in this answer alone, and an organization has 50 endpoints at most.",
					Status:      201,
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.createWebhook),
				},
				{
					Method:      "GET",
					Path:        "/webhooks",
					ID:          "listWebhooks",
					Summary:     "List an organization's webhook endpoints",
					Description: "The organization reads all of its endpoints on one page, with those that the service has disabled and why. Signing secrets are not shown.",
					Tier:        route.TierAdmin,
					Handler:     route.Handle(h.listWebhooks),
				},
				{
					Method:      "PUT",
					Path:        "/webhooks/{id}",
					ID:          "updateWebhook",
					Summary:     "Change a webhook endpoint",
					Description: "The organization changes the fields that it sends; events replaces the types before. An endpoint that was disabled, by anybody, is sent again only what happens after it is set to active.",
					Handler:     route.Handle(h.updateWebhook),
				},
				{
					Method:      "DELETE",
					Path:        "/webhooks/{id}",
					ID:          "deleteWebhook",
					Summary:     "Delete a webhook endpoint",
					Description: "The organization ends an endpoint and its secret; the answer is the endpoint as it was. What waits for it is cancelled, an attempt that is on its way may still arrive.",
					Handler:     route.Handle(h.deleteWebhook),
				},
				{
					Method:      "POST",
					Path:        "/webhooks/{id}/test",
					ID:          "testWebhook",
					Summary:     "Send a webhook endpoint a test",
					Description: "The organization queues an event of the type webhook.test for an endpoint, to see that it arrives and that its signature is checked. What came of it stands in the endpoint's deliveries; a disabled endpoint is 409 CONFLICT.",
					Status:      202,
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.testWebhook),
				},
				{
					Method:      "POST",
					Path:        "/webhooks/{id}/rotate-secret",
					ID:          "rotateWebhookSecret",
					Summary:     "Replace the signing secret of a webhook endpoint",
					Description: "The organization draws another signing secret, which this answer alone shows. The old one signs nothing from then on, within a second on all nodes: a receiver that takes both for a moment misses nothing.",
					Handler:     route.Handle(h.rotateWebhookSecret),
				},
				{
					Method:      "GET",
					Path:        "/webhooks/{id}/deliveries",
					ID:          "listWebhookDeliveries",
					Summary:     "List what a webhook endpoint was and will be sent",
					Description: "The organization reads what an endpoint was and will be sent, the newest first, each with the last attempt's outcome. Deliveries are kept for 30 days.",
					Tier:        route.TierAdmin,
					Handler:     route.Handle(h.listWebhookDeliveries),
				},
				{
					Method:      "GET",
					Path:        "/webhooks/deliveries/{id}",
					ID:          "getWebhookDelivery",
					Summary:     "Read what was sent to a webhook endpoint",
					Description: "The organization looks into a delivery that went wrong: the body that is sent, and of each attempt when it was made, the status and the beginning of the answer. Deliveries are kept for 30 days.",
					Tier:        route.TierAdmin,
					Handler:     route.Handle(h.getWebhookDelivery),
				},
				{
					Method:      "POST",
					Path:        "/webhooks/deliveries/{id}/replay",
					ID:          "replayWebhookDelivery",
					Summary:     "Send an event to a webhook endpoint once more",
					Description: "The organization sends an event once more, as a new delivery with all its attempts and the same event id. One that still waits for its first attempt, an event that is no longer kept and a disabled endpoint are 409 CONFLICT.",
					Status:      202,
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.replayWebhookDelivery),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/webhooks/catalog",
			Tag:    "Webhooks",
			Auth:   route.Public,
			Tier:   route.TierPublic,
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listFactTypes",
					Summary:     "List the types of facts",
					Description: "Everybody may read what can be told: each type, when it is told and what its data has. The list is whole, on one page.",
					Handler:     route.Handle(h.listFactTypes),
				},
			},
		},
	)
}

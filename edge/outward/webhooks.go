package outward

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/edge/webhook"
	"boxoffice/engine"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/mailqueue"
)

var (
	noWebhook  = &engine.Refusal{Code: engine.NotFound, Message: "No such webhook endpoint."}
	noDelivery = &engine.Refusal{Code: engine.NotFound, Message: "No such webhook delivery."}
)

// createWebhook makes an endpoint. Only this answer shows the signing secret, which the table
// stores encrypted. A repeat with the same Idempotency-Key makes no second endpoint, because the
// store recognizes the command's id, but it gives the endpoint another secret.
func (h *Handlers) createWebhook(c *route.Call, in *api.CreateWebhook) (*api.WebhookSecret, error) {
	org, err := route.FindOrganization(c, in.OrgID, in.QueryOrg)
	if err != nil {
		return nil, err
	}
	// All issues are collected, so that the refusal names every field that is wrong.
	events, issues := readSubscriptions(in.Events)
	if issues = append(issues, h.checkTarget(in.URL)...); len(issues) > 0 {
		return nil, route.Invalid(issues...)
	}
	secret, hint := secrets.NewWebhookSecret()
	e, err := h.Endpoints.Create(c.Context, c.CommandID(), &deliveries.Endpoint{
		Org: org, URL: in.URL, Events: events, Name: in.Name, Secret: webhook.SealSecret(h.Secrets, org, secret), Hint: hint,
	})
	if err != nil {
		return nil, beyondWebhooks(err)
	}
	return &api.WebhookSecret{Webhook: *webhookView(e), Secret: secret}, nil
}

// listWebhooks shows all endpoints of an organization, without their secrets. They are so few that
// the list has no pages.
func (h *Handlers) listWebhooks(c *route.Call, in *api.ListWebhooks) (*api.List[*api.Webhook], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	all, err := h.Endpoints.List(c.Context, org) // at most deliveries.MaxPerOrg
	if err != nil {
		return nil, err
	}
	out := &api.List[*api.Webhook]{Items: make([]*api.Webhook, len(all))}
	for i, e := range all {
		out.Items[i] = webhookView(e)
	}
	return out, nil
}

// updateWebhook changes the fields that the request names. It checks everything before it changes
// anything.
func (h *Handlers) updateWebhook(c *route.Call, in *api.UpdateWebhook) (*api.Webhook, error) {
	e, err := h.ownWebhook(c, in.ID)
	if err != nil {
		return nil, err
	}
	var events []string
	var issues []route.Issue
	if in.Events.Set {
		events, issues = readSubscriptions(in.Events.Value)
	}
	if in.URL.Set {
		issues = append(issues, h.checkTarget(in.URL.Value)...)
	}
	if len(issues) > 0 {
		return nil, route.Invalid(issues...)
	}
	return webhookChanged(h.Endpoints.Update(c.Context, e.ID, func(e *deliveries.Endpoint) {
		in.URL.Into(&e.URL)
		in.Name.Into(&e.Name)
		in.Status.Into(&e.Status)
		if in.Events.Set {
			e.Events = events
		}
	}))
}

// deleteWebhook deletes an endpoint with its secret, and answers with the endpoint as it was.
func (h *Handlers) deleteWebhook(c *route.Call, in *api.ByID) (*api.Webhook, error) {
	e, err := h.ownWebhook(c, in.ID)
	if err != nil {
		return nil, err
	}
	return webhookChanged(h.Endpoints.Delete(c.Context, e.ID))
}

// rotateWebhookSecret gives an endpoint another secret, which only this answer shows. The old secret signs
// nothing any more, on all nodes within a second.
func (h *Handlers) rotateWebhookSecret(c *route.Call, in *api.ByID) (*api.WebhookSecret, error) {
	e, err := h.ownWebhook(c, in.ID)
	if err != nil {
		return nil, err
	}
	secret, hint := secrets.NewWebhookSecret()
	v, err := webhookChanged(h.Endpoints.Rotate(c.Context, e.ID, webhook.SealSecret(h.Secrets, e.Org, secret), hint))
	if err != nil {
		return nil, err
	}
	return &api.WebhookSecret{Webhook: *v, Secret: secret}, nil
}

// testWebhook queues a test for an endpoint. It answers with the delivery, which has not been sent
// yet.
func (h *Handlers) testWebhook(c *route.Call, in *api.ByID) (*api.WebhookDelivery, error) {
	e, err := h.ownWebhook(c, in.ID)
	if err != nil {
		return nil, err
	}
	return deliveryAdded(h.Endpoints.Test(c.Context, e.ID))
}

// listWebhookDeliveries returns a page of all deliveries of an endpoint, sent and still to
// be sent, the newest first.
func (h *Handlers) listWebhookDeliveries(c *route.Call, in *api.ListWebhookDeliveries) (*api.List[*api.WebhookDelivery], error) {
	e, err := h.ownWebhook(c, in.ID)
	if err != nil {
		return nil, err
	}
	return view.ListByNumber(in.Cursor, in.Limit, func(before int64, limit int) ([]*deliveries.Delivery, error) {
		return h.Endpoints.Deliveries(c.Context, e.ID, before, limit)
	}, func(d *deliveries.Delivery) int64 { return d.ID }, deliveryView)
}

// replayWebhookDelivery queues the same fact once more, as a new delivery. The endpoint recognizes
// the repeat by the fact's id.
func (h *Handlers) replayWebhookDelivery(c *route.Call, in *api.ByID) (*api.WebhookDelivery, error) {
	v, err := h.ownDelivery(c, in.ID)
	if err != nil {
		return nil, err
	}
	return deliveryAdded(h.Endpoints.Replay(c.Context, v))
}

// getWebhookDelivery shows one delivery with its attempts and its body. A body that is not kept any
// longer is shown as {}.
func (h *Handlers) getWebhookDelivery(c *route.Call, in *api.ByID) (*api.SentWebhook, error) {
	v, err := h.ownDelivery(c, in.ID)
	if err != nil {
		return nil, err
	}
	sent, tries, err := h.Endpoints.Sent(c.Context, v.ID)
	if err != nil {
		return nil, err
	}
	if sent == nil { // the delivery was deleted in the meantime because it was too old
		return nil, noDelivery
	}
	out := &api.SentWebhook{WebhookDelivery: *deliveryView(v), Payload: api.JSON(`{}`), Tries: make([]api.WebhookAttempt, len(tries))}
	for i := range tries {
		t := &tries[i]
		out.Tries[i] = api.WebhookAttempt{
			Number: t.Number, At: t.At.UTC(), ResponseStatus: t.ResponseStatus, LatencyMS: t.LatencyMS, Error: view.Optional(t.Error), Answer: view.Optional(t.Answer),
		}
	}
	if !sent.Missing {
		out.Payload, err = webhook.SentBody(h.Secrets, v.Endpoint, sent)
	}
	return out, err
}

// ownDelivery finds the delivery that a path names. The caller must be allowed to do the
// operation for the delivery's endpoint, by the rules of ownWebhook. A delivery of another
// organization is answered as missing.
func (h *Handlers) ownDelivery(c *route.Call, text string) (*deliveries.Delivery, error) {
	id, ok := route.ReadNumber(text)
	if !ok {
		return nil, noDelivery
	}
	v, err := h.Endpoints.Delivery(c.Context, id)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, noDelivery
	}
	if _, err := h.ownWebhook(c, strconv.FormatInt(v.Endpoint, 10)); err != nil {
		// The request names a delivery, so the refusal is the one for a missing delivery.
		if errors.Is(err, noWebhook) {
			err = noDelivery
		}
		return nil, err
	}
	return v, nil
}

// ownWebhook finds the endpoint that a path names. It makes sure that the endpoint belongs to the
// caller's organization, and that the caller may do the operation there. An endpoint of another
// organization is answered as missing.
func (h *Handlers) ownWebhook(c *route.Call, text string) (*deliveries.Endpoint, error) {
	id, ok := route.ReadNumber(text)
	if !ok {
		return nil, noWebhook
	}
	e, err := h.Endpoints.Get(c.Context, id)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, noWebhook
	}
	g, ok := c.Principal.Grant(e.Org)
	if !ok {
		return nil, noWebhook
	}
	return e, route.ActFor(c, g)
}

// checkTarget returns an issue if an endpoint's address may not be called. The address is checked
// again at each delivery attempt; this check only tells the organizer early.
func (h *Handlers) checkTarget(text string) []route.Issue {
	if why := h.Targets.Refuses(text); why != "" {
		return []route.Issue{{Path: "url", Code: route.IssueFormat, Message: why}}
	}
	return nil
}

// readSubscriptions returns the types that a request names, each once, and an issue for
// every name that is no type. The name "*" stands for all types, so it is allowed only
// alone.
func readSubscriptions(names []string) (events []string, issues []route.Issue) {
	for i, name := range names {
		_, known := webhook.Find(name)
		switch {
		case !known && (name != deliveries.All || len(names) > 1):
			issues = append(issues, route.Issue{
				Path: fmt.Sprintf("events[%d]", i), Code: route.IssueEnum, Message: "is not a type of the catalogue, nor * alone",
			})
		case !slices.Contains(events, name):
			events = append(events, name)
		}
	}
	return events, issues
}

// webhookChanged turns what the store returned for a change into the answer. A nil endpoint means
// that there is none.
func webhookChanged(e *deliveries.Endpoint, err error) (*api.Webhook, error) {
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, noWebhook
	}
	return webhookView(e), nil
}

// deliveryAdded turns what the store returned for a new delivery into the answer. A nil delivery
// means that its endpoint is gone.
func deliveryAdded(v *deliveries.Delivery, err error) (*api.WebhookDelivery, error) {
	if err != nil {
		return nil, beyondWebhooks(err)
	}
	if v == nil {
		return nil, noWebhook
	}
	return deliveryView(v), nil
}

// beyondWebhooks turns the store's own errors into the refusal CONFLICT with a sentence for the
// organizer. It passes other errors on.
func beyondWebhooks(err error) error {
	for refused, message := range map[error]string{
		deliveries.ErrTooMany:  fmt.Sprintf("An organization has at most %d webhook endpoints; delete one that you do not need.", deliveries.MaxPerOrg),
		deliveries.ErrGone:     "The webhook endpoint that this request made has been deleted.",
		deliveries.ErrDisabled: "The webhook endpoint is disabled; set its status to active first.",
		deliveries.ErrPending:  "The delivery is about to be sent for the first time.",
		deliveries.ErrTooOld:   "The event is too old: it is not kept any more.",
	} {
		if errors.Is(err, refused) {
			return &engine.Refusal{Code: engine.Conflict, Message: message}
		}
	}
	return err
}

// WebhookDisabled mails the owners of an endpoint's organization that the service has disabled the
// endpoint. A job calls it some time after that. If the endpoint is active again or deleted by
// then, it mails nobody.
func (h *Handlers) WebhookDisabled(ctx context.Context, endpoint int64) error {
	e, err := h.Endpoints.Get(ctx, endpoint)
	if err != nil || e == nil || e.Reason == "" {
		return err
	}
	o, err := h.Accounts.Organization(ctx, e.Org)
	if err != nil || o == nil {
		return err
	}
	owners, err := h.Accounts.Owners(ctx, e.Org)
	if err != nil {
		return err
	}
	// For an endpoint without a name, the mail has the host of its address instead.
	name := e.Name
	if u, err := url.Parse(e.URL); name == "" && err == nil {
		name = u.Hostname()
	}
	for i := range owners {
		l := mailqueue.Mail{
			Template: mailqueue.WebhookDisabled, To: owners[i].Email, Name: owners[i].Name,
			Org: o.ID, Organization: o.Name, Webhook: e.ID, Endpoint: name, Gone: e.Reason == deliveries.ReasonGone,
		}
		l.Subject = fmt.Sprintf("%d/%d/%s", e.ID, e.UpdatedAt.UnixMicro(), l.To) // the queue sends one mail for each subject, even if this job is repeated
		if err := h.Mail.Add(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// webhookView shows an endpoint without its secret. The hint is the part of the secret by
// which its owner recognizes it.
func webhookView(e *deliveries.Endpoint) *api.Webhook {
	return &api.Webhook{
		ID: strconv.FormatInt(e.ID, 10), OrganizationID: strconv.FormatInt(e.Org, 10), URL: e.URL, Events: e.Events, Name: view.Optional(e.Name),
		Status: e.Status, DisabledReason: view.Optional(e.Reason), SecretHint: e.Hint + "…", CreatedAt: e.CreatedAt.UTC(), UpdatedAt: e.UpdatedAt.UTC(),
	}
}

// deliveryView shows a delivery with the result of its last attempt.
func deliveryView(v *deliveries.Delivery) *api.WebhookDelivery {
	out := &api.WebhookDelivery{
		ID: strconv.FormatInt(v.ID, 10), WebhookID: strconv.FormatInt(v.Endpoint, 10), EventID: v.EventID, EventType: v.Type, Status: v.Status,
		Attempts: v.Attempts, RetryCount: max(0, v.Attempts-1), ResponseStatus: v.ResponseStatus, LatencyMS: v.LatencyMS, Error: view.Optional(v.Error),
		AttemptedAt: view.UTC(v.AttemptedAt), NextAttemptAt: view.UTC(v.Due), CreatedAt: v.CreatedAt.UTC(),
	}
	if v.ReplayOf != nil {
		of := strconv.FormatInt(*v.ReplayOf, 10)
		out.ReplayOf = &of
	}
	return out
}

package sales

import (
	"context"

	"boxoffice/edge/api"
	"boxoffice/edge/payments/psp"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/persistence/disputes"
	"boxoffice/persistence/mailqueue"
)

// noteDisputes asks the provider for the disputes that a notice may be about, and stores them. It changes no order,
// because the provider takes the money from the account there, and the organizer answers the dispute there.
func (h *Handlers) noteDisputes(ctx context.Context, provider, id string) error {
	gateway, err := h.Gateways.Choose(provider)
	if err != nil {
		return err
	}
	told, err := gateway.ListDisputes(ctx, id)
	if err != nil {
		return err
	}
	for i := range told {
		if err := h.noteDispute(ctx, provider, &told[i]); err != nil {
			return err
		}
	}
	return nil
}

// noteDispute stores one dispute, with the letters to the organization's owners that a new one causes. It
// ignores a dispute of a payment that is not ours.
func (h *Handlers) noteDispute(ctx context.Context, provider string, told *psp.Dispute) error {
	p, err := h.findAttempt(ctx, provider, told.Reference)
	if err != nil || p == nil {
		return err
	}
	k, err := h.Known.Find(ctx, p.Order.Event())
	if err != nil {
		return err
	}
	d := disputes.Dispute{
		Provider: provider, ID: told.ID, Org: k.Org, Order: p.Order, Attempt: p.Reference, Amount: told.Amount, Currency: told.Currency,
		Reason: told.Reason, Status: string(told.Status), OpenedAt: told.OpenedAt, DueBy: told.DueBy, ClosedAt: told.ClosedAt,
	}
	letters, err := h.addressOwners(ctx, &d)
	if err != nil {
		return err
	}
	return h.Disputes.Note(ctx, &d, letters...)
}

// addressOwners makes a letter about a dispute for each owner of the organization, and none if the organization is gone.
func (h *Handlers) addressOwners(ctx context.Context, d *disputes.Dispute) ([]mailqueue.Mail, error) {
	o, err := h.Accounts.Organization(ctx, d.Org)
	if err != nil || o == nil {
		return nil, err
	}
	owners, err := h.Accounts.Owners(ctx, d.Org)
	if err != nil {
		return nil, err
	}
	letters := make([]mailqueue.Mail, len(owners))
	for i := range owners {
		letters[i] = mailqueue.Mail{
			Template: mailqueue.PaymentDisputed, Subject: d.Provider + "/" + d.ID + "/" + owners[i].Email, To: owners[i].Email, Name: owners[i].Name,
			Org: o.ID, Organization: o.Name, Order: d.Order.String(), Provider: d.Provider, Amount: d.Amount, Currency: d.Currency, Reason: d.Reason,
		}
		if !d.DueBy.IsZero() {
			letters[i].Until = d.DueBy.UnixMilli()
		}
	}
	return letters, nil
}

// listDisputes returns a page of an organization's disputes, the last that was heard of first.
func (h *Handlers) listDisputes(c *route.Call, in *api.ListDisputes) (*api.List[api.Dispute], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	return view.ListByNumber(in.Cursor, in.Limit, func(before int64, limit int) ([]disputes.Dispute, error) {
		return h.Disputes.List(c.Context, org, before, limit)
	}, func(d disputes.Dispute) int64 { return d.Seq }, func(d disputes.Dispute) api.Dispute { return disputeView(&d) })
}

// disputeView shows a dispute. It leaves out DueBy or ClosedAt if the dispute has no such time.
func disputeView(d *disputes.Dispute) api.Dispute {
	v := api.Dispute{
		ID: d.ID, Provider: d.Provider, OrderID: d.Order.String(), Reference: d.Attempt, Amount: view.Decimal(d.Amount, d.Currency), Currency: d.Currency,
		Reason: d.Reason, Status: d.Status, OpenedAt: view.UTC(&d.OpenedAt),
	}
	if !d.DueBy.IsZero() {
		v.DueBy = view.UTC(&d.DueBy)
	}
	if !d.ClosedAt.IsZero() {
		v.ClosedAt = view.UTC(&d.ClosedAt)
	}
	return v
}

// disputeGroups are the rows about disputed payments.
func (h *Handlers) disputeGroups() []route.Group {
	return []route.Group{{
		Prefix: "/api/v1/organizer/disputes",
		Tag:    "Refunds",
		Auth:   own,
		Read:   route.OrdersRead,
		Tier:   route.TierAdmin,
		Errors: codes{engine.NotFound},
		Rows: []route.Op{
			{
				Method:      "GET",
				ID:          "listDisputes",
				Summary:     "List payments that buyers have their bank take back",
				Description: "Disputes of Stripe and PayPal and chargebacks of Mollie, the last that was heard of first. They are decided at the provider: orders, tickets and wallets stay as they are.",
				Handler:     route.Handle(h.listDisputes),
			},
		},
	}}
}

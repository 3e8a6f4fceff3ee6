package sales

import (
	"slices"

	"boxoffice/edge/api"
	"boxoffice/edge/payments"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// makePaymentLink answers with the link with which somebody else can pay an order. It stores nothing, because the
// link's token is derived from the order. It refuses for an order that cannot be paid now (ledger.Payable).
func (h *Handlers) makePaymentLink(c *route.Call, in *api.MakePaymentLink) (*api.PaymentLink, error) {
	o, _, err := h.Orders.Open(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	if r := ledger.Payable(o); r != nil {
		return nil, r
	}
	return &api.PaymentLink{URL: h.payPage(h.Secrets.PaymentLinkToken(o.ID)), ExpiresAt: api.At(o.ExpiresAt)}, nil
}

// payPage returns the address of a payment link's page. The provider learns the address, because it leads the payer
// back there. That does no harm: with the link, people can only see what is paid, and pay.
func (h *Handlers) payPage(token string) string { return h.BaseURL + "/pay/" + token }

// getPaymentLink shows a payer the order of a payment link.
func (h *Handlers) getPaymentLink(c *route.Call, in *api.GetPaymentLink) (*api.LinkedOrder, error) {
	o, err := h.openLink(c, in.Token)
	if err != nil {
		return nil, err
	}
	return h.showLinked(c, o)
}

// payByLink opens an attempt to pay the order of a payment link, or goes on with the payer's open one.
func (h *Handlers) payByLink(c *route.Call, in *api.PayByLink) (*api.LinkedOrder, error) {
	o, err := h.openLink(c, in.Token)
	if err != nil {
		return nil, err
	}
	if r := ledger.Payable(o); r != nil {
		return nil, r
	}
	o, _, err = h.openPayment(c, o, &paying{
		provider: in.Provider, payCurrency: in.PayCurrency, email: in.Email, back: h.payPage(in.Token), byLink: true,
	})
	if err != nil {
		return nil, err
	}
	return h.showLinked(c, o)
}

// verifyByLink asks the providers about the attempts of a payment link's order that its payer may go on with
// (attemptsOfPayer), if the order is not paid yet, and shows the order. A provider that cannot be asked is an error
// only if the order is still unpaid afterwards.
func (h *Handlers) verifyByLink(c *route.Call, in *api.VerifyByLink) (*api.LinkedOrder, error) {
	o, err := h.openLink(c, in.Token)
	if err != nil {
		return nil, err
	}
	if o.Unpaid() {
		if o, err = h.VerifyAttempts(c.Context, o, attemptsOfPayer(o)); err != nil && o.Unpaid() {
			return nil, err
		}
	}
	return h.showLinked(c, o)
}

// openLink finds the order of a payment link, or refuses the token with ORDER_NOT_FOUND.
func (h *Handlers) openLink(c *route.Call, token string) (*order.Order, error) {
	id, ok := h.Secrets.ParsePaymentLink(token)
	if !ok {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	return h.Orders.Find(c.Context, id)
}

// linkedStatus returns the status of an order for a payment link. An order that was sold stays "paid", so that its
// payer does not learn about later refunds.
func linkedStatus(o *order.Order) string {
	if o.Sold() {
		return "paid"
	}
	return o.Status
}

// showLinked shows an order as its payer sees it, without anything about its buyer. Only an unpaid order has an end and
// ways to pay.
func (h *Handlers) showLinked(c *route.Call, o *order.Order) (*api.LinkedOrder, error) {
	p, err := h.Pages.Event(c.Context, o.ID.Event())
	if err != nil {
		return nil, err
	}
	v := &api.LinkedOrder{
		Status: linkedStatus(o), Title: p.Event.Details.Title, Items: make([]api.LinkedLine, len(o.Lines)), Currency: o.Currency,
		Subtotal: view.Decimal(o.Subtotal, o.Currency), Discount: view.Decimal(o.Discount, o.Currency), Fees: view.Decimal(o.Fees, o.Currency), Total: view.Decimal(o.Total, o.Currency),
		Methods: []api.PayMethod{}, Payments: []api.LinkedPayment{},
	}
	for i := range o.Lines {
		l := &o.Lines[i]
		v.Items[i] = api.LinkedLine{Name: l.Name, Quantity: l.Quantity, UnitPrice: view.Decimal(l.UnitPrice, o.Currency)}
	}
	if !o.Unpaid() {
		return v, nil
	}
	v.ExpiresAt = api.At(o.ExpiresAt)
	return v, h.addWaysToPay(c, v, o, p.Event.Details)
}

// addWaysToPay adds how the order can be paid, and the attempts that its payer may go on with. A payer can pay by bank
// transfer only if the buyer has begun to.
func (h *Handlers) addWaysToPay(c *route.Call, v *api.LinkedOrder, o *order.Order, of *event.Details) (err error) {
	if v.Methods, err = h.methodsFor(c.Context, o.Currency, of); err != nil {
		return err
	}
	if t := o.Transfer(); t == nil || !t.Open() { // A transfer keeps the stock for days, which only the buyer may choose.
		v.Methods = slices.DeleteFunc(v.Methods, func(m api.PayMethod) bool { return m.Kind == payments.KindTransfer })
	}
	for _, a := range attemptsOfPayer(o) {
		v.Payments = append(v.Payments, api.LinkedPayment{Provider: a.Provider, Status: a.Status, AuthorizationURL: a.URL, Deposit: view.Deposit(o, &a)})
	}
	return nil
}

// attemptsOfPayer returns the open attempts that a payer with the link may go on with: those by the link, and the
// buyer's attempts to pay with coins or by transfer. It leaves out the other attempts of the buyer, because the
// provider's page shows the buyer's e-mail address.
func attemptsOfPayer(o *order.Order) (attempts []order.Attempt) {
	for _, a := range o.Attempts {
		if a.Open() && a.Opened() && (a.URL == "" || a.ByLink()) {
			attempts = append(attempts, a)
		}
	}
	return attempts
}

package sales

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/wallet"
)

// maxIssued is the most tickets in one order that an organization makes itself.
const maxIssued = 500

// issueTickets makes an order for which nobody pays here, because the organization sells the tickets elsewhere or
// gives them away. Either the tickets are made and the organization's wallet pays the fee, or neither happens. It
// refuses more than maxIssued tickets.
func (h *Handlers) issueTickets(c *route.Call, in *api.Issue) (*api.Issued, error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	of, lines, err := readLines(in.Items)
	if err != nil {
		return nil, err
	}
	if of != number {
		return nil, &engine.Refusal{Code: engine.TicketTypeNotFound}
	}
	var tickets int64
	for i := range lines {
		tickets += lines[i].Quantity
	}
	if tickets > maxIssued {
		return nil, route.Invalid(route.Issue{Path: "items", Code: route.IssueMaximum, Message: fmt.Sprintf("must come to at most %d tickets", maxIssued)})
	}
	body := c.BodyHash()
	cmd := ledger.Place{
		Fingerprint: binary.BigEndian.Uint64(body[:8]),
		Email:       in.Buyer.Email, Name: in.Buyer.Name, Customer: order.CustomerOf(order.NormalEmail(in.Buyer.Email)), Lines: lines,
		Issue: &order.Issue{Reference: in.Reference, Quiet: in.SendEmail.Set && !in.SendEmail.Value},
	}
	if slices.ContainsFunc(lines, func(l order.Line) bool { return len(l.Seats) > 0 }) {
		cmd.Principal = h.principalOf(c)
	}
	h.nameOrder(c, number, &cmd)
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(number), cmd)
	if err != nil {
		return nil, seatIssues(err, in.Items)
	}
	if lines[0].Visit != nil {
		h.Pages.ForgetCalendar(number)
	}
	v, o, err := h.issuedView(c, r)
	if err != nil {
		return nil, err
	}
	if o.TakesFee() {
		h.awaitFee(c.Context, o)
	}
	return &api.Issued{Order: *v, Tickets: v.Tickets, Fee: api.IssueFee{
		Rate: float64(order.IssueFeeBasisPoints) / 10_000, Amount: view.Decimal(o.Issue.Fee, o.Currency), Currency: o.Currency,
	}}, nil
}

// issuedView shows an order in the state in which it was made, and returns that state too. If the order has ended
// and left the ledger (Past), it reads the order from the read model.
func (h *Handlers) issuedView(c *route.Call, r *ledger.OrderReply) (*api.Order, *order.Order, error) {
	o := r.Order
	if r.Past {
		var err error
		if o, err = h.Orders.FindPast(c.Context, r.ID, ""); err != nil {
			return nil, nil, err
		}
	}
	o = o.Placed()
	v, err := h.showMade(c, o)
	return v, o, err
}

// awaitFee waits until lists show that the wallet has paid an order's fee, but at most a second. The wallet has
// heard of the order's completion before it answers the Get. awaitFee returns no error, because the order is
// made in any case.
func (h *Handlers) awaitFee(ctx context.Context, o *order.Order) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := cluster.AskFor[wallet.Record](ctx, h.Node, o.Issue.Wallet, wallet.Get{}); err == nil {
		_ = h.Settled(ctx)
	}
}

package money

import (
	"errors"
	"fmt"
	"strings"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/promo"
	"boxoffice/persistence/promos"
)

// cart is what a buyer has chosen, with the prices that an order placed now would have. No stock is
// set aside for a cart.
type cart struct {
	order    order.Order     // has the cart's lines and their sums, and as its id the first line's ticket type
	types    []engine.TypeID // the ticket type of each line
	currency string
	absorb   bool // the organizer absorbs the fees
}

// validateCode tells whether a promo code would be valid for an order, without using it up. A code
// that does not exist counts as a wrong guess, so that nobody can try codes without end. No other
// request stays counted.
func (h *Handlers) validateCode(c *route.Call, in *api.ValidateCode) (*api.CodeVerdict, error) {
	chosen, err := h.priceCart(c, in.Items)
	if err != nil {
		return nil, err
	}
	// The guess is counted before the code is looked up. Otherwise, requests that run at the same
	// time could all look codes up before any of them is counted.
	guess := h.Guesses.Promo(c)
	if err := h.Guesses.Take(c, guess); err != nil {
		return nil, err
	}
	v, currency, err := h.askCode(c, in, chosen)
	if err != nil || v.Reason != keeper.CodeNotFound {
		h.Guesses.GiveBack(c, guess)
	}
	if err != nil {
		return nil, err
	}
	// The answer has the discount of an existing code even if the code is not valid for this order.
	out := &api.CodeVerdict{Valid: v.Reason == "", Discount: view.Decimal(0, currency), Reason: view.Optional(v.Reason)}
	if v.Reason != keeper.CodeNotFound {
		sort, value := discountType(&v.Details), view.Decimal(v.Details.Value, currency)
		if v.Details.Percentage {
			value = engine.DecimalIn(v.Details.Value, v.Details.ValueDecimals())
		}
		out.DiscountType, out.DiscountValue = &sort, &value
	}
	switch {
	case chosen != nil:
		chosen.addPrice(out, v)
	case out.Valid && in.Subtotal.Set && !in.Subtotal.Null:
		subtotal, err := in.Subtotal.Value.Minor("subtotal", currency)
		if err != nil {
			return nil, err
		}
		off := v.Details.Off(subtotal)
		// An order would refuse a code that takes nothing off, so such a code is not valid here
		// either.
		if out.Discount = view.Decimal(off, currency); off == 0 {
			out.Valid, out.Reason = false, view.Optional(keeper.CodeNotApplicable)
		}
	}
	return out, nil
}

// priceCart prices the lines of a cart, or returns nil if the request has no lines. All lines must
// be of one event that the caller may see, as in an order, and of ticket types that are on its page.
// It holds no stock and does not check whether any is left.
func (h *Handlers) priceCart(c *route.Call, items []api.CartLine) (*cart, error) {
	if len(items) == 0 {
		return nil, nil
	}
	invalid := func(i int, message string) error {
		return route.Invalid(route.Issue{Path: fmt.Sprintf("items[%d].ticketTypeId", i), Code: route.IssueFormat, Message: message})
	}
	first, err := engine.ParseID(items[0].TicketTypeID)
	if err != nil {
		return nil, invalid(0, "must be a UUID")
	}
	p, err := h.Pages.VisibleEvent(c, first.Event())
	if r, ok := errors.AsType[*engine.Refusal](err); ok && r.Code == engine.EventNotFound {
		return nil, invalid(0, "is no ticket type that is sold")
	}
	if err != nil {
		return nil, err
	}
	out := &cart{currency: p.Event.Details.Currency, absorb: p.Event.Details.AbsorbFees}
	out.order.ID = first
	for i, item := range items {
		id, err := engine.ParseID(item.TicketTypeID)
		t := findType(p, id)
		switch {
		case err != nil || id.Event() != first.Event():
			return nil, invalid(i, "is of another event than the first line's")
		case t == nil:
			return nil, invalid(i, "is no ticket type that is sold")
		}
		out.types = append(out.types, id)
		out.order.Lines = append(out.order.Lines, order.Line{Type: id.Number(), Quantity: item.Quantity, UnitPrice: t.Price})
	}
	out.order.SumUp(out.absorb)
	return out, nil
}

// findType returns a ticket type of an event, or nil if the event has no such type that the public
// may see.
func findType(p *live.Page, id engine.ID) *inventory.Details {
	for i := range p.Types {
		if t := &p.Types[i]; t.Ref.ID == id.Number() && !t.Details.Hidden {
			return &t.Details
		}
	}
	return nil
}

// addPrice adds to a verdict what an order of the cart would cost. If the code itself is good, the
// rules of orders decide whether it holds for this cart, so that the answer and a later order
// agree.
func (k *cart) addPrice(v *api.CodeVerdict, told *promo.Verdict) {
	switch told.Reason {
	// Only these verdicts depend on the lines of the cart. Any other verdict is the same for every
	// cart.
	case "", keeper.CodeBelowMinimum, keeper.CodeNotApplicable:
		reduced := k.order
		reduced.Promo = &order.Promo{Terms: &told.Details.Discount}
		reason := reduced.ApplyCode()
		if v.Valid, v.Reason = reason == "", view.Optional(reason); v.Valid {
			reduced.SumUp(k.absorb)
			k.order, v.Discount = reduced, view.Decimal(reduced.Discount, k.currency)
		}
	}
	v.Quote = &api.CartQuote{
		Subtotal: view.Decimal(k.order.Subtotal, k.currency), Discount: view.Decimal(k.order.Discount, k.currency),
		Fees: view.Decimal(k.order.Fees, k.currency), Total: view.Decimal(k.order.Total, k.currency), Currency: k.currency,
	}
}

// askCode finds the promo code with a name at an event, and asks the code's actor for its verdict. It also
// returns the currency of the event, or "" if the request names no event that exists. An unknown event or code
// gets the verdict CodeNotFound, and so does a disabled code, so that the public does not learn of it.
func (h *Handlers) askCode(c *route.Call, in *api.ValidateCode, chosen *cart) (_ *promo.Verdict, currency string, _ error) {
	none := &promo.Verdict{Reason: keeper.CodeNotFound}
	// A subtotal of -1 means that it is not known. The code then does not check its least order
	// value.
	ask := promo.Validate{Subtotal: -1}
	if chosen != nil {
		ask.Subtotal, ask.Types, ask.Event = chosen.order.Subtotal, chosen.types, chosen.types[0].Event()
	}
	for _, text := range in.TicketTypeIDs {
		id, err := engine.ParseID(text)
		ask.Types = append(ask.Types, id) // a text that is not an id becomes the zero id, which no code applies to
		if err == nil {
			ask.Event = id.Event()
		}
	}
	// If the request names an event, that one counts and not the event of the ticket types.
	if in.EventID != "" {
		number, err := h.Pages.FindNamed(c.Context, h.Known, in.EventID)
		if r, ok := errors.AsType[*engine.Refusal](err); ok && r.Code == engine.EventNotFound {
			return none, currency, nil
		}
		if err != nil {
			return nil, "", err
		}
		ask.Event = number
	}
	// Without an event we do not know the organization, and each organization has its own names of
	// codes.
	if ask.Event < 1 {
		return none, currency, nil
	}
	k, err := h.Known.Find(c.Context, ask.Event)
	if r, ok := errors.AsType[*engine.Refusal](err); ok && r.Code == engine.EventNotFound {
		return none, currency, nil
	}
	if err != nil {
		return nil, "", err
	}
	p, err := h.Pages.Event(c.Context, ask.Event)
	if err != nil {
		return nil, "", err
	}
	currency = p.Event.Details.Currency
	ask.Currency = currency
	if ask.Subtotal < 0 && in.Subtotal.Set && !in.Subtotal.Null {
		if ask.Subtotal, err = in.Subtotal.Value.Minor("subtotal", currency); err != nil {
			return nil, "", err
		}
	}
	code, err := h.Pages.FindCode(c.Context, promos.Name{Org: k.Org, Event: ask.Event, Code: strings.ToUpper(strings.TrimSpace(in.Code))})
	if err != nil || code == 0 {
		return none, currency, err
	}
	v, err := cluster.AskFor[promo.Verdict](c.Context, h.Node, engine.PromoRef(k.Org, code), ask)
	if err == nil && v.Reason == keeper.CodeDisabled {
		return none, currency, nil
	}
	return v, currency, err
}

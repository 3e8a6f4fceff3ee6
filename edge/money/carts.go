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

// cart is what a buyer has chosen, priced as an order would be that was placed now.
type cart struct {
	order    order.Order     // has the cart's lines and nothing else
	types    []engine.TypeID // the ticket type of each line
	currency string
	absorb   bool // the organizer absorbs the fees
}

// validateCode reports whether a code would hold for a purchase. It consumes nothing. A code that does not exist
// counts as a guess, so that nobody can try codes without end; any other try is given back.
func (h *Handlers) validateCode(c *route.Call, in *api.ValidateCode) (*api.CodeVerdict, error) {
	chosen, err := h.priceCart(c, in.Items)
	if err != nil {
		return nil, err
	}
	// The guess is taken before the code is asked, so that requests at the same time count too.
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
		if out.Discount = view.Decimal(off, currency); off == 0 { // an order would refuse a code that takes nothing off
			out.Valid, out.Reason = false, view.Optional(keeper.CodeNotApplicable)
		}
	}
	return out, nil
}

// priceCart prices the lines of a cart, or returns nil if there are none. All lines must be of one event, as an
// order's are.
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

// findType returns the type of an event with an id, or nil if the event has none that the public sees.
func findType(p *live.Page, id engine.ID) *inventory.Details {
	for i := range p.Types {
		if t := &p.Types[i]; t.Ref.ID == id.Number() && !t.Details.Hidden {
			return &t.Details
		}
	}
	return nil
}

// addPrice adds to a verdict what an order of the cart would cost with the code, if it would hold. Where
// the code itself is good, the order's own rules say why it is not valid for this cart.
func (k *cart) addPrice(v *api.CodeVerdict, told *promo.Verdict) {
	switch told.Reason {
	// Only these verdicts depend on the lines. Any other one holds whatever is in the cart.
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

// askCode asks the code that the name means in the event, and returns the event's currency too. A code that its
// organization has taken away is answered as one that does not exist.
func (h *Handlers) askCode(c *route.Call, in *api.ValidateCode, chosen *cart) (_ *promo.Verdict, currency string, _ error) {
	none := &promo.Verdict{Reason: keeper.CodeNotFound}
	ask := promo.Validate{Subtotal: -1}
	if chosen != nil {
		ask.Subtotal, ask.Types, ask.Event = chosen.order.Subtotal, chosen.types, chosen.types[0].Event()
	}
	for _, text := range in.TicketTypeIDs {
		id, err := engine.ParseID(text)
		ask.Types = append(ask.Types, id) // a text that is not an id becomes the zero id, and no code is for that
		if err == nil {
			ask.Event = id.Event()
		}
	}
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

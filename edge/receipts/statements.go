package receipts

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/statements"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/receipts"
)

// importTime bounds the time in which the import of a statement reports receipts to orders. The
// sweep handles the orders that are left.
const importTime = 5 * time.Second

// importStatement stores the lines of a bank statement as receipts, and reports them to the orders.
// A line that was imported before has the same name and is not stored again.
func (h *Handlers) importStatement(c *route.Call, in *api.ImportStatement) (*api.ImportedStatement, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	if err := h.refuseWord(c.Context, org); err != nil {
		return nil, err
	}
	lines, err := statements.Read(c.Body)
	if errors.Is(err, statements.ErrDay) {
		return nil, route.Invalid(route.Issue{Path: "body", Code: route.IssueFormat, Message: "has a line of a day before 2000 or after 2099"})
	}
	if err != nil {
		return nil, route.Invalid(route.Issue{Path: "body", Code: route.IssueFormat, Message: "is no statement that can be read: CAMT.053, MT940, or the CSV of a bank that is known"})
	}
	if err := h.Settled(c.Context); err != nil {
		return nil, err
	}
	// The orders of all lines are looked up together, which takes one statement instead of
	// one for each line.
	named := make([][]engine.OrderID, len(lines))
	for i := range lines {
		named[i] = readReferences(lines[i].Text)
	}
	orders, err := h.findReferred(c.Context, org, named)
	if err != nil {
		return nil, err
	}
	told, names := make([]receipts.Receipt, len(lines)), make([]string, len(lines))
	for i := range lines {
		told[i] = readLine(&lines[i], named[i], orders)
		told[i].Teller, names[i] = c.Who(), told[i].Name
	}
	fresh, err := h.Receipts.Add(c.Context, org, told)
	if err != nil {
		return nil, err
	}
	out := &api.ImportedStatement{Lines: len(lines)}
	due := map[string]engine.OrderID{}
	for i, isNew := range fresh {
		switch {
		case !isNew:
			out.Repeated++
		case told[i].Attempt != "":
			due[told[i].Attempt] = told[i].Order
		}
	}
	// The receipts are stored by now, so the sweep reports them even if the rest of this request
	// fails.
	h.settleSoon(c.Context, due)
	states, err := h.Receipts.Named(c.Context, org, names)
	if err != nil {
		return nil, err
	}
	counts := map[string]*int{
		receipts.Matched: &out.Matched, receipts.Underpaid: &out.Underpaid, receipts.Overpaid: &out.Overpaid,
		receipts.Currency: &out.OtherCurrency, receipts.Unknown: &out.Unknown,
	}
	for i := range states {
		*counts[states[i].State]++
	}
	return out, nil
}

// settleSoon reports receipts to as many orders as it can within importTime. settleDue handles the
// others.
func (h *Handlers) settleSoon(ctx context.Context, due map[string]engine.OrderID) {
	ctx, cancel := context.WithTimeout(ctx, importTime)
	defer cancel()
	attempts := make([]string, 0, len(due))
	for attempt := range due {
		attempts = append(attempts, attempt)
	}
	panics.DoEach(h.Log, "transfer", attempts, settleAtATime, func(attempt string) {
		if ctx.Err() != nil {
			return
		}
		if err := h.tellOrderOfReceipts(ctx, due[attempt], attempt); err != nil {
			h.Log.WarnContext(ctx, "transfer not settled yet", slog.String("reference", attempt), slog.Any("error", err))
		}
	})
}

// readLine makes the receipt of one line of a statement. It names an order only if the
// payer's text refers to exactly one of orders; any other line is left for a person. Fits is
// false for money in another currency than the order's.
func readLine(l *statements.Line, named []engine.OrderID, orders map[engine.OrderID]*order.Order) receipts.Receipt {
	r := receipts.Receipt{Name: "line/" + l.ID, Amount: l.Amount, Currency: l.Currency, Day: l.Day, Payer: l.Payer, Words: l.Text}
	var found *order.Order
	for _, id := range named {
		o := orders[id]
		if o != nil && found != nil && found.ID != o.ID {
			// The text names several orders, and we must not guess which one the payer means.
			return r
		}
		if o != nil {
			found = o
		}
	}
	if found == nil {
		return r
	}
	a := found.Transfer()
	r.Order, r.Attempt, r.Asked, r.Fits = found.ID, a.Reference, a.Amount, l.Currency == found.Currency
	return r
}

// maxNamed bounds the orders that are looked up for one line. A payer names one order, and
// a few more words of the text may look like references by chance.
const maxNamed = 8

// readReferences returns the orders to which a payer's text refers, at most maxNamed. It
// does not check that there are such orders.
func readReferences(words string) (named []engine.OrderID) {
	for _, reference := range statements.FindReferences(words) {
		if id, ok := secrets.ReadOrderLetters(reference[4:]); ok && len(named) < maxNamed {
			named = append(named, id)
		}
	}
	return named
}

// findReferred returns the orders that belong to the organization and have, or have had, an attempt by
// transfer. An order of another organization is left out, so that no organization can mark another's orders as
// paid.
func (h *Handlers) findReferred(ctx context.Context, org int64, named [][]engine.OrderID) (map[engine.OrderID]*order.Order, error) {
	orders, err := h.Read.OrdersByID(ctx, slices.Concat(named...))
	if err != nil {
		return nil, err
	}
	found := make(map[engine.OrderID]*order.Order)
	for i := range orders {
		o := &orders[i]
		k, err := h.Known.Find(ctx, o.ID.Event())
		if refusal, refused := errors.AsType[*engine.Refusal](err); refused && refusal.Code == engine.EventNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		if k.Org == org && o.Transfer() != nil {
			found[o.ID] = o
		}
	}
	return found, nil
}

// listReceipts returns a page of the receipts that a person should look at: too little or too much
// money for their order, another currency, or no order.
func (h *Handlers) listReceipts(c *route.Call, in *api.ListReceipts) (*api.List[api.Receipt], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	return view.ListByNumber(in.Cursor, in.Limit, func(before int64, limit int) ([]receipts.State, error) {
		return h.Receipts.Differing(c.Context, org, before, limit)
	}, func(r receipts.State) int64 { return r.Seq }, func(r receipts.State) api.Receipt { return receiptView(&r) })
}

// receiptView shows a receipt with the amount that its order asked for and what has come for it.
// Receipts without an order or in another currency have neither amount.
func receiptView(r *receipts.State) api.Receipt {
	v := api.Receipt{
		ID: strconv.FormatInt(r.Seq, 10), State: r.State, Amount: view.Decimal(r.Amount, r.Currency), Currency: r.Currency,
		Day: r.Day.Format(time.DateOnly), Source: "statement", Payer: r.Payer, Reference: r.Words, Note: r.Note, ToldBy: r.Teller, ToldAt: api.At(r.ToldAt.UnixMilli()),
	}
	if r.ByHand {
		v.Source = "hand"
	}
	if r.Attempt != "" {
		id := r.Order.String()
		v.OrderID = &id
	}
	if r.Fits {
		v.Asked, v.Received = view.Decimal(r.Asked, r.Currency), view.Decimal(r.Came, r.Currency)
	}
	return v
}

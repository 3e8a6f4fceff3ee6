package sales

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/limit"
	"boxoffice/edge/orders"
	"boxoffice/edge/payments/transfer"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/statements"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/receipts"
)

// Orders that are paid by bank transfer: until when they wait, what came for them, and how they hear
// of it.

// transferWindow returns for how long an event's orders wait for a transfer: as the event says, else the
// deployment.
func transferWindow(e *event.Details, deployment time.Duration) time.Duration {
	if e.TransferDays != 0 {
		return time.Duration(e.TransferDays) * 24 * time.Hour
	}
	return deployment
}

// transferDue returns until when an order waits for a transfer, in unix milliseconds: for the window
// since it was placed, and not past the end of the sale of any of its ticket types. It refuses if the sale
// ends sooner than a transfer arrives.
func (h *Handlers) transferDue(c *route.Call, o *order.Order, window time.Duration) (int64, error) {
	p, err := h.Pages.Event(c.Context, o.ID.Event())
	if err != nil {
		return 0, err
	}
	saleEnd := int64(math.MaxInt64)
	for i := range o.Lines {
		for k := range p.Types {
			if t := &p.Types[k]; t.Ref.ID == o.Lines[i].Type && t.Details.SaleEnd != 0 {
				saleEnd = min(saleEnd, t.Details.SaleEnd)
			}
		}
	}
	if saleEnd < c.Now.Add(transfer.MinWindow).UnixMilli() {
		return 0, engine.Refuse(engine.OrderNotPayable, ledger.OrderState{Status: o.Status, Reason: "a transfer would come too late"})
	}
	return min(o.CreatedAt+transferWindow(p.Event.Details, window).Milliseconds(), saleEnd), nil
}

// countTransfer counts an order that is about to keep its stock for days without money, or refuses: a network
// would have all of an event's stock for nothing. It leaves out an order that waits for a transfer already, and what
// the organization orders itself.
func (h *Handlers) countTransfer(c *route.Call, o *order.Order) error {
	if transferOf(o) != nil {
		return nil
	}
	return h.Guesses.Take(c, h.countsOf(c, limit.RuleTransfers, o))
}

// refuseTransferTo refuses to have an event's orders paid by transfer, unless the operator has allowed that to
// its organization: for all others the provider is as good as missing.
func (h *Handlers) refuseTransferTo(ctx context.Context, event int64) error {
	k, err := h.Known.Find(ctx, event)
	if err != nil {
		return err
	}
	allowed, err := h.Gateways.AllowsTransfers(ctx, k.Org)
	if err != nil || allowed {
		return err
	}
	return engine.Refuse(engine.ProviderMissing, nil)
}

// refuseWord refuses an organization that says what has come to the deployment's account, unless the operator
// takes its word: it would be credited to the organization.
func (h *Handlers) refuseWord(ctx context.Context, org int64) error {
	allowed, err := h.Gateways.AllowsTransfers(ctx, org)
	if err != nil || allowed {
		return err
	}
	return &engine.Refusal{
		Code: engine.Forbidden, Message: "The platform has not allowed this organization to be paid by bank transfer.",
		Details: route.Reason{Reason: "TRANSFERS_NOT_ALLOWED"},
	}
}

// transferOf returns the attempt to which an order's transfers belong, which all have one reference: the
// first that told its buyer where to pay. It is nil if there is none.
func transferOf(o *order.Order) *order.Attempt {
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.IsTransfer() {
			return a
		}
	}
	return nil
}

// findTransfer returns the open transfer to which somebody with the order's payment link may send the money. The
// link opens none, because the order would then keep its stock for days.
func findTransfer(o *order.Order) (*order.Order, *order.Attempt, error) {
	if a := transferOf(o); a != nil && a.Open() {
		return o, a, nil
	}
	return nil, nil, engine.Refuse(engine.OrderNotPayable, ledger.OrderState{Status: o.Status, Reason: "its buyer has not chosen a transfer"})
}

// tellTransferSent notes that a buyer has sent a transfer. Nothing is paid by that.
func (h *Handlers) tellTransferSent(c *route.Call, in *api.TellTransferSent) (*api.Order, error) {
	o, reader, err := h.Orders.Open(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	if r := ledger.Payable(o); r != nil {
		return nil, r
	}
	if transferOf(o) == nil {
		return nil, engine.Refuse(engine.OrderNotPayable, ledger.OrderState{Status: o.Status, Reason: "its buyer has not chosen a transfer"})
	}
	if err := h.Receipts.TellSent(c.Context, o.ID); err != nil {
		return nil, err
	}
	return h.showWaiting(c, o, reader)
}

// showWaiting is an order as somebody reads it. If it waits for a transfer, it says when the buyer told that
// the money was sent.
func (h *Handlers) showWaiting(c *route.Call, o *order.Order, reader orders.Reader) (*api.Order, error) {
	v, err := h.Orders.Show(c, o, reader)
	if err != nil {
		return nil, err
	}
	return v, h.addSentAt(c, o, v)
}

// addSentAt adds when the buyer told that a transfer was sent to what is shown of an order that waits for it.
func (h *Handlers) addSentAt(c *route.Call, o *order.Order, v *api.Order) error {
	if !o.Unpaid() || transferOf(o) == nil {
		return nil
	}
	at, err := h.Receipts.SentAt(c.Context, o.ID)
	if err != nil || at.IsZero() {
		return err
	}
	for i := range v.Payments {
		if t := v.Payments[i].Transfer; t != nil {
			t.SentAt = api.At(at.UnixMilli())
		}
	}
	return nil
}

// markPaid notes that an order's money has come, which a person has seen.
func (h *Handlers) markPaid(c *route.Call, in *api.MarkPaid) (*api.Order, error) {
	id, err := engine.ParseID(in.ID)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	o, seller, err := h.Orders.OpenOwn(c, id)
	if err != nil {
		return nil, err
	}
	k, err := h.Known.Find(c.Context, id.Event())
	if err != nil {
		return nil, err
	}
	if err := h.refuseWord(c.Context, k.Org); err != nil {
		return nil, err
	}
	a := transferOf(o)
	if a == nil {
		return nil, engine.Refuse(engine.OrderNotPayable, ledger.OrderState{Status: o.Status, Reason: "its buyer has not chosen a transfer"})
	}
	amount, err := in.Amount.Minor("amount", o.Currency)
	if err != nil {
		return nil, err
	}
	name := c.CommandID()
	_, err = h.Receipts.Add(c.Context, k.Org, []receipts.Receipt{{
		Name: "hand/" + id.String() + "/" + hex.EncodeToString(name[:]), ByHand: true, Order: id, Attempt: a.Reference,
		Amount: amount, Currency: o.Currency, Asked: a.Amount, Fits: true, Day: c.Now.UTC(), Words: in.Reference, Note: in.Note, Teller: c.Who(),
	}})
	if err != nil {
		return nil, err
	}
	if err := h.settleTransfer(c.Context, o.ID, a.Reference); err != nil {
		return nil, err
	}
	if o, err = h.Orders.Find(c.Context, id); err != nil {
		return nil, err
	}
	return h.ownView(c, o, seller)
}

// settleTransfer has an order hear of what came for its transfer. Money that came after it was paid, or once
// its event has closed it, is to go back.
func (h *Handlers) settleTransfer(ctx context.Context, id engine.OrderID, attempt string) error {
	came, err := h.Receipts.Of(ctx, attempt)
	if err != nil || len(came) == 0 {
		return errors.Join(err, h.Receipts.Settle(ctx, attempt, math.MaxInt64))
	}
	r, err := cluster.AskFor[ledger.OrderReply](ctx, h.Node, engine.EventRef(id.Event()), ledger.GetOrder{Order: id})
	if err != nil {
		return err
	}
	o, err := h.Orders.Of(ctx, id, r)
	if err != nil {
		return err
	}
	a := o.Attempt(attempt)
	if a == nil {
		return errors.New("the order has no such attempt")
	}
	if !r.Past {
		if o, err = h.verifyAttempts(ctx, o, []order.Attempt{*a}); err != nil {
			return err
		}
		a = o.Attempt(attempt)
	}
	if r.Past || a.Status == order.AttemptSucceeded {
		if err := h.sendExtraBack(ctx, o, a, came); err != nil {
			return err
		}
	}
	return h.Receipts.Settle(ctx, attempt, came[len(came)-1].Seq)
}

// sendExtraBack has an order note each receipt that its attempt has not taken: those behind the first
// ones, which make up what it has taken.
func (h *Handlers) sendExtraBack(ctx context.Context, o *order.Order, a *order.Attempt, came []receipts.State) error {
	var sum int64
	for i := range came {
		if sum += came[i].Amount; sum <= a.Received {
			continue
		}
		r, err := cluster.AskFor[ledger.OrderReply](ctx, h.Node, engine.EventRef(o.ID.Event()), ledger.ReportDeposit{
			Order: o.ID, Record: o, Reference: a.Reference, Deposit: "receipt " + strconv.FormatInt(came[i].Seq, 10), Received: came[i].Amount,
		})
		if err != nil {
			return err
		}
		if r.Order != nil {
			o = r.Order
		}
	}
	return nil
}

// settleTransfers has orders hear of transfers that the request which booked them did not tell them of.
func (w sweep) settleTransfers(ctx context.Context) error {
	due, err := w.Receipts.Unsettled(ctx, sweepBatch)
	if err != nil {
		return err
	}
	panics.DoEach(w.Log, "transfer", due, sweepAtATime, func(attempt string) {
		ctx, cancel := context.WithTimeout(ctx, sweepCall)
		defer cancel()
		p, err := w.paymentOf(ctx, attempt)
		if err == nil {
			err = w.settleTransfer(ctx, p.Order, attempt)
		}
		if err != nil && ctx.Err() == nil {
			w.Log.WarnContext(ctx, "transfer not settled", slog.String("reference", attempt), slog.Any("error", err))
		}
	})
	return nil
}

// importTime bounds how long the import of a statement waits for orders to hear of their money; the
// sweep tells the rest.
const importTime = 5 * time.Second

// importStatement keeps what a bank statement says came in, and has orders hear of it.
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

// settleSoon has orders hear of their transfers, as many as there is time for.
func (h *Handlers) settleSoon(ctx context.Context, due map[string]engine.OrderID) {
	ctx, cancel := context.WithTimeout(ctx, importTime)
	defer cancel()
	attempts := make([]string, 0, len(due))
	for attempt := range due {
		attempts = append(attempts, attempt)
	}
	panics.DoEach(h.Log, "transfer", attempts, sweepAtATime, func(attempt string) {
		if ctx.Err() != nil {
			return
		}
		if err := h.settleTransfer(ctx, due[attempt], attempt); err != nil {
			h.Log.WarnContext(ctx, "transfer not settled yet", slog.String("reference", attempt), slog.Any("error", err))
		}
	})
}

// readLine makes the receipt of a statement's line. It names an order if the payer's words refer to
// exactly one of the orders.
func readLine(l *statements.Line, named []engine.OrderID, orders map[engine.OrderID]*order.Order) receipts.Receipt {
	r := receipts.Receipt{Name: "line/" + l.ID, Amount: l.Amount, Currency: l.Currency, Day: l.Day, Payer: l.Payer, Words: l.Text}
	var found *order.Order
	for _, id := range named {
		o := orders[id]
		if o != nil && found != nil && found.ID != o.ID {
			return r // it names several, and nobody guesses
		}
		if o != nil {
			found = o
		}
	}
	if found == nil {
		return r
	}
	a := transferOf(found)
	r.Order, r.Attempt, r.Asked, r.Fits = found.ID, a.Reference, a.Amount, l.Currency == found.Currency
	return r
}

// maxNamed bounds the orders of one line that are looked up. A payer names one; a few more are valid by chance.
const maxNamed = 8

// readReferences returns the orders that a payer's words refer to, whether there are such orders or not.
func readReferences(words string) (named []engine.OrderID) {
	for _, reference := range statements.FindReferences(words) {
		if id, ok := secrets.ReadOrderLetters(reference[4:]); ok && len(named) < maxNamed {
			named = append(named, id)
		}
	}
	return named
}

// findReferred returns those of the orders that are the organization's and have, or have had, a transfer. It
// asks once for all orders of a statement.
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
		if k.Org == org && transferOf(o) != nil {
			found[o.ID] = o
		}
	}
	return found, nil
}

// listReceipts lists what came and did not fit.
func (h *Handlers) listReceipts(c *route.Call, in *api.ListReceipts) (*api.List[api.Receipt], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	return view.ListByNumber(in.Cursor, in.Limit, func(before int64, limit int) ([]receipts.State, error) {
		return h.Receipts.Differing(c.Context, org, before, limit)
	}, func(r receipts.State) int64 { return r.Seq }, func(r receipts.State) api.Receipt { return receiptView(&r) })
}

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

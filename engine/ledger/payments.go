package ledger

import (
	"strconv"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/order"
	"boxoffice/engine/velocity"
)

const (
	// buyerAttempts is how often an order's buyer may begin to pay it, and linkAttempts how often people with
	// its payment link may. The two are counted apart, so that a stranger with the link uses up nothing that
	// the buyer needs.
	buyerAttempts = 15
	linkAttempts  = 5
	// lateMillis is how long the ledger keeps the record of a late order (Book.lateOrders). If a refund or move of
	// the order is not finished by then, the record is kept for that long again.
	lateMillis = 30 * 24 * 3600 * 1000
)

// decideBegin opens an attempt to pay, or returns the one that is open. An open one that has to give way (Attempt.GivingWay)
// ends first. Too many attempts are refused. A new attempt of the buyer lets the order live until c.Until or, the first
// time only, for c.WindowMillis. One by the order's payment link neither ends the buyer's own attempts nor gives the
// order more time.
func (b *Book) decideBegin(c BeginPayment, t *Terms, at int64) engine.Decision {
	o, d := b.findPayable(t, c.Order)
	if o == nil {
		return d
	}
	var facts []engine.Fact
	for i := range o.Attempts {
		a := &o.Attempts[i]
		if a.Provider != c.Provider || a.ByLink() != c.ByLink || !a.Open() {
			continue
		}
		status := a.GivingWay(c.PayCurrency, at)
		if status == "" {
			return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
		}
		facts = append(facts, &order.PaymentReported{ID: o.ID, Reference: a.Reference, Status: status, At: at})
	}
	most, mark := buyerAttempts, "-"
	if c.ByLink {
		most, mark = linkAttempts, order.LinkMark
	}
	if o.CountAttempts(c.ByLink) >= most {
		return refuse(engine.OrderNotPayable, OrderState{Status: o.Status, Reason: "too many payment attempts"})
	}
	if r := velocity.RefusePayment(o, c.ByLink, t.makeVelocityTerms(c.Scale), at); r != nil {
		return engine.Decision{Reply: r}
	}
	f := &order.PaymentBegun{ID: o.ID, ExpiresAt: o.ExpiresAt, Attempt: order.Attempt{
		Reference: c.Number + mark + strconv.Itoa(len(o.Attempts)+1),
		Provider:  c.Provider, Status: order.AttemptPending, Amount: o.Total, At: at,
		Deposit: order.Deposit{Currency: c.PayCurrency},
	}}
	switch {
	case c.ByLink:
	case c.Until != 0:
		f.ExpiresAt = max(o.ExpiresAt, c.Until)
	case !o.Extended:
		f.ExpiresAt = max(o.ExpiresAt, at+c.WindowMillis)
	}
	return foldFacts(o, append(facts, f))
}

// findPayable returns an order that may be paid, or nil and the refusal: the order is unknown (an offer to somebody on
// the waitlist counts as unknown), has ended or was sold, or its event was cancelled.
func (b *Book) findPayable(t *Terms, id engine.OrderID) (*order.Order, engine.Decision) {
	o := b.findMade(id)
	if o == nil {
		if status, _, ok := b.closedOrders.Find(id); ok {
			return nil, engine.Decision{Reply: refuseEnded(status, false)} // only its record tells if it was free
		}
		return nil, refuse(engine.OrderNotFound, nil)
	}
	if r := Payable(o); r != nil {
		return nil, engine.Decision{Reply: r}
	}
	if t.Cancelled {
		return nil, refuse(engine.OrderNotPayable, OrderState{Status: o.Status, Reason: "the event was cancelled"})
	}
	return o, engine.Decision{}
}

// Payable returns the reason why an order can't be paid any more because it has ended, or nil. It does not look
// at the event.
func Payable(o *order.Order) *engine.Refusal {
	if o.Unpaid() {
		return nil
	}
	return refuseEnded(o.Status, o.Total == 0)
}

// refuseEnded returns the reason why an order that has ended can't be paid.
func refuseEnded(status string, free bool) *engine.Refusal {
	switch {
	case status == order.StatusCompleted && free:
		return engine.Refuse(engine.NothingToPay, nil)
	case status == order.StatusCompleted || status == order.StatusPartiallyRefunded:
		return engine.Refuse(engine.AlreadyPaid, nil)
	default:
		return engine.Refuse(engine.OrderNotPayable, OrderState{Status: status, Reason: "the order has ended"})
	}
}

// decideAddress notes the address at which an attempt is paid (OpenPayment). An attempt that has an address already
// keeps it, and the answer has that one. The order's status does not matter: the order may have ended since the
// attempt began. Only an order or attempt that the book does not have is refused.
func (b *Book) decideAddress(c OpenPayment, at int64) engine.Decision {
	o := b.Find(c.Order)
	if o == nil || o.Attempt(c.Reference) == nil {
		return refuse(engine.OrderNotFound, nil)
	}
	if o.Attempt(c.Reference).Opened() {
		// Two nodes have opened the attempt at once, or one died before it noted what it had
		// opened. The buyer is shown only the address that is noted here.
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	f := &order.PaymentOpened{ID: o.ID, Reference: c.Reference, URL: c.URL, At: at, ProviderID: c.ProviderID, Deposit: c.Deposit}
	opened := f.Fold(o)
	return engine.Decision{Facts: []engine.Fact{f}, Reply: &OrderReply{Order: opened, Status: opened.Status}}
}

// decideReport acts on what the provider says about an attempt. Money for an order whose record the ledger has
// ends in a sale or in a refund, no matter when it comes, and money that is reported again changes nothing. Money below
// the price only makes the attempt underpaid, as long as the order is unpaid. Money in another currency goes back. While
// the order's stock is taken again, a repeat of the report that caused that waits, and any other report is refused as
// UNAVAILABLE.
func (b *Book) decideReport(c ReportPayment, t *Terms, at int64) engine.Decision {
	o := b.Find(c.Order)
	if o == nil {
		if status, _, ok := b.closedOrders.Find(c.Order); ok {
			return engine.Decision{Reply: &OrderReply{Past: true, Status: status}}
		}
		return refuse(engine.OrderNotFound, nil)
	}
	a := o.Attempt(c.Reference)
	if a == nil {
		return refuse(engine.NotFound, nil)
	}
	if p := b.placing[o.ID]; p != nil { // the order's stock is being taken again
		if p.late.Reference == c.Reference && c.Status == order.AttemptSucceeded {
			return engine.Decision{WaitKey: &p.order.ID}
		}
		return refuse(engine.Unavailable, nil) // this report has to be sent again
	}
	f := &order.PaymentReported{ID: o.ID, Reference: c.Reference, Status: c.Status, Received: c.Received, At: at, Arrived: c.Arrived}
	if c.Currency != o.Currency {
		f.Received = 0
	}
	full := c.Status == order.AttemptSucceeded && c.Currency == o.Currency && c.Received >= a.Amount
	back := o.SentBack(c.Reference)
	// The order of the cases matters: foreign money is no payment at all, money below the price is none yet, and full
	// money counts only the first time that it is reported.
	switch {
	case c.Status == order.AttemptSucceeded && c.Currency != o.Currency && c.Received > 0:
		return sendForeign(o, f, c)
	case c.Status == order.AttemptSucceeded && !full:
		f.Status = order.AttemptUnderpaid
	case full && back == 0 && a.Status != order.AttemptSucceeded:
		return b.applyPayment(t, o, f, at)
	}
	more := f.Received > a.Received && a.Status != order.AttemptSucceeded
	told := f.Status == a.Status && (c.Arrived == "" || c.Arrived == a.Deposit.Arrived)
	if !more && (told || f.Status != a.Status && !a.Open()) {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	facts := []engine.Fact{f}
	if more && !o.Unpaid() {
		facts = append(facts, order.RefundBeyond(f, back, order.BackUnderpaid)...)
	}
	return foldFacts(o, facts)
}

// foldFacts decides on facts about an order, and answers with the order as it is after them. It numbers the
// refunds among the facts.
func foldFacts(o *order.Order, facts []engine.Fact) engine.Decision {
	after := o
	for _, f := range facts {
		if due, ok := f.(*order.RefundDue); ok {
			due.Number = len(after.Refunds) + 1
		}
		after = order.Fold(after, f)
	}
	return engine.Decision{Facts: facts, Reply: &OrderReply{Order: after, Status: after.Status}}
}

// applyPayment decides on money that has arrived in full for the first time. An unpaid order is completed, and a surplus
// goes back. An order that has expired or failed tries to take its stock again, if the event still sells and has room.
// In all other cases the money is sent back.
func (b *Book) applyPayment(t *Terms, o *order.Order, f *order.PaymentReported, at int64) engine.Decision {
	switch {
	case t.Cancelled:
		return sendBack(o, f, order.BackCancelled)
	case o.Unpaid():
		done := &order.Completed{ID: o.ID, Serial: o.Serial, First: t.Tickets.Next(), At: at}
		facts := append([]engine.Fact{f, done}, o.RefundShort(f.Reference, at)...)
		d := foldFacts(o, append(facts, order.RefundBeyond(f, o.Attempt(f.Reference).Amount, order.BackOverpaid)...))
		b.tellKeepers(&d, o, places.All(o), true)
		return d
	case o.Sold():
		return sendBack(o, f, order.BackTwice)
	case o.Status == order.StatusCancelled:
		return sendBack(o, f, order.BackCancelled)
	case !t.Selling || o.Tickets() > t.RoomForAll:
		return sendBack(o, f, order.BackLate)
	}
	// The order ended before its money came: take the stock again, by an order of the same id with
	// a new serial.
	again := *o
	again.Serial = keeper.NewSerial(b.epoch, b.counter+1)
	report := ReportPayment{Order: o.ID, Reference: f.Reference, Status: f.Status, Received: f.Received, Currency: o.Currency}
	return b.startPlacing(&placing{order: &again, at: at, waiting: places.All(o), late: &report})
}

// sendBack notes that money has come and that it is to be refunded.
func sendBack(o *order.Order, f *order.PaymentReported, reason string) engine.Decision {
	return foldFacts(o, []engine.Fact{f, order.RefundAll(f, reason)})
}

// sendForeign notes that money in another currency than the order's has come, and that it is to be refunded. If
// that was noted before, nothing changes.
func sendForeign(o *order.Order, f *order.PaymentReported, c ReportPayment) engine.Decision {
	f.Status = order.AttemptUnderpaid
	due := o.RefundOnce(&order.Refund{
		Reference: c.Reference, Amount: c.Received, Reason: order.BackCurrency, Status: order.RefundProcessing, At: f.At, Currency: c.Currency,
	})
	if due == nil {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	return foldFacts(o, append([]engine.Fact{f}, due...))
}

// decideDeposit notes that coins have to be sent back because they came after their attempt was paid. A deposit
// that is reported again changes nothing.
func (b *Book) decideDeposit(c ReportDeposit, t *Terms, at int64) engine.Decision {
	o, facts, r := b.recallOrder(t, c.Order, c.Record, at)
	switch {
	case r != nil:
		return engine.Decision{Reply: r}
	case o == nil:
		return refuse(engine.OrderNotFound, nil)
	case o.Attempt(c.Reference) == nil:
		return refuse(engine.NotFound, nil)
	}
	due := o.RefundOnce(&order.Refund{
		Reference: c.Reference, Amount: c.Received, Reason: order.BackDeposit, Status: order.RefundProcessing, At: at, Deposit: c.Deposit,
	})
	if due == nil {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	return foldFacts(o, append(facts, due...))
}

// lateReport returns the fact of the late money for which p takes stock again.
func (p *placing) lateReport(at int64) *order.PaymentReported {
	return &order.PaymentReported{
		ID: p.order.ID, Reference: p.late.Reference, Status: p.late.Status, Received: p.late.Received, At: at,
	}
}

// settleLate completes an order whose stock has been taken again, and sends back what came above its price.
func (b *Book) settleLate(t *Terms, p *placing, at int64) engine.Decision {
	o := b.Find(p.order.ID)
	f := p.lateReport(at)
	done := &order.Completed{ID: o.ID, Serial: p.order.Serial, First: t.Tickets.Next(), At: at}
	d := foldFacts(o, append([]engine.Fact{f, done}, order.RefundBeyond(f, o.Attempt(f.Reference).Amount, order.BackOverpaid)...))
	d.Answers, d.Reply = []engine.Answer{{Key: o.ID, Reply: d.Reply}}, nil
	b.tellKeepers(&d, p.order, places.All(p.order), true)
	return d
}

// refundLate sends late money back, because a keeper has refused or the event no longer sells. All keepers are
// told to release what they have set aside.
func (b *Book) refundLate(p *placing, at int64) engine.Decision {
	d := sendBack(b.Find(p.order.ID), p.lateReport(at), order.BackLate)
	d.Facts = append(d.Facts, &Dropped{ID: p.order.ID})
	d.Answers, d.Reply = []engine.Answer{{Key: p.order.ID, Reply: d.Reply}}, nil
	b.tellKeepers(&d, p.order, places.All(p.order), false)
	return d
}

// decideRefund notes what the provider, or a person who sends money by hand, reports about a refund. A
// processed refund stays as it is.
func (b *Book) decideRefund(c ReportRefund, at int64) engine.Decision {
	o := b.Find(c.Order)
	if o == nil || c.Position < 0 || c.Position >= len(o.Refunds) || o.Refunds[c.Position].Reference != c.Reference {
		return refuse(engine.OrderNotFound, nil)
	}
	if r := &o.Refunds[c.Position]; r.Status == order.RefundProcessed || r.Status == c.Status && r.ProviderRef == c.ProviderRef {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	return foldFacts(o, []engine.Fact{&order.RefundReported{
		ID: o.ID, Reference: c.Reference, Position: c.Position, Status: c.Status, ProviderRef: c.ProviderRef, Note: c.Note, At: at,
	}})
}

package event

import (
	"strconv"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

const (
	// maxAttempts bounds the payment attempts of an order.
	maxAttempts = 20
	// lateMillis is how long the ledger keeps an order that ended unpaid
	// after an attempt to pay it, in case money comes.
	lateMillis = 30 * 24 * 3600 * 1000
)

// decideBegin opens an attempt to pay, or returns the one that is open.
func (s *State) decideBegin(c BeginPayment, at int64) engine.Decision {
	o, d := s.payable(c.Order)
	if o == nil {
		return d
	}
	for i := range o.Attempts {
		if a := &o.Attempts[i]; a.Provider == c.Provider && a.Open() {
			return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
		}
	}
	if len(o.Attempts) == maxAttempts {
		return refuse(engine.OrderNotPayable, OrderState{Status: o.Status, Reason: "too many payment attempts"})
	}
	if r := s.paying(o, c.Scale, at); r != nil {
		return engine.Decision{Reply: r}
	}
	f := &PaymentBegun{ID: o.ID, ExpiresAt: o.ExpiresAt, Attempt: Attempt{
		Reference: c.Number + "-" + strconv.Itoa(len(o.Attempts)+1),
		Provider:  c.Provider, Status: AttemptPending, Amount: o.Total, At: at,
	}}
	if !o.Extended {
		f.ExpiresAt = max(o.ExpiresAt, at+c.WindowMillis)
	}
	begun := f.Fold(o)
	return engine.Decision{Facts: []engine.Fact{f}, Reply: &OrderReply{Order: begun, Status: begun.Status}}
}

// payable returns an order that may be paid, or the refusal that says why not.
func (s *State) payable(id engine.OrderID) (*Order, engine.Decision) {
	o := s.find(id)
	if o == nil {
		if status, _, ok := s.past.find(id); ok {
			return nil, engine.Decision{Reply: ended(status, false)} // that it was free, only its record knows
		}
		return nil, refuse(engine.OrderNotFound, nil)
	}
	if r := o.Payable(); r != nil {
		return nil, engine.Decision{Reply: r}
	}
	if s.status == StatusCancelled {
		return nil, refuse(engine.OrderNotPayable, OrderState{Status: o.Status, Reason: "the event was cancelled"})
	}
	return o, engine.Decision{}
}

// Payable is why the order can't be paid, or nil.
func (o *Order) Payable() *engine.Refusal {
	if o.Unpaid() {
		return nil
	}
	return ended(o.Status, o.Total == 0)
}

// ended is why an order that has ended can't be paid.
func ended(status string, free bool) *engine.Refusal {
	switch {
	case status == Completed && free:
		return engine.Refuse(engine.NothingToPay, nil)
	case status == Completed || status == PartiallyRefunded:
		return engine.Refuse(engine.AlreadyPaid, nil)
	default:
		return engine.Refuse(engine.OrderNotPayable, OrderState{Status: status, Reason: "the order has ended"})
	}
}

func (s *State) decideOpen(c OpenPayment, at int64) engine.Decision {
	o := s.find(c.Order)
	if o == nil || o.Attempt(c.Reference) == nil {
		return refuse(engine.OrderNotFound, nil)
	}
	f := &PaymentOpened{ID: o.ID, Reference: c.Reference, URL: c.URL, At: at}
	opened := f.Fold(o)
	return engine.Decision{Facts: []engine.Fact{f}, Reply: &OrderReply{Order: opened, Status: opened.Status}}
}

// decideReport acts on what the provider says of an attempt. Money always ends
// in a sale or in a refund, whenever it comes and however often it is reported.
func (s *State) decideReport(c ReportPayment, at int64) engine.Decision {
	o := s.find(c.Order)
	if o == nil {
		if status, _, ok := s.past.find(c.Order); ok {
			return engine.Decision{Reply: &OrderReply{Past: true, Status: status}}
		}
		return refuse(engine.OrderNotFound, nil)
	}
	a := o.Attempt(c.Reference)
	if a == nil {
		return refuse(engine.NotFound, nil)
	}
	if p := s.placing[o.ID]; p != nil { // stock is being taken again
		if p.late.Reference == c.Reference && c.Status == AttemptSucceeded {
			return engine.Decision{Hold: &p.order.ID}
		}
		return refuse(engine.Unavailable, nil) // this one has to be told again
	}
	f := &PaymentReported{ID: o.ID, Reference: c.Reference, Status: c.Status, Received: c.Received, At: at}
	full := c.Status == AttemptSucceeded && c.Currency == o.Currency && c.Received >= a.Amount
	back := o.sentBack(c.Reference)
	switch {
	case c.Status == AttemptSucceeded && !full:
		f.Status = AttemptUnderpaid
	case full && back == 0 && a.Status != AttemptSucceeded:
		return s.settle(o, f, at)
	}
	more := f.Received > a.Received && a.Status != AttemptSucceeded
	if !more && (f.Status == a.Status || !a.Open()) {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	facts := []engine.Fact{f}
	if more && !o.Unpaid() {
		facts = append(facts, refundDue(f, f.Received-back, "underpaid"))
	}
	return noted(o, facts)
}

// noted is the decision that takes facts about an order in, and answers with
// what becomes of it.
func noted(o *Order, facts []engine.Fact) engine.Decision {
	after := o
	for _, f := range facts {
		after = Fold(after, f)
	}
	return engine.Decision{Facts: facts, Reply: &OrderReply{Order: after, Status: after.Status}}
}

// settle acts on money that has arrived in full for the first time.
func (s *State) settle(o *Order, f *PaymentReported, at int64) engine.Decision {
	switch {
	case s.status == StatusCancelled:
		return sendBack(o, f, "cancelled")
	case o.Unpaid():
		done := &OrderCompleted{ID: o.ID, Serial: o.Serial, First: s.minted.next(), At: at}
		d := noted(o, append([]engine.Fact{f, done}, shortMoney(o, f.Reference, at)...))
		s.tellKeepers(&d, o, allLines(o), true)
		return d
	case o.Status == Completed:
		return sendBack(o, f, "twice")
	case o.Status == Cancelled:
		return sendBack(o, f, "cancelled")
	case !selling(s.status) || s.details.Capacity != NoCapacity && o.Tickets() > s.room():
		return sendBack(o, f, "late")
	}
	// The order ended before its money came: take stock again, by an order
	// of the same id with a new serial.
	again := *o
	again.Serial = keeper.NewSerial(s.epoch, s.counter+1)
	report := ReportPayment{Order: o.ID, Reference: f.Reference, Status: f.Status, Received: f.Received, Currency: o.Currency}
	return s.startPlacing(&placing{order: &again, at: at, waiting: allLines(o), late: &report})
}

// sendBack notes money and that it is to be refunded.
func sendBack(o *Order, f *PaymentReported, reason string) engine.Decision {
	return noted(o, []engine.Fact{f, refundDue(f, f.Received, reason)})
}

func refundDue(f *PaymentReported, amount int64, reason string) *RefundDue {
	return &RefundDue{ID: f.ID, Refund: Refund{
		Reference: f.Reference, Amount: amount, Reason: reason, Status: RefundProcessing, At: f.At,
	}}
}

// shortMoney are the refunds of what came short of an ending order's price, by
// other attempts than the one that paid it.
func shortMoney(o *Order, paidBy string, at int64) []engine.Fact {
	var facts []engine.Fact
	for i := range o.Attempts {
		a := &o.Attempts[i]
		if short := a.Received - o.sentBack(a.Reference); short > 0 && a.Reference != paidBy {
			facts = append(facts, &RefundDue{ID: o.ID, Refund: Refund{
				Reference: a.Reference, Amount: short, Reason: "underpaid", Status: RefundProcessing, At: at,
			}})
		}
	}
	return facts
}

// lateReport is the fact of the money that p takes stock again for.
func (p *placing) lateReport(at int64) *PaymentReported {
	return &PaymentReported{
		ID: p.order.ID, Reference: p.late.Reference, Status: p.late.Status, Received: p.late.Received, At: at,
	}
}

// settleLate completes an order whose stock has been taken again.
func (s *State) settleLate(p *placing, at int64) engine.Decision {
	o := s.find(p.order.ID)
	f := p.lateReport(at)
	done := &OrderCompleted{ID: o.ID, Serial: p.order.Serial, First: s.minted.next(), At: at}
	d := noted(o, []engine.Fact{f, done})
	d.Answers, d.Reply = []engine.Answer{{Key: o.ID, Reply: d.Reply}}, nil
	s.tellKeepers(&d, p.order, allLines(p.order), true)
	return d
}

// refundLate sends late money back, for the stock is gone.
func (s *State) refundLate(p *placing, at int64) engine.Decision {
	d := sendBack(s.find(p.order.ID), p.lateReport(at), "late")
	d.Facts = append(d.Facts, &Dropped{ID: p.order.ID})
	d.Answers, d.Reply = []engine.Answer{{Key: p.order.ID, Reply: d.Reply}}, nil
	s.tellKeepers(&d, p.order, allLines(p.order), false)
	return d
}

// decideRefund notes how a refund fares at the provider.
func (s *State) decideRefund(c ReportRefund, at int64) engine.Decision {
	o := s.find(c.Order)
	if o == nil || c.Position < 0 || c.Position >= len(o.Refunds) || o.Refunds[c.Position].Reference != c.Reference {
		return refuse(engine.OrderNotFound, nil)
	}
	if r := &o.Refunds[c.Position]; r.Status == RefundProcessed || r.Status == c.Status && r.ProviderRef == c.ProviderRef {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	return noted(o, []engine.Fact{&RefundReported{
		ID: o.ID, Reference: c.Reference, Position: c.Position, Status: c.Status, ProviderRef: c.ProviderRef, At: at,
	}})
}

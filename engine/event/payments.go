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
	f := &PaymentBegun{ID: o.ID, ExpiresAt: o.ExpiresAt, Attempt: Attempt{
		Reference: c.Number + "-" + strconv.Itoa(len(o.Attempts)+1),
		Provider:  c.Provider, Status: AttemptPending, Amount: o.Total, At: at,
	}}
	if !o.Extended {
		f.ExpiresAt = max(o.ExpiresAt, at+c.WindowMillis)
	}
	begun := o.begun(f)
	return engine.Decision{Facts: []engine.Fact{f}, Reply: &OrderReply{Order: begun, Status: begun.Status}}
}

// payable returns an order that may be paid, or the refusal that says why not.
func (s *State) payable(id engine.OrderID) (*Order, engine.Decision) {
	o := s.find(id)
	var status string
	if o != nil {
		status = o.Status
	} else if past, _, ok := s.past.find(id); ok {
		status = past
	} else {
		return nil, refuse(engine.OrderNotFound, nil)
	}
	switch {
	case o != nil && o.Total == 0:
		return nil, refuse(engine.NothingToPay, nil)
	case status == Completed || status == Refunded || status == PartiallyRefunded:
		return nil, refuse(engine.AlreadyPaid, nil)
	case o == nil || !o.Unpaid():
		return nil, refuse(engine.OrderNotPayable, OrderState{Status: status, Reason: "the order has ended"})
	case s.status == StatusCancelled:
		return nil, refuse(engine.OrderNotPayable, OrderState{Status: status, Reason: "the event was cancelled"})
	}
	return o, engine.Decision{}
}

func (s *State) decideOpen(c OpenPayment, at int64) engine.Decision {
	o := s.find(c.Order)
	if o == nil || o.Attempt(c.Reference) == nil {
		return refuse(engine.OrderNotFound, nil)
	}
	f := &PaymentOpened{ID: o.ID, Reference: c.Reference, URL: c.URL, At: at}
	opened := o.opened(f)
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
	if p := s.placing[o.ID]; p != nil {
		return engine.Decision{Hold: &p.order.ID} // stock is being taken again
	}
	f := &PaymentReported{ID: o.ID, Reference: c.Reference, Status: c.Status, Received: c.Received, At: at}
	if c.Status == AttemptSucceeded {
		if c.Currency != o.Currency || c.Received < a.Amount {
			f.Status = AttemptUnderpaid
		} else if a.Status != AttemptSucceeded && a.Status != AttemptRefunded {
			return s.settle(o, f, at)
		}
	}
	if f.Status == a.Status || !a.Open() && f.Status != AttemptUnderpaid || a.Status == AttemptSucceeded || a.Status == AttemptRefunded {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	reported := o.reported(f)
	d := engine.Decision{Facts: []engine.Fact{f}}
	if f.Status == AttemptUnderpaid && !o.Unpaid() && f.Received > 0 {
		due := &RefundDue{ID: o.ID, Refund: refundOf(f, "underpaid")}
		d.Facts = append(d.Facts, due)
		reported = reported.due(due)
	}
	d.Reply = &OrderReply{Order: reported, Status: reported.Status}
	return d
}

// settle acts on money that has arrived in full for the first time.
func (s *State) settle(o *Order, f *PaymentReported, at int64) engine.Decision {
	switch {
	case o.Unpaid():
		done := &OrderCompleted{ID: o.ID, Serial: o.Serial, First: s.minted.next(), At: at}
		paid := o.reported(f).completed(done)
		d := engine.Decision{Facts: []engine.Fact{f, done}, Reply: &OrderReply{Order: paid, Status: paid.Status}}
		s.tellKeepers(&d, o, allLines(o), true)
		return d
	case o.Status == Completed:
		return sendBack(o, f, "twice")
	case o.Status == Cancelled || s.status == StatusCancelled:
		return sendBack(o, f, "cancelled")
	case !selling(s.status) || s.details.Capacity != NoCapacity && o.Tickets() > s.room():
		return sendBack(o, f, "late")
	}
	// The order ended before its money came: take stock again, by an order
	// of the same id with a new serial.
	again := *o
	again.Serial = keeper.NewSerial(s.epoch, s.counter+1)
	report := ReportPayment{Order: o.ID, Reference: f.Reference, Status: f.Status, Received: f.Received, Currency: o.Currency}
	return s.startPlacing(&placing{order: &again, at: at, waiting: allLines(o), late: &report}, at)
}

// sendBack notes money and that it is to be refunded.
func sendBack(o *Order, f *PaymentReported, reason string) engine.Decision {
	due := &RefundDue{ID: o.ID, Refund: refundOf(f, reason)}
	after := o.reported(f).due(due)
	return engine.Decision{Facts: []engine.Fact{f, due}, Reply: &OrderReply{Order: after, Status: after.Status}}
}

func refundOf(f *PaymentReported, reason string) Refund {
	return Refund{Reference: f.Reference, Amount: f.Received, Reason: reason, Status: RefundProcessing, At: f.At}
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
	paid := o.reported(f).completed(done)
	d := engine.Decision{
		Facts:   []engine.Fact{f, done},
		Answers: []engine.Answer{{Key: o.ID, Reply: &OrderReply{Order: paid, Status: paid.Status}}},
	}
	s.tellKeepers(&d, paid, allLines(paid), true)
	return d
}

// refundLate sends late money back, for the stock is gone.
func (s *State) refundLate(p *placing, at int64) engine.Decision {
	d := sendBack(s.find(p.order.ID), p.lateReport(at), "late")
	d.Facts = append(d.Facts, &Dropped{ID: p.order.ID})
	d.Answers = []engine.Answer{{Key: p.order.ID, Reply: d.Reply}}
	d.Reply = nil
	s.tellKeepers(&d, p.order, allLines(p.order), false)
	return d
}

// decideRefund notes how a refund fares at the provider.
func (s *State) decideRefund(c ReportRefund, at int64) engine.Decision {
	o := s.find(c.Order)
	if o == nil || !o.refunding(c.Reference) {
		return refuse(engine.OrderNotFound, nil)
	}
	f := &RefundReported{ID: o.ID, Reference: c.Reference, Status: c.Status, ProviderRef: c.ProviderRef, At: at}
	after := o.refundReported(f)
	return engine.Decision{Facts: []engine.Fact{f}, Reply: &OrderReply{Order: after, Status: after.Status}}
}

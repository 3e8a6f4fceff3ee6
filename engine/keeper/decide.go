package keeper

import "boxoffice/engine"

// Goods is what a keeper keeps, as the protocol sees it: units, seats, dates, uses of a code or money. Every
// keeper kind implements it by its State, or, as promo codes do, by a type that has the State. The methods with
// a Decision add the kind's facts to it, and whatever else follows from them. They do not add the answer to the
// ledger, which Protocol does.
type Goods interface {
	// RefuseLine returns the reason why a line can't be reserved, or nil. replaced is what the same order holds
	// under an earlier serial, or a zero Held; it counts as given back.
	RefuseLine(l *Line, replaced Held, at int64) *engine.Refusal
	// GrantLine returns the answer to a line that is reserved.
	GrantLine(c Reserve) Granted
	// ReserveLine sets aside a line that has not been refused.
	ReserveLine(d *engine.Decision, c Reserve, replaced Held, at int64)
	// CommitLine sells what is held.
	CommitLine(d *engine.Decision, c Commit, h Held, at int64)
	// ReleaseLine gives back what is held.
	ReleaseLine(d *engine.Decision, c Release, h Held, at int64)
}

// Protocol is a keeper's side of the reservation protocol with one ledger. It decides what a
// command means from what the book knows of its claim, so that a command may come twice, late, or
// after the one that follows it.
type Protocol struct {
	Self   engine.Ref // the keeper
	Ledger engine.Ref // the ledger of the orders that it keeps goods for
	Book   *Book
	Goods  Goods
}

// Decide decides the ledger's commands Reserve, Commit, Release and Confirmed. mine is false for
// any other command.
func (p Protocol) Decide(c engine.Command, at int64) (d engine.Decision, mine bool) {
	switch c := c.(type) {
	case Reserve:
		return p.decideReserve(c, at), true
	case Commit:
		return p.decideCommit(c, at), true
	case Release:
		return p.decideRelease(c, at), true
	case Confirmed:
		return engine.Decision{Facts: []engine.Fact{&ConfirmedFact{Claims: c.Claims}}}, true
	default:
		return engine.Decision{}, false
	}
}

// decideReserve reserves a line or refuses it. It repeats the grant if the line is reserved already, and does
// nothing if the claim has ended or is barred.
func (p Protocol) decideReserve(c Reserve, at int64) (d engine.Decision) {
	state, held := p.Book.Look(c.Claim)
	switch state {
	case Open:
		return engine.Decision{Sends: p.answerKeeper(p.Goods.GrantLine(c))}
	case Ended, Barred:
		return engine.Decision{} // the Reserve is late, and its ledger no longer waits
	case Unknown, Replaces:
	}
	if r := p.Goods.RefuseLine(&c.Line, held, at); r != nil {
		return engine.Decision{Sends: p.answerKeeper(Refused{Claim: c.Claim, Keeper: p.Self, Refusal: r})}
	}
	// The ledger of an order with only this keeper may get the grant before the reservation is durable (a joint
	// command). Other ledgers get it afterwards.
	if c.Sole {
		d.Joint = p.answerKeeper(p.Goods.GrantLine(c))
	} else {
		d.Sends = p.answerKeeper(p.Goods.GrantLine(c))
	}
	p.Goods.ReserveLine(&d, c, held, at)
	return d
}

// decideCommit sells what a claim holds, and answers Closed, also if the claim has ended before. It does nothing for a
// claim that it does not know: another activation has its reservation then.
func (p Protocol) decideCommit(c Commit, at int64) engine.Decision {
	d := engine.Decision{Sends: p.answerKeeper(Closed{Claim: c.Claim, Keeper: p.Self})}
	switch state, held := p.Book.Look(c.Claim); state {
	case Open:
		p.Goods.CommitLine(&d, c, held, at)
	case Ended:
	case Unknown, Replaces, Barred:
		// A ledger commits only what was granted. So another activation of this keeper has
		// succeeded this one and has the reservation. This one gives no answer, and the ledger
		// asks again.
		return engine.Decision{}
	}
	return d
}

// decideRelease gives back what a claim holds, and answers Closed, also if the claim has ended before. A claim that it
// does not know is barred without an answer, so that its Reserve does nothing if it comes late.
func (p Protocol) decideRelease(c Release, at int64) engine.Decision {
	d := engine.Decision{Sends: p.answerKeeper(Closed{Claim: c.Claim, Keeper: p.Self})}
	switch state, held := p.Book.Look(c.Claim); state {
	case Unknown, Replaces, Barred:
		// The ledger waits for an answer only if it was granted something. Either its Reserve was
		// lost, and the ledger does not wait. Or another activation has succeeded this one and
		// has the reservation, and this one must not answer for it.
		return engine.Decision{Facts: []engine.Fact{&BarredFact{Claim: c.Claim}}}
	case Open:
		p.Goods.ReleaseLine(&d, c, held, at)
	case Ended:
		if p.Book.isSuperseded(c.Claim) {
			// Once the later serial has ended too, nothing else would show that a Reserve of
			// this serial comes late.
			d.Facts = append(d.Facts, &BarredFact{Claim: c.Claim})
		}
	}
	return d
}

// DecideReturn takes sold goods back, once. If the book says that the refund's serial has ended,
// the return was heard before and is only acknowledged again. takeBack adds the facts of the kind.
// Seats don't need this method, because a seat knows to whom it was sold.
func (p Protocol) DecideReturn(c Return, takeBack func(d *engine.Decision)) engine.Decision {
	d := engine.Decision{Sends: p.answerKeeper(Returned{Claim: c.Claim, Keeper: p.Self, Under: c.Under})}
	if state, _ := p.Book.Look(c.Claim); state != Ended {
		takeBack(&d)
	}
	return d
}

// DecideWake adds to d the question about reservations that have been unconfirmed for InquireAfterMillis, if
// there are any. If the ledger has forgotten such an order, it answers with a Release (presumed abort).
func (p Protocol) DecideWake(d *engine.Decision, at int64) {
	claims, inquired := p.Book.Inquire(at)
	if inquired == nil {
		return
	}
	d.Facts = append(d.Facts, inquired)
	if len(claims) > 0 {
		d.Sends = append(d.Sends, p.answerKeeper(Inquire{Keeper: p.Self, Claims: claims})...)
	}
}

// answerKeeper returns a command to the ledger, as what a decision sends.
func (p Protocol) answerKeeper(c engine.Command) []engine.Send {
	return []engine.Send{{To: p.Ledger, Cmd: c}}
}

// Apply applies the protocol's volatile facts, and reports whether the fact was one of them.
func (b *Book) Apply(f engine.Fact) bool {
	switch f := f.(type) {
	case *BarredFact:
		b.applyBarred(f)
	case *InquiredFact:
		b.applyInquired(f)
	case *ConfirmedFact:
		b.applyConfirmed(f)
	default:
		return false
	}
	return true
}

package ledger

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/order"
)

// Orders that the organization makes itself are placed as other orders are, but the limits that
// share tickets out among buyers do not bind them, and they are completed at once.
//
// An order of tickets that cost something has a fee, which the organization's wallet keeps as other
// keepers keep stock. The wallet is asked last, because the fee depends on the prices that the
// others grant. Everything before the wallet's grant is volatile: a crash forgets it, and each
// keeper asks what has become of its reservation. So either the fee and the tickets are taken
// together, or nothing is taken.

// group is a list of orders: either all are made or none.
type group struct {
	orders  []engine.OrderID
	waiting int // how many of the orders still wait for a grant
}

// caller returns the key under which the caller that placed an order waits.
func (p *placing) caller() *engine.OrderID {
	if p.group != nil {
		return &p.group.orders[0]
	}
	return &p.order.ID
}

// isFirst reports whether an order is placed alone, or is the first of those placed together.
func (p *placing) isFirst() bool { return *p.caller() == p.order.ID }

// placedTogether returns the orders that are placed with p, including p.
func (b *Book) placedTogether(p *placing) []*placing {
	if p.group == nil {
		return []*placing{p}
	}
	var all []*placing
	for _, id := range p.group.orders {
		all = append(all, b.placing[id])
	}
	return all
}

// decidePlaceAll asks the keepers for everything that the orders take. If one of the orders is refused, or if there is no
// room for all of them together, none is placed. A repeated command gets the answer of the first (decideKnownAll).
func (b *Book) decidePlaceAll(c PlaceAll, t *Terms, at int64) engine.Decision {
	if d, known := b.decideKnownAll(c); known {
		return d
	}
	g := &group{waiting: len(c.Orders)}
	d := engine.Decision{}
	var tickets int64
	for i := range c.Orders {
		p, r := b.beginPlacing(t, c.Orders[i], uint32(i)+1, at) //nolint:gosec // few
		if r != nil {
			return engine.Decision{Reply: r}
		}
		tickets += p.order.Tickets()
		p.group, g.orders = g, append(g.orders, p.order.ID)
		one := b.startPlacing(p)
		d.Facts, d.Asks, d.WaitKey = append(d.Facts, one.Facts...), append(d.Asks, one.Asks...), one.WaitKey
	}
	if r := b.refuseRoom(t, c.Orders[0].Lines, tickets); r != nil {
		return engine.Decision{Reply: r}
	}
	return d
}

// decideKnownAll answers a PlaceAll that has been seen before. If the ledger knows the first of its orders but
// not all of them, they were placed together with others before, and it refuses.
func (b *Book) decideKnownAll(c PlaceAll) (engine.Decision, bool) {
	for _, alias := range []bool{false, true} {
		all := new(AllReply)
		for i := range c.Orders {
			id := c.Orders[i].Order
			if alias {
				id = c.Orders[i].Alias
			}
			d, known := b.decideKnownAs(id, c.Orders[i].Fingerprint)
			if !known {
				break
			}
			r, ok := d.Reply.(*OrderReply)
			if !ok { // it was refused or still waits
				return d, true
			}
			all.Orders = append(all.Orders, *r)
		}
		switch len(all.Orders) {
		case 0:
		case len(c.Orders):
			return engine.Decision{Reply: all}, true
		default: // other orders were placed together before
			return refuse(engine.IdempotencyReused, nil), true
		}
	}
	return engine.Decision{}, false
}

// refuseAll words a keeper's refusal of one order for all orders that were placed together: if stock is
// lacking, the tickets of all of them count as requested, and those that were granted as available. To a refusal
// for a date's cap it adds the ticket type, which the calendar does not know.
func (b *Book) refuseAll(p *placing, why *engine.Refusal) *engine.Refusal {
	if dated, ok := why.Details.(keeper.DateCap); ok && dated.Line < len(p.order.Lines) {
		dated.TicketTypeID = b.typeID(&p.order.Lines[dated.Line])
		return engine.Refuse(why.Code, dated)
	}
	out, ok := why.Details.(keeper.OutOfStock)
	if !ok || p.group == nil {
		return why
	}
	out.Requested = 0
	for _, q := range b.placedTogether(p) {
		out.Requested += q.order.Tickets()
		if q.waiting.Empty() {
			out.Available += q.order.Tickets()
		}
	}
	return engine.Refuse(why.Code, out)
}

// createAll makes the orders that were placed together, with consecutive tickets, and answers the caller with all of
// them. g is the grant that the last of them waited for.
func (b *Book) createAll(t *Terms, last *placing, g *LineGranted, at int64) engine.Decision {
	var d engine.Decision
	all, first := new(AllReply), t.Tickets.Next()
	for _, p := range b.placedTogether(last) {
		o := *p.order
		if p == last {
			takeGrant(&o, g)
		}
		made := b.addMade(t, &d, &o, first, at)
		first += uint32(o.Tickets()) //nolint:gosec // bounded with the request
		all.Orders = append(all.Orders, OrderReply{Order: made, Status: made.Status})
	}
	d.Answers = []engine.Answer{{Key: *last.caller(), Reply: all}}
	return d
}

// askFee asks the wallet for the fee of an order for which everything else is granted, and notes g, the last of those
// grants. It asks before its facts are durable (Asks).
func (b *Book) askFee(t *Terms, o *order.Order, g *LineGranted, fee int64) engine.Decision {
	asked := &FeeAsked{ID: o.ID, Fee: fee, Wallet: engine.WalletRef(t.Org, o.Currency)}
	p := &placing{order: o}
	asked.awaitFee(p)
	claim := keeper.Claim{Order: o.ID, Serial: o.Serial}
	place := len(o.Lines) + places.Wallet
	return engine.Decision{
		Facts: []engine.Fact{g, asked},
		Asks:  []engine.Send{{To: places.KeeperOf(b.home, o, place), Cmd: keeper.Reserve{Claim: claim, Line: p.askedOf(place)}}},
	}
}

// awaitFee makes an order wait for the wallet alone.
func (f *FeeAsked) awaitFee(p *placing) {
	issue := *p.order.Issue
	issue.Fee, issue.Wallet = f.Fee, f.Wallet
	p.order.Issue, p.waiting = &issue, places.Only(len(p.order.Lines)+places.Wallet)
}

func (b *Book) applyFeeAsked(f *FeeAsked) {
	if p := b.placing[f.ID]; p != nil {
		f.awaitFee(p)
	}
}

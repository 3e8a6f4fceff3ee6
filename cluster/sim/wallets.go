package sim

import (
	"fmt"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/wallet"
)

// takeWallet judges what a wallet notes of what events have earned: each fact is newer than
// the one before it, and says no more than has been sold.
func (t *truth) takeWallet(ref engine.Ref, f engine.Fact) error {
	told, ok := f.(*wallet.Told)
	if !ok {
		return t.takeFee(ref, f)
	}
	is, was := told.Proceeds, t.earned[told.Proceeds.Event]
	if is.Revision <= was.Revision {
		return fmt.Errorf("event %d: revision %d follows %d", is.Event, is.Revision, was.Revision)
	}
	if sales, refunds := t.book(is.Event).earned(); is.Sales > sales || is.Refunds > refunds {
		return fmt.Errorf("event %d: the wallet has sales of %d less %d, there are %d less %d", is.Event, is.Sales, is.Refunds, sales, refunds)
	}
	t.earned[is.Event] = is
	return nil
}

// earned is what the organization has earned by the event, and what it has given back.
func (b *book) earned() (sales, refunds int64) {
	for _, id := range b.ids {
		if o := b.orders[id].order; o.Sold() {
			sales += o.Earns()
			refunds += o.GaveBack()
		}
	}
	return sales, refunds
}

// settledProceeds makes sure that the wallet has all that the event has earned, once.
func (s *Sim) settledProceeds(sh *show) error {
	b, has := s.truth.book(sh.ref.ID), s.truth.earned[sh.ref.ID]
	sales, refunds := b.earned()
	if b.removed || has.Sales == sales && has.Refunds == refunds {
		return nil
	}
	return fmt.Errorf("the wallet has sales of %d less %d, there are %d less %d", has.Sales, has.Refunds, sales, refunds)
}

// deafWallet acknowledges what an event has earned, and every other time notes nothing.
type deafWallet struct{ engine.State }

func (w *deafWallet) Decide(c engine.Command, now time.Time) engine.Decision {
	d := w.State.Decide(c, now)
	if p, ok := c.(keeper.Proceeds); ok && p.Revision%2 == 0 {
		d.Facts = nil
	}
	return d
}

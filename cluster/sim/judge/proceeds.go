package judge

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/wallet"
)

// takeWallet judges what a wallet notes. Of the earnings of events each note must be newer than the one before it,
// and may tell no more than the journal has sold. Everything else is about fees.
func (t *Truth) takeWallet(ref engine.Ref, f engine.Fact) error {
	told, ok := f.(*wallet.Told)
	if !ok {
		return t.takeFee(ref, f)
	}
	// Notes may overtake each other on their way to the wallet. The revision is how the wallet drops an older one.
	is, was := told.Proceeds, t.earned[told.Proceeds.Event]
	if is.Revision <= was.Revision {
		return fmt.Errorf("event %d: revision %d follows %d", is.Event, is.Revision, was.Revision)
	}
	if sales, refunds := t.bookOf(is.Event).sumEarned(); is.Sales > sales || is.Refunds > refunds {
		return fmt.Errorf("event %d: the wallet has sales of %d less %d, there are %d less %d", is.Event, is.Sales, is.Refunds, sales, refunds)
	}
	t.earned[is.Event] = is
	return nil
}

// sumEarned returns what the organization has earned by the event's orders and what it has given back, in minor
// units.
func (b *book) sumEarned() (sales, refunds int64) {
	for _, id := range b.ids {
		if o := b.orders[id].order; o.Sold() {
			sales += o.Earns()
			refunds += o.GaveBack()
		}
	}
	return sales, refunds
}

// settledProceeds makes sure, once the world is quiet, that the wallet was told of all that the event has earned.
func (t *Truth) settledProceeds(sh *Show) error {
	b, has := t.bookOf(sh.Event.ID), t.earned[sh.Event.ID]
	sales, refunds := b.sumEarned()
	if b.removed || has.Sales == sales && has.Refunds == refunds {
		return nil
	}
	return fmt.Errorf("the wallet has sales of %d less %d, there are %d less %d", has.Sales, has.Refunds, sales, refunds)
}

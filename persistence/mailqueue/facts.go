package mailqueue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// Follower is the name under which facts that cannot be mailed are set aside.
const Follower = "mail"

// oldestMailed is how old a fact may be for a mail: who reads the journal from its
// beginning writes to nobody about last year's orders.
const oldestMailed = 7 * 24 * time.Hour

// rules is the table of the facts that mail something. silent has the others.
var rules = tableOf(
	on(func(_ context.Context, b *batch, f *event.OrderCompleted, of source) error {
		return b.addMail(f.At, of, Mail{Template: OrderConfirmation, Order: f.ID.String()})
	}),
	on(func(_ context.Context, b *batch, f *event.OrderEnded, of source) error {
		if f.Status != event.Cancelled {
			return nil // nobody waits for an order that was left alone
		}
		return b.addMail(f.At, of, Mail{Template: OrderCancelled, Order: f.ID.String()})
	}),
	on(func(_ context.Context, b *batch, f *event.RefundDue, of source) error {
		return b.addMail(f.Refund.At, of, Mail{Template: RefundDue, Order: f.ID.String(), Amount: f.Refund.Amount, Reason: f.Refund.Reason})
	}),
	on(func(_ context.Context, b *batch, f *event.RefundReported, of source) error {
		if f.Status != event.RefundProcessed {
			return nil
		}
		return b.addMail(f.At, of, Mail{Template: RefundProcessed, Order: f.ID.String(), Refund: f.Position})
	}),
	on(func(ctx context.Context, b *batch, f *event.Created, of source) error {
		return b.announceChange(ctx, f.Details, f.At, of)
	}),
	on(func(ctx context.Context, b *batch, f *event.Updated, of source) error {
		return b.announceChange(ctx, f.Details, f.At, of)
	}),
	on(func(ctx context.Context, b *batch, f *event.Moved, of source) error {
		if f.To != event.StatusCancelled {
			return nil
		}
		return b.announceCancellation(ctx, f, of)
	}),
)

// silent are the facts of an event that mail nothing.
var silent = []engine.Fact{
	(*event.Removed)(nil), // a draft, which nobody has tickets of
	(*event.Offered)(nil), (*event.OrderCreated)(nil), (*event.OrderClosed)(nil),
	(*event.PaymentBegun)(nil), (*event.PaymentOpened)(nil), (*event.PaymentReported)(nil),
	(*event.CheckedIn)(nil), (*event.CheckInDenied)(nil),
}

// rule says what a fact of an event mails.
type rule func(ctx context.Context, b *batch, f engine.Fact, of source) error

// row is a rule with the type of its facts.
type row struct {
	of     engine.FactType
	follow rule
}

func on[F engine.Fact](do func(context.Context, *batch, F, source) error) row {
	var none F
	return row{none.FactType(), func(ctx context.Context, b *batch, f engine.Fact, of source) error {
		return do(ctx, b, f.(F), of) //nolint:errcheck // the type is its key
	}}
}

func tableOf(rows ...row) map[engine.FactType]rule {
	t := make(map[engine.FactType]rule, len(rows))
	for _, r := range rows {
		t[r.of] = r.follow
	}
	return t
}

// source says which fact it is, in the same words on every replay.
type source struct {
	event       int64
	stream, seq int64
}

func (s source) String() string { return fmt.Sprintf("%d/%d", s.stream, s.seq) }

// batch is what one transaction of the follower puts out.
type batch struct {
	*Queue
	tx     pgx.Tx
	oldest int64 // facts before it mail nothing; unix milliseconds
	mails  []Mail
}

// Apply puts out what facts mail, within the follower's transaction. The read
// model must have passed the batches.
func (o *Queue) Apply(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	b := &batch{Queue: o, tx: tx, oldest: time.Now().Add(-oldestMailed).UnixMilli()}
	for i := range batches {
		for j := range batches[i].Records {
			if err := b.take(ctx, &batches[i].Records[j]); err != nil {
				return fmt.Errorf("mailqueue: batch %d of writer %d: %w", batches[i].Seq, batches[i].Writer, err)
			}
		}
	}
	return o.AddIn(ctx, tx, b.mails...)
}

// take follows the rules for one record's facts. A fact without a rule is not
// even decoded.
func (b *batch) take(ctx context.Context, r *journal.Record) error {
	if r.Ref.Kind != engine.KindEvent {
		return nil
	}
	left := r.Bytes
	for i := 0; len(left) > 0; i++ {
		typ, _, rest, err := codec.Split(left)
		if err != nil {
			return err
		}
		one := left[:len(left)-len(rest)]
		left = rest
		follow := rules[typ]
		if follow == nil {
			continue
		}
		f, err := factOf(r, i, one)
		if err != nil {
			return err
		}
		if err := follow(ctx, b, f, source{event: r.Ref.ID, stream: r.Stream, seq: r.First + int64(i)}); err != nil {
			return err
		}
	}
	return nil
}

// factOf is the i-th fact of a record, of which one is the bytes.
func factOf(r *journal.Record, i int, one []byte) (engine.Fact, error) {
	if r.Facts != nil {
		return r.Facts[i], nil
	}
	facts, err := codec.Facts(r.Ref.Kind, one)
	if err != nil {
		return nil, err
	}
	return facts[0], nil
}

// addMail puts a mail about a fact into the bundle.
func (b *batch) addMail(at int64, of source, l Mail) error {
	if at >= b.oldest {
		l.Subject = of.String()
		b.mails = append(b.mails, l)
	}
	return nil
}

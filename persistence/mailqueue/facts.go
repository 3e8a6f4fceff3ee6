package mailqueue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/proceeds"
	"boxoffice/engine/waitlist"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/readmodel"
)

// Follower is the name of this follower in the table set_aside. A fact whose mails can't be made is set aside
// there, so that it stops no later mail.
const Follower = "mail"

// oldestMailed is the age beyond which a fact causes no mail. A new follower reads the journal from
// its beginning, and must not mail anybody about last year's orders.
const oldestMailed = 7 * 24 * time.Hour

// rules says for each type of fact which mails it causes. A fact type of an event must stand either
// here or in silent, so that nobody forgets to decide about a new one.
var rules = tableOf(
	ruleFor(func(_ context.Context, b *batch, f *order.Completed, of source) error {
		// The name of a buyer is noted for an account that the buyer may open later (noteBuyers).
		if f.At >= b.oldest {
			b.bought = append(b.bought, f.ID)
		}
		return b.addMail(f.At, of, Mail{Template: OrderConfirmation, Order: f.ID.String()})
	}),
	ruleFor(func(_ context.Context, b *batch, f *order.PaymentReported, _ source) error {
		// The buyer watches most payments as they go through, and needs no mail about them. Coins
		// and bank transfers arrive while the buyer is away. Coins that were seen have an
		// Arrived; a transfer that is too small has only its status.
		if f.Status != order.AttemptUnderpaid && (f.Status != order.AttemptProcessing || f.Arrived == "") {
			return nil
		}
		// A provider reports the same status again as confirmations come in, so each status of the
		// order has only one mail.
		return b.addMailAbout(f.ID.String()+"/"+f.Status, f.At, Mail{Template: PaymentSeen, Order: f.ID.String(), Reason: f.Status})
	}),
	ruleFor(func(_ context.Context, b *batch, f *order.PaymentOpened, _ source) error {
		if f.Deposit == nil || f.Deposit.Network != order.NetworkBank {
			return nil // the buyer is on the provider's page, or looks at the address for coins
		}
		// All transfers for an order go to one account with one reference, so a second attempt to
		// pay by transfer needs no second mail.
		return b.addMailAbout(f.ID.String(), f.At, Mail{Template: BankTransfer, Order: f.ID.String()})
	}),
	ruleFor(func(_ context.Context, b *batch, f *order.Ended, of source) error {
		if f.Status != order.StatusCancelled {
			return nil // nobody waits for an order that was abandoned
		}
		return b.addMail(f.At, of, Mail{Template: OrderCancelled, Order: f.ID.String()})
	}),
	ruleFor(func(_ context.Context, b *batch, f *order.RefundDue, of source) error {
		if ask := f.Refund.Ask; ask != nil {
			if ask.By != order.AskedByBuyer || len(ask.Tickets) == 0 {
				return nil // it is granted at once
			}
			return b.addMail(f.Refund.At, of, Mail{Template: RefundRequested, Order: f.ID.String(), Amount: f.Refund.Amount, Ticket: ask.Tickets[0]})
		}
		return b.addMail(f.Refund.At, of, Mail{
			Template: RefundDue, Order: f.ID.String(), Amount: f.Refund.Amount, Currency: f.Refund.Currency, Reason: f.Refund.Reason,
			Refund: max(f.Number-1, 0), // older facts don't have the number
		})
	}),
	ruleFor(func(_ context.Context, b *batch, f *order.RefundDecided, of source) error {
		switch {
		case f.Status == order.RefundDenied:
			return b.addMail(f.At, of, Mail{Template: RefundDenied, Order: f.ID.String(), Refund: f.Position})
		case f.Serial == 0:
			return nil // the person who asked has taken the request back
		}
		return b.addMail(f.At, of, Mail{Template: RefundDue, Order: f.ID.String(), Amount: f.Amount, Refund: f.Position, Reason: Granted})
	}),
	ruleFor(func(_ context.Context, b *batch, f *order.RefundReported, of source) error {
		if f.Status != order.RefundProcessed {
			return nil
		}
		return b.addMail(f.At, of, Mail{Template: RefundProcessed, Order: f.ID.String(), Refund: f.Position})
	}),
	ruleFor(func(_ context.Context, b *batch, f *order.TransferOffered, of source) error {
		return b.addMail(f.At, of, Mail{
			Template: TransferOffered, Order: f.ID.String(), To: f.To, Name: f.Name, Ticket: f.Ticket, Round: f.Round, From: f.From,
		})
	}),
	ruleFor(func(_ context.Context, b *batch, f *order.TransferRevoked, of source) error {
		if f.To == "" {
			// Nobody is to be told (admission.RevokeOf), or the fact is of an earlier version of the program,
			// which did not name the person.
			return nil
		}
		return b.addMail(f.At, of, Mail{Template: TransferRevoked, Order: f.ID.String(), To: f.To, Name: f.Name, Ticket: f.Ticket, From: f.From})
	}),
	ruleFor(func(_ context.Context, b *batch, f *order.TicketRescheduled, of source) error {
		return b.addMail(f.At, of, Mail{Template: TicketRescheduled, Order: f.ID.String(), Ticket: f.Ticket})
	}),
	ruleFor(func(_ context.Context, b *batch, f *waitlist.Joined, of source) error {
		e := f.Entry
		return b.addMail(e.At, of, Mail{Template: WaitlistJoined, Order: e.ID.String(), To: e.Email, Name: e.Name, Language: e.Language, Type: e.Type, Count: e.Quantity})
	}),
	ruleFor(func(_ context.Context, b *batch, f *waitlist.OfferMade, of source) error {
		o := f.Order
		return b.addMail(o.CreatedAt, of, Mail{
			Template: WaitlistOffered, Order: o.ID.String(), To: o.Email, Name: o.Name, Language: o.Language,
			Tier: o.Lines[0].Name, Count: o.Lines[0].Quantity, Until: o.ExpiresAt, Amount: o.Total, Currency: o.Currency,
		})
	}),
	ruleFor(func(_ context.Context, b *batch, f *waitlist.EntryEnded, of source) error {
		if f.Status != waitlist.StatusExpired {
			return nil // the person who left the line knows it
		}
		return b.addMail(f.At, of, Mail{Template: WaitlistExpired, Order: f.ID.String(), To: f.Email, Name: f.Name, Language: f.Language})
	}),
	ruleFor(func(_ context.Context, b *batch, f *order.TicketTransferred, of source) error {
		if f.From != "" {
			taken := Mail{Template: TransferTaken, Order: f.ID.String(), To: f.From, Ticket: f.Ticket, Taker: f.Email}
			if err := b.addMail(f.At, of, taken); err != nil {
				return err
			}
		}
		return b.addMail(f.At, of, Mail{
			Template: AttendeeTickets, Order: f.ID.String(), To: f.Email, Name: f.Name, Ticket: f.Ticket, From: f.From,
		})
	}),
	ruleFor(func(ctx context.Context, b *batch, f *event.Created, of source) error {
		return b.announceChange(ctx, f.Details, f.At, of)
	}),
	ruleFor(func(ctx context.Context, b *batch, f *event.Updated, of source) error {
		return b.announceChange(ctx, f.Details, f.At, of)
	}),
	ruleFor(func(ctx context.Context, b *batch, f *event.Moved, of source) error {
		switch f.To {
		case event.StatusPublished:
			return b.announceEvent(ctx, f, of)
		case event.StatusCancelled:
			return b.announceCancellation(ctx, f, of)
		}
		return nil
	}),
)

// silent lists the facts of an event that cause no mail. A test takes rules and silent together and
// demands that no fact type is missing.
var silent = []engine.Fact{
	(*event.Removed)(nil), // a draft, for which nobody has tickets
	(*event.Offered)(nil), (*order.Created)(nil), (*ledger.OrderClosed)(nil),
	(*order.PaymentBegun)(nil), (*order.Extended)(nil),
	(*ledger.OrderRecalled)(nil), (*order.RefundReturned)(nil), (*order.RescheduleSettled)(nil),
	(*proceeds.Cleared)(nil), (*event.PersonErased)(nil), (*order.Erased)(nil),
	(*waitlist.Claimed)(nil), (*waitlist.CalledFact)(nil), (*waitlist.SetFact)(nil),
	(*admission.CheckedIn)(nil), (*admission.CheckInDenied)(nil), (*admission.CheckInUndone)(nil),
	(*admission.GatePassed)(nil), (*admission.PassageUndone)(nil),
}

// rule queues the mails that one fact of an event causes. It only collects or inserts within the
// batch's transaction, and sends nothing.
type rule func(ctx context.Context, b *batch, f engine.Fact, of source) error

// row is one line of the table rules: a rule with the type of the facts that it is for.
type row struct {
	of     engine.FactType
	follow rule
}

// ruleFor makes a row from a function that takes facts of one concrete type, so that no rule has to
// convert its fact.
func ruleFor[F engine.Fact](do func(context.Context, *batch, F, source) error) row {
	var none F
	return row{none.FactType(), func(ctx context.Context, b *batch, f engine.Fact, of source) error {
		return do(ctx, b, f.(F), of) //nolint:errcheck // the type is its key
	}}
}

// tableOf makes the rows a table by the type of the fact.
func tableOf(rows ...row) map[engine.FactType]rule {
	t := make(map[engine.FactType]rule, len(rows))
	for _, r := range rows {
		t[r.of] = r.follow
	}
	return t
}

// source names the fact that causes a mail by its place in the journal. A fact that is read again
// has the same name, hence the same Subject, and the mail isn't queued again.
type source struct {
	event       int64
	stream, seq int64
}

func (s source) String() string { return fmt.Sprintf("%d/%d", s.stream, s.seq) }

// batch collects what one transaction of the follower queues.
type batch struct {
	*Queue
	tx     pgx.Tx
	oldest int64 // unix milliseconds; a fact from before this causes no mail
	// mails and bought are collected while the facts are read: the mails to queue, and the orders that were
	// completed.
	mails  []Mail
	bought []engine.OrderID
}

// Apply queues the mails that the facts of some batches cause, within the follower's transaction.
// The read model must already have applied these batches, because rules and noteBuyers look up
// events and orders in it.
func (o *Queue) Apply(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	b := &batch{Queue: o, tx: tx, oldest: time.Now().Add(-oldestMailed).UnixMilli()}
	for i := range batches {
		for j := range batches[i].Records {
			if err := b.takeFacts(ctx, &batches[i].Records[j]); err != nil {
				return fmt.Errorf("mailqueue: batch %d of writer %d: %w", batches[i].Seq, batches[i].Writer, err)
			}
		}
	}
	if err := b.noteBuyers(ctx); err != nil {
		return err
	}
	return o.AddIn(ctx, tx, b.mails...)
}

// noteBuyers stores the names of the buyers of completed orders for the accounts. It runs in the
// transaction that queues their confirmations: when a buyer follows the invitation to sign in that
// a mail contains, the name is already there.
func (b *batch) noteBuyers(ctx context.Context) error {
	if len(b.bought) == 0 {
		return nil
	}
	// All orders are read with one query.
	found := readmodel.NewLookup()
	for _, id := range b.bought {
		found.Orders[id] = nil
	}
	if err := found.Read(ctx, b.tx); err != nil {
		return err
	}
	var named []accounts.Buyer
	for _, id := range b.bought {
		// An order whose buyer was erased has a pseudonym for an address, which no account can
		// have.
		if o := found.Orders[id]; o != nil && o.Name != "" && o.Email != "" && !order.IsPseudonym(o.Email) {
			named = append(named, accounts.Buyer{Email: order.NormalEmail(o.Email), Name: o.Name})
		}
	}
	return accounts.NoteBuyers(ctx, b.tx, named)
}

// takeFacts applies the rules to one record's facts. Facts without a rule are skipped before they
// are decoded, because most facts in a rush cause no mail.
func (b *batch) takeFacts(ctx context.Context, r *journal.Record) error {
	if r.Ref.Kind != engine.KindEvent {
		return nil
	}
	for f, err := range follower.Select(r, func(t engine.FactType) bool { return rules[t] != nil }) {
		if err != nil {
			return err
		}
		of := source{event: r.Ref.ID, stream: r.Stream, seq: f.Seq}
		if err := rules[f.Fact.FactType()](ctx, b, f.Fact, of); err != nil {
			return err
		}
	}
	return nil
}

// addMail adds a mail whose Subject is the fact itself: each such fact causes one mail.
func (b *batch) addMail(at int64, of source, l Mail) error {
	return b.addMailAbout(of.String(), at, l)
}

// addMailAbout adds a mail with a Subject of the rule's choice, for several facts that should cause
// only one mail together. It leaves out mails of facts that are too old. at is the time of the
// fact, in unix milliseconds.
func (b *batch) addMailAbout(subject string, at int64, l Mail) error {
	if at >= b.oldest {
		l.Subject = subject
		b.mails = append(b.mails, l)
	}
	return nil
}

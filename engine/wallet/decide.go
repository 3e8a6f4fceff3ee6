package wallet

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Decide decides what a command does, and changes nothing itself. The reservation protocol (keeper.Protocol), with a book
// for each event, decides the commands of ledgers. An unknown command is refused with INTERNAL.
func (s *State) Decide(c engine.Command, now time.Time) engine.Decision {
	if event, mine := keeper.LedgerOf(c); mine {
		d, _ := s.protocol(event).Decide(c, now.UnixMilli())
		return d
	}
	at := max(now.UnixMilli(), s.last.At) // so that the times of entries never decrease
	switch c := c.(type) {
	case Credit:
		e := Entry{
			ID: c.ID, Kind: Credited, Amount: c.Amount, Reason: c.Reason, Reference: c.Reference, Note: c.Note, By: c.By, At: at,
		}
		if c.Pending {
			e.Kind = Pended
		}
		return s.decideMovement(e)
	case Debit:
		return s.decideMovement(Entry{
			ID: c.ID, Kind: Debited, Amount: c.Amount, Reason: c.Reason, Reference: c.Reference, Note: c.Note, By: c.By, At: at,
		})
	case Clear:
		return s.decideEnd(Entry{ID: c.ID, Kind: Cleared, By: c.By, At: at})
	case Void:
		return s.decideEnd(Entry{ID: c.ID, Kind: Voided, By: c.By, At: at})
	case keeper.Proceeds:
		return s.decideProceeds(c, at)
	case Get:
		return engine.Decision{Reply: s.makeRecord()}
	case engine.Wake:
		return s.books.DecideWake(s.ref, now.UnixMilli())
	default:
		return refuse(engine.Internal, nil)
	}
}

func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

// decideMovement makes the first entry of a movement. A repeated command is answered with the entry
// that it made, and an id with other content is refused.
func (s *State) decideMovement(e Entry) engine.Decision {
	content := fingerprintOf(&e)
	if m := s.known[e.ID]; m != nil {
		if m.Print != content {
			return refuse(engine.IdempotencyReused, nil)
		}
		return s.answerRepeat(e, m.Made)
	}
	if r := s.findObjection(&e); r != nil {
		return engine.Decision{Reply: r}
	}
	return s.enterEntry(e, content)
}

// findObjection returns the reason why a new movement is not possible, or nil: its amount is out of bounds, a
// debit exceeds what is available, or no more movements can be remembered. Credits are bounded so that no sum
// can ever overflow.
func (s *State) findObjection(e *Entry) *engine.Refusal {
	most := int64(MaxAmount)
	if e.Kind != Debited {
		most = min(MaxAmount-s.last.Balance-s.last.Pending, maxLife-s.credited)
	}
	switch {
	case e.Amount < 1 || e.Amount > most:
		return engine.Refuse(engine.Validation, Range{Min: engine.Decimal(1, s.currencyCode()), Max: engine.Decimal(most, s.currencyCode())})
	case e.Kind == Debited && e.Amount > s.availableBalance():
		return engine.Refuse(engine.InsufficientFunds, Funds{s.currencyCode(), engine.Decimal(e.Amount, s.currencyCode()), engine.Decimal(s.availableBalance(), s.currencyCode())})
	case s.isFull(e):
		return engine.Refuse(engine.Overloaded, nil)
	}
	return nil
}

// decideEnd clears or voids a pending credit. A repeated command is answered with the entry that
// ended the credit. A credit that has ended otherwise, or was never pending, is refused with CONFLICT, an unknown one
// with NOT_FOUND.
func (s *State) decideEnd(e Entry) engine.Decision {
	m := s.known[e.ID]
	switch {
	case m == nil:
		return refuse(engine.NotFound, nil)
	case m.Kind == e.Kind:
		e.Amount = m.Amount
		return s.answerRepeat(e, m.End)
	case m.Kind != Pended:
		return refuse(engine.Conflict, Ended{Kind: m.Kind.String()})
	}
	e.Amount = m.Amount
	return s.enterEntry(e, 0)
}

// enterEntry adds an entry to the wallet, with its number and the sums after it, and answers with the entry and the
// wallet. It does not check whether the money is there. content is the hash by which a repeat is recognized; 0 for an
// entry that ends a movement.
func (s *State) enterEntry(e Entry, content uint64) engine.Decision {
	e.Number, e.Balance, e.Pending = s.last.Number+1, s.last.Balance, s.last.Pending
	r := s.makeRecord()
	switch e.Kind {
	case Credited:
		e.Balance += e.Amount
	case Pended:
		e.Pending += e.Amount
	case Cleared:
		e.Balance += e.Amount
		e.Pending -= e.Amount
	case Voided:
		e.Pending -= e.Amount
	case Debited:
		e.Balance -= e.Amount
	case Sold, Refunded, Clearing: // these are never made by commands
	}
	if e.PaysOut() {
		r.LifetimePayout += e.Amount
	}
	r.Balance, r.Pending, r.Entries = e.Balance, e.Pending, r.Entries+1
	return engine.Decision{Facts: []engine.Fact{&Entered{Entry: e, Print: content}}, Reply: &Reply{Wallet: *r, Entry: e}}
}

// answerRepeat answers a repeated command with the entry that it made, as it was then, and with the
// wallet as it is now.
func (s *State) answerRepeat(e Entry, at stamp) engine.Decision {
	e.Number, e.Balance, e.Pending, e.At = at.Number, at.Balance, at.Pending, at.At
	return engine.Decision{Reply: &Reply{Wallet: *s.makeRecord(), Entry: e, Known: true}}
}

// fingerprintOf returns a hash of a movement's content. Each text is hashed with its length, so
// that two texts can't be split in two ways.
func fingerprintOf(e *Entry) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte{byte(e.Kind)}, uint64(e.Amount))) // a hash never fails
	for _, s := range []string{e.Reason, e.Reference, e.Note, e.By} {
		_, _ = h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s))))
		_, _ = h.Write([]byte(s))
	}
	return h.Sum64()
}

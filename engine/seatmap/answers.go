package seatmap

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/paged"
)

// maxAnswers is how many answers to shoppers' requests a map remembers. An answer about four seats
// takes about 250 bytes, so all of them take 5 MB.
const maxAnswers = 20_000

// Answered is the answer to a request with an idempotency key. It has only the fields that the
// reply to the request's command has.
type Answered struct {
	Request   engine.Request `cbor:"1,keyasint"`
	Seats     paged.Strings  `cbor:"2,keyasint,omitempty"` // ids of the seats that were held or released
	Failed    paged.Strings  `cbor:"3,keyasint,omitempty"`
	Reasons   paged.Strings  `cbor:"4,keyasint,omitempty"`
	ExpiresAt int64          `cbor:"5,keyasint,omitempty"`
	Adjacent  bool           `cbor:"6,keyasint,omitempty"`
}

// requestOf returns the idempotency key and hash of a shopper's command; other commands have none.
func requestOf(c engine.Command) engine.Request {
	switch c := c.(type) {
	case Hold:
		return c.Request
	case BestAvailable:
		return c.Request
	case Release:
		return c.Request
	case Extend:
		return c.Request
	default:
		return engine.Request{}
	}
}

// keepSelection returns a fact that changes nothing in the selection of a command's holder. The caller stores the
// command's answer in the fact: after a replay of the journal, a repeated request must get the same answer.
func (s *State) keepSelection(c engine.Command, at int64) engine.Fact {
	var holder string
	switch c := c.(type) {
	case Hold:
		holder = c.Holder
	case BestAvailable:
		holder = c.Holder
	case Release:
		holder = c.Holder
	}
	return &DroppedFact{Holder: holder, At: at}
}

// answeredBy returns what is remembered of a reply, or nil if the reply is a refusal.
func answeredBy(r engine.Request, reply engine.Reply) *Answered {
	switch reply := reply.(type) {
	case *Selection:
		a := &Answered{Request: r, Seats: reply.Held, Failed: reply.Failed, ExpiresAt: reply.ExpiresAt}
		for _, why := range reply.Reasons {
			a.Reasons = append(a.Reasons, string(why))
		}
		return a
	case *Best:
		return &Answered{Request: r, Seats: reply.Held, Adjacent: reply.Adjacent, ExpiresAt: reply.ExpiresAt}
	case *Released:
		return &Answered{Request: r, Seats: reply.Seats}
	default:
		return nil
	}
}

// replyTo returns the reply to a repeated command, made of what was remembered of its first reply. The lists are
// copied, so that nobody who changes the reply changes what is remembered.
func (a *Answered) replyTo(c engine.Command) engine.Reply {
	switch c.(type) {
	case Hold, Extend:
		r := &Selection{Held: slices.Clone(a.Seats), Failed: slices.Clone(a.Failed), ExpiresAt: a.ExpiresAt, Known: true}
		for _, why := range a.Reasons {
			r.Reasons = append(r.Reasons, Reason(why))
		}
		return r
	case BestAvailable:
		return &Best{Held: slices.Clone(a.Seats), Adjacent: a.Adjacent, ExpiresAt: a.ExpiresAt, Known: true}
	default:
		return &Released{Seats: slices.Clone(a.Seats), Known: true}
	}
}

// rememberAnswer stores the answer to a request. It does nothing if a is nil.
func (s *State) rememberAnswer(a *Answered, at int64) {
	if a != nil {
		s.answers.Put(a.Request, at, a, maxAnswers)
	}
}

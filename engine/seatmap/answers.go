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
	Seats     paged.Strings  `cbor:"2,keyasint,omitempty"` // held or released
	Failed    paged.Strings  `cbor:"3,keyasint,omitempty"`
	Reasons   paged.Strings  `cbor:"4,keyasint,omitempty"`
	ExpiresAt int64          `cbor:"5,keyasint,omitempty"`
	Adjacent  bool           `cbor:"6,keyasint,omitempty"`
}

// decideOnce decides on a command, or answers it as it was answered before. The fact of the
// decision records the answer; a decision without a fact gets a fact that changes nothing else.
// Refusals are not remembered, because the same command may be refused for another reason later, or
// not at all.
func (s *State) decideOnce(c engine.Command, at int64) engine.Decision {
	r := requestOf(c)
	if r.ID.Zero() {
		return s.decideShopper(c, at)
	}
	if old, same, known := s.answers.Find(r, at); known && same {
		return engine.Decision{Reply: old.replyTo(c)}
	} else if known {
		return refuse(engine.IdempotencyReused, nil)
	}
	d := s.decideShopper(c, at)
	answered := answeredBy(r, d.Reply)
	if answered == nil {
		return d
	}
	if len(d.Facts) == 0 {
		d.Facts = []engine.Fact{s.keepSelection(c, at)}
	}
	switch f := d.Facts[0].(type) {
	case *HeldFact:
		f.Answered = answered
	case *DroppedFact:
		f.Answered = answered
	}
	return d
}

// decideShopper decides the commands of shoppers.
func (s *State) decideShopper(c engine.Command, at int64) engine.Decision {
	switch c := c.(type) {
	case Hold:
		return s.decideHold(c, at)
	case BestAvailable:
		return s.decideBest(c, at)
	case Release:
		return s.decideDrop(c, at)
	case Extend:
		return s.decideExtend(c, at)
	default:
		return refuse(engine.Internal, nil)
	}
}

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

// keepSelection returns a fact that leaves the selection of a command's holder as it is.
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

// replyTo returns the answer to a command that was answered with a.
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

// rememberAnswer stores the answer to a request.
func (s *State) rememberAnswer(a *Answered, at int64) {
	if a != nil {
		s.answers.Put(a.Request, at, a, maxAnswers)
	}
}

package event

import (
	"fmt"
	"math"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/keeper"
	"boxoffice/engine/proceeds"
)

// Decide decides what a command does: its facts, its reply and what is sent to others. It changes
// nothing itself; Apply does. now is the time of the decision.
func (s *State) Decide(c engine.Command, now time.Time) engine.Decision {
	at := now.UnixMilli()
	// Orders come first, because most commands to an event are about orders.
	terms := s.makeOrderTerms()
	if d, mine := s.book.Decide(c, &terms, at); mine {
		return d
	}
	switch c := c.(type) {
	case keeper.Offer:
		return s.decideOffer(c, at)
	case keeper.AwaitSeen:
		return s.line.DecideSeen(c, s.offers)
	case keeper.ProceedsSeen:
		return engine.Decision{Facts: []engine.Fact{&proceeds.Heard{Revision: c.Revision}}}
	case engine.Wake:
		return s.decideWake(c, &terms, at)
	default:
		return s.decideRecord(c, at)
	}
}

// decideRecord decides on the commands about the event itself, and passes the others on to its tickets and then to its
// waitlist. A command that nobody knows is refused. All commands but Create need an event that exists.
func (s *State) decideRecord(c engine.Command, at int64) engine.Decision {
	switch c := c.(type) {
	case Create:
		return s.decideCreate(c, at)
	case Update:
		return s.decideUpdate(c, at)
	case Move:
		return s.decideMove(c, at)
	case Delete:
		return s.decideDelete(c, at)
	}
	// The functions above check this themselves.
	if s.details == nil {
		return refuse(engine.EventNotFound, nil)
	}
	switch c := c.(type) {
	case Get:
		r := s.makeRecord()
		if r.Room = s.roomLeft(); r.Room == math.MaxInt64 {
			r.Room = NoCapacity
		}
		return engine.Decision{Reply: r}
	case GetType:
		_, has := s.findOffer(c.Type)
		return engine.Decision{Reply: &TypeReply{Has: has}}
	case admission.Transfer:
		ticket, _ := s.tickets.Find(c.Ticket)
		return s.tickets.DecideTransfer(c, s.book.Find(ticket.Order), s.makeGateTerms(), at)
	case Erase:
		return s.decideErase(c, at)
	case Touch:
		return s.decideTouch(at)
	default:
		if d, mine := s.tickets.Decide(c, s.makeGateTerms(), at); mine {
			return d
		}
		return s.decideLine(c, at)
	}
}

// refuse returns a decision that only refuses.
func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

// decideCreate makes the event. A repeated command gets the record as it is, so that a client may
// repeat it safely.
func (s *State) decideCreate(c Create, at int64) engine.Decision {
	if s.details != nil {
		return engine.Decision{Reply: s.makeRecord()}
	}
	if s.created != 0 { // the event was removed, and the command comes late
		return refuse(engine.EventNotFound, nil)
	}
	t := c.Details
	return engine.Decision{
		Facts: []engine.Fact{&Created{Details: &t, At: at}},
		Reply: &Record{Number: s.ref.ID, Details: &t, Status: StatusDraft, CreatedAt: at, UpdatedAt: at, Revision: 1},
	}
}

// decideUpdate replaces the record. c.Revision is the revision that the editor has seen. If
// somebody else has changed the event since, the update is refused, so that no change is
// overwritten unseen. An event that has ended can't change. Once an event has ticket types, its currency and its sort
// of product can't change. An equal record changes nothing.
func (s *State) decideUpdate(c Update, at int64) engine.Decision {
	if s.details == nil {
		return refuse(engine.EventNotFound, nil)
	}
	if c.Revision != s.rev {
		return refuse(engine.Conflict, nil)
	}
	if c.Details.equal(*s.details) {
		return engine.Decision{Reply: s.makeRecord()}
	}
	if Ended(s.status) {
		return refuse(engine.InvalidTransition, Transition{From: s.status, To: s.status, Allowed: []string{}})
	}
	if len(s.offers) > 0 && !sameProduct(s.details.Category, c.Details.Category) {
		return refuse(engine.ProductTypeLocked, Category{From: s.details.Category, To: c.Details.Category})
	}
	if c.Details.Currency != s.details.Currency && len(s.offers) > 0 { // the prices are in the old currency
		return refuse(engine.Validation, keeper.Issues{Issues: []keeper.Issue{{
			Path: "currency", Code: "enum", Message: "must stay " + s.details.Currency + ": the event has ticket types",
		}}})
	}
	t := c.Details
	r := s.makeRecord()
	r.Details, r.UpdatedAt, r.Revision = &t, at, s.rev+1
	return engine.Decision{Facts: []engine.Fact{&Updated{Details: &t, At: at}}, Reply: r}
}

// decideTouch publishes the record again under a new revision, without changing it. An event that
// has ended stays as it is.
func (s *State) decideTouch(at int64) engine.Decision {
	r := s.makeRecord()
	if Ended(s.status) {
		return engine.Decision{Reply: r}
	}
	r.UpdatedAt, r.Revision = at, s.rev+1
	return engine.Decision{Facts: []engine.Fact{&Updated{Details: s.details, At: at}}, Reply: r}
}

// MaxTypes is how many ticket types an event may have, which keeps every list of them short.
const MaxTypes = 200

// TypeLimit is the detail of the refusal of one more ticket type.
type TypeLimit struct {
	MaxTicketTypes int `json:"maxTicketTypes"`
}

// findOffer returns the last offer of a ticket type. The second result is false if the type has made none, or has
// only reserved its place (decideOffer).
func (s *State) findOffer(typ int64) (keeper.Offer, bool) {
	o := s.offers[typ]
	return o, o.Revision > 0
}

// decideOffer stores what a ticket type offers and acknowledges the offer, so that the type stops repeating it.
// It refuses one type more than MaxTypes, and all offers if there is no event. An offer of revision 0 reserves
// a place for a type that is about to be created. The type is created only once it has a place, so creations at
// the same moment can't exceed MaxTypes together.
func (s *State) decideOffer(c keeper.Offer, at int64) engine.Decision {
	var seen []engine.Send
	if c.Revision > 0 {
		seen = []engine.Send{{To: c.Keeper, Cmd: keeper.OfferSeen{Revision: c.Revision}}}
	}
	if s.details == nil {
		d := refuse(engine.EventNotFound, nil)
		if s.created != 0 { // the event was removed: the type need not offer again
			d.Sends = seen
		}
		return d
	}
	old, known := s.offers[c.Keeper.ID]
	if !known && len(s.offers) >= MaxTypes {
		return engine.Decision{Sends: seen, Reply: &engine.Refusal{
			Code: engine.Conflict, Message: fmt.Sprintf("An event has at most %d ticket types.", MaxTypes), Details: TypeLimit{MaxTypes},
		}}
	}
	d := engine.Decision{Sends: seen, Reply: s.makeRecord()}
	// An offer with the known revision and other content is stored too.
	if !known || old.Revision < c.Revision || old.Revision == c.Revision && old != c {
		d.Facts = []engine.Fact{&Offered{Offer: c, At: at}}
	}
	return d
}

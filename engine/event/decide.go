package event

import (
	"fmt"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// Decide decides what a command does, and changes nothing itself.
func (s *State) Decide(c engine.Command, now time.Time) engine.Decision {
	at := now.UnixMilli()
	switch c := c.(type) {
	case Place:
		return s.decidePlace(c, at)
	case PlaceAll:
		return s.decidePlaceAll(c, at)
	case keeper.Granted:
		return s.decideGranted(c, at)
	case keeper.Refused:
		return s.decideRefused(c, at)
	case keeper.Closed:
		return s.decideClosed(c, at)
	case keeper.Inquire:
		return s.decideInquire(c)
	case keeper.Offer:
		return s.decideOffer(c, at)
	case keeper.AwaitSeen:
		return s.decideAwaitSeen(c)
	case Scan:
		return s.decideScan(c, at)
	case GetOrder:
		return s.decideGetOrder(c)
	case CancelOrder:
		return s.decideCancel(c, at)
	case BeginPayment:
		return s.decideBegin(c, at)
	case OpenPayment:
		return s.decideOpen(c, at)
	case ReportDeposit:
		return s.decideDeposit(c, at)
	case ReportPayment:
		return s.decideReport(c, at)
	case ReportRefund:
		return s.decideRefund(c, at)
	case Reschedule:
		return s.decideReschedule(c, at)
	case AskRefund:
		return s.decideAskRefund(c, at)
	case DecideRefund:
		return s.decideOnRefund(c, at)
	case keeper.ProceedsSeen:
		return engine.Decision{Facts: []engine.Fact{&ProceedsHeard{Revision: c.Revision}}}
	case keeper.Returned:
		return s.decideReturned(c, at)
	case engine.Wake:
		return s.decideWake(c, at)
	default:
		return s.decideRecord(c, at)
	}
}

// decideRecord decides on the commands about the event itself.
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
	if s.details == nil {
		return refuse(engine.EventNotFound, nil)
	}
	switch c := c.(type) {
	case Get:
		r := s.makeRecord()
		r.Room = s.roomLeft()
		return engine.Decision{Reply: r}
	case GetType:
		_, has := s.findOffer(c.Type)
		return engine.Decision{Reply: &TypeReply{Has: has}}
	case Transfer:
		return s.decideTransfer(c, at)
	case RevokeTransfer:
		return s.decideRevoke(c, at)
	case ClaimTransfer:
		return s.decideClaim(c, at)
	case Erase:
		return s.decideErase(c, at)
	case Touch:
		return s.decideTouch(at)
	case ScanBatch:
		return s.decideBatch(c, at)
	case GateRoster:
		return engine.Decision{Reply: s.listRoster()}
	case UndoScan:
		return s.decideUndo(c, at)
	case GateStats:
		return engine.Decision{Reply: s.countStats()}
	default:
		return s.decideLine(c, at)
	}
}

func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

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

// decideTouch publishes the record again under a new revision. An event that has ended does not
// change.
func (s *State) decideTouch(at int64) engine.Decision {
	r := s.makeRecord()
	if Ended(s.status) {
		return engine.Decision{Reply: r}
	}
	r.UpdatedAt, r.Revision = at, s.rev+1
	return engine.Decision{Facts: []engine.Fact{&Updated{Details: s.details, At: at}}, Reply: r}
}

// MaxTypes bounds the ticket types of an event, so that a list of them is never long.
const MaxTypes = 200

// TypeLimit is the detail of the refusal of one more ticket type.
type TypeLimit struct {
	MaxTicketTypes int `json:"maxTicketTypes"`
}

// findOffer returns what a ticket type offers, if it has offered anything yet.
func (s *State) findOffer(typ int64) (keeper.Offer, bool) {
	o := s.offers[typ]
	return o, o.Revision > 0
}

// decideOffer stores what a ticket type offers and acknowledges it. An offer of revision 0 reserves
// a place for a type that is being created: the type is created only when it has a place, so that
// creations at the same moment can't exceed MaxTypes together.
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
	if !known || old.Revision < c.Revision || old.Revision == c.Revision && old != c {
		d.Facts = []engine.Fact{&Offered{Offer: c, At: at}}
	}
	return d
}

func (s *State) decideGetOrder(c GetOrder) engine.Decision {
	if o := s.findMade(c.Order); o != nil {
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	}
	if status, _, ok := s.past.find(c.Order); ok {
		return engine.Decision{Reply: &OrderReply{Past: true, Status: status}}
	}
	return refuse(engine.OrderNotFound, nil)
}

func (s *State) decideCancel(c CancelOrder, at int64) engine.Decision {
	o := s.findMade(c.Order)
	if o == nil {
		if status, _, ok := s.past.find(c.Order); ok {
			return pastReply(status, engine.OrderNotCancellable)
		}
		return refuse(engine.OrderNotFound, nil)
	}
	switch {
	case o.Status == order.StatusCancelled:
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	case !o.Unpaid():
		return refuse(engine.OrderNotCancellable, OrderState{Status: o.Status, Reason: "only unpaid orders are cancelled"})
	}
	return s.endOrder(o, order.StatusCancelled, at)
}

// pastReply answers a cancellation of an order of which only the outcome is known. For a cancelled
// order it succeeds again; for any other it is refused.
func pastReply(status string, code engine.Code) engine.Decision {
	if status == order.StatusCancelled {
		return engine.Decision{Reply: &OrderReply{Past: true, Status: status}}
	}
	return refuse(code, OrderState{Status: status, Reason: "only unpaid orders are cancelled"})
}

// endOrder ends an unpaid order without a sale: it tells the keepers to give back what they
// hold, and sends back money that came short of the price.
func (s *State) endOrder(o *order.Order, status string, at int64) engine.Decision {
	if o.Status == order.StatusOffered {
		return s.endOffer(o, status, at)
	}
	d := foldFacts(o, append([]engine.Fact{&order.Ended{ID: o.ID, Status: status, At: at}}, shortMoney(o, "", at)...))
	s.tellKeepers(&d, o, allPlaces(o), false)
	return d
}

// tellKeepers adds Commit or Release for the keepers at the places.
func (s *State) tellKeepers(d *engine.Decision, o *order.Order, lines places, sold bool) {
	claim, floor := keeper.Claim{Order: o.ID, Serial: o.Serial}, s.lowestAlive()
	lines.each(func(place int) {
		var c engine.Command = keeper.Release{Claim: claim, Floor: floor}
		if sold {
			c = keeper.Commit{Claim: claim, Floor: floor}
		}
		d.Sends = append(d.Sends, engine.Send{To: s.keeperOf(o, place), Cmd: c})
	})
}

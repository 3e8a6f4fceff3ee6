// Package engine holds the words that every kind of actor shares: which actor it is (Ref), what it is asked
// (Command), what it decides (Decision), what it remembers (Fact), and why it refuses (Code).
//
// Everything below engine is pure: no clock, goroutine, channel, I/O, randomness or output that depends on the
// order of a map. Time and ids arrive with the command. Besides the standard library, it imports only the few
// libraries that TestPure lists, which are functions of their arguments. Lint and TestPure check all this.
package engine

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Kind names a kind of actor. The list of kinds, with their states and fact tables, is in
// engine/all.
type Kind uint8

// These are the kinds, with what an actor of the kind exists for and what it keeps. Their numbers are in stored
// facts that name an actor (Ref), and are never reused.
const (
	KindEvent     Kind = 1 // one per event: life cycle, orders, tickets, check-in
	KindInventory Kind = 2 // one per ticket type: stock, price, sale window, caps
	KindWallet    Kind = 3 // one per organization and currency: balance, entries
	KindSeatmap   Kind = 4 // one per seated event: its seats
	KindPromo     Kind = 5 // one per promo code: terms, uses
	KindCalendar  Kind = 6 // one per reservation event: its dates and slots
	KindQueue     Kind = 7 // one per event with a waiting room: its visitors, their draw and their admissions
)

// kindRows are the kinds' names as they are used in stream names, and whether an actor of the kind
// belongs to an organization instead of an event.
var kindRows = [...]struct {
	name  string
	ofOrg bool
}{
	KindEvent:     {name: "event"},
	KindInventory: {name: "inventory"},
	KindWallet:    {name: "wallet", ofOrg: true},
	KindSeatmap:   {name: "seatmap"},
	KindPromo:     {name: "promo", ofOrg: true},
	KindCalendar:  {name: "calendar"},
	KindQueue:     {name: "queue"},
}

// String returns the kind's name.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindRows) {
		return "kind" + strconv.Itoa(int(k))
	}
	return kindRows[k].name
}

// OfOrganization reports whether an actor of the kind belongs to an organization. Its Home is the
// organization's number then.
func (k Kind) OfOrganization() bool { return int(k) < len(kindRows) && kindRows[k].ofOrg }

// Ref names one actor: its kind, the number by which it is placed, and its number within the kind.
// Actors with the same Home are placed on one node.
type Ref struct {
	Kind Kind  `cbor:"1,keyasint"`
	Home int64 `cbor:"2,keyasint"` // number of the event it belongs to, or of the organization
	ID   int64 `cbor:"3,keyasint"`
}

// EventRef returns the actor of an event, which is the ledger of its orders.
func EventRef(event int64) Ref { return Ref{Kind: KindEvent, Home: event, ID: event} }

// InventoryRef returns the actor of a ticket type.
func InventoryRef(event, ticketType int64) Ref {
	return Ref{Kind: KindInventory, Home: event, ID: ticketType}
}

// SeatmapRef returns the actor of an event's seats.
func SeatmapRef(event int64) Ref { return Ref{Kind: KindSeatmap, Home: event, ID: event} }

// WalletRef returns the actor of an organization's wallet in a currency, given by its ISO 4217 code. An unknown
// currency gets the number 0, which no wallet has.
func WalletRef(org int64, currency string) Ref {
	c, _ := CurrencyOf(currency)
	return Ref{Kind: KindWallet, Home: org, ID: c.Number}
}

// CalendarRef returns the actor of a reservation event's dates.
func CalendarRef(event int64) Ref { return Ref{Kind: KindCalendar, Home: event, ID: event} }

// QueueRef returns the actor of an event's waiting room.
func QueueRef(event int64) Ref { return Ref{Kind: KindQueue, Home: event, ID: event} }

// PromoRef returns the actor of an organization's promo code.
func PromoRef(org, code int64) Ref { return Ref{Kind: KindPromo, Home: org, ID: code} }

// Name returns the actor's stream name, e.g. "inventory/42/7".
func (r Ref) Name() string {
	b := make([]byte, 0, 40)
	b = append(b, r.Kind.String()...)
	b = append(b, '/')
	b = strconv.AppendInt(b, r.Home, 10)
	b = append(b, '/')
	b = strconv.AppendInt(b, r.ID, 10)
	return string(b)
}

// ErrRef says that a text is not a stream name.
var ErrRef = errors.New("not a stream name")

// ParseRef parses what Name returns. It returns ErrRef for anything else.
func ParseRef(name string) (Ref, error) {
	kind, rest, ok := strings.Cut(name, "/")
	home, id, more := strings.Cut(rest, "/")
	if !ok || !more {
		return Ref{}, ErrRef
	}
	var r Ref
	for k := range kindRows[1:] {
		if kindRows[k+1].name == kind {
			r.Kind = Kind(k + 1) //nolint:gosec // few kinds
		}
	}
	var errHome, errID error
	r.Home, errHome = strconv.ParseInt(home, 10, 64)
	r.ID, errID = strconv.ParseInt(id, 10, 64)
	if r.Kind == 0 || errHome != nil || errID != nil || r.Name() != name {
		return Ref{}, ErrRef
	}
	return r, nil
}

// Command asks an actor to do something. A command that must not count twice carries an id of its own (an order
// id, a payment reference, a serial), so that it takes effect once, however often it is sent.
type Command interface{ Command() }

// Keyed is a command whose caller may have to wait (Decision.WaitKey). A repeat of it
// has the same key.
type Keyed interface {
	Command
	Key() OrderID
}

// Reply answers a command: a record of the kind, or a *Refusal.
type Reply any

// Fact is something that has been decided. Facts are plain structs with numbered CBOR fields: a
// field may be added, but never gets another number.
type Fact interface{ FactType() FactType }

// FactType is the number of a type of facts, in the journal too. Each kind lists its own in one table (facts.go).
// Facts with numbers from VolatileFrom on are applied but never journaled, so a crash forgets them.
type FactType uint16

// VolatileFrom is the first number of the volatile fact types.
const VolatileFrom FactType = 1000

// Volatile reports whether facts of this type stay out of the journal.
func (t FactType) Volatile() bool { return t >= VolatileFrom }

// FactDef is one row of a kind's fact table.
type FactDef struct {
	Type FactType
	Name string      // stable name, e.g. "order.created"; public facts have these names
	New  func() Fact // returns a pointer to a zero fact, for decoding
}

// Send is a command for another actor. A command that must not get lost is sent again until its effect is
// acknowledged; the kind makes it again from its state.
type Send struct {
	To  Ref
	Cmd Command
}

// Answer is the reply to all callers that wait under Key.
type Answer struct {
	Key   OrderID
	Reply Reply
}

// Decision is what a kind decides on a command. Its Facts, and all facts decided before them, are
// durable BEFORE Reply, Answers and Sends leave the node.
type Decision struct {
	Facts   []Fact
	Reply   Reply    // the reply to the command; nil if WaitKey is set, or if the sender expects none
	WaitKey *OrderID // if set, the command's caller waits until an Answer has this key
	Answers []Answer // the replies to callers that wait since an earlier decision
	Sends   []Send
	// Joint is sent at once to an actor of the same event if that is on this node and Facts has journaled facts, and
	// otherwise with Sends. The receiver's decision on such a command becomes durable together with Facts or after
	// them, never before (docs/adr/0010).
	Joint []Send
	// Asks are sent at once, before the facts of this decision are durable, or with Sends if the actor's claim was not
	// proven lately. An ask promises nothing: if a crash makes this actor forget the decision, the actor that got the
	// ask finds that out by itself (docs/adr/0009).
	Asks []Send
}

// Add adds the facts and answers of another decision, and all that it sends (Sends, Joint, Asks). Its Reply and
// WaitKey are dropped.
func (d *Decision) Add(more Decision) {
	d.Facts = append(d.Facts, more.Facts...)
	d.Answers = append(d.Answers, more.Answers...)
	d.Sends = append(d.Sends, more.Sends...)
	d.Joint = append(d.Joint, more.Joint...)
	d.Asks = append(d.Asks, more.Asks...)
}

// State is one actor's memory. A kind implements it, and the host drives it.
type State interface {
	// Decide decides on a command and changes nothing.
	Decide(c Command, now time.Time) Decision
	// Apply applies a fact to the state. It cannot fail.
	Apply(f Fact)
	// Next returns when the state wants its next Wake; the zero time means never.
	Next() time.Time
	// Freeze returns a copy that another goroutine may encode. It shares only what is never changed
	// again. It takes at most 5 ms at 100,000 tickets.
	Freeze() any
	// Check returns the first broken invariant, or nil.
	Check() error
}

// Wake is the first command of an activation, with its epoch, and also the command that a timer
// sends. A state acts on what is due.
type Wake struct {
	// Epoch is the activation's epoch in the journal, above 0, in the first command. It is 0 in
	// later ones.
	Epoch int32
}

// Command makes Wake a Command.
func (Wake) Command() {}

// KindDef is a kind's row of the list of kinds (engine/all). Each kind exports its own row.
type KindDef struct {
	Kind   Kind
	Facts  []FactDef
	New    func(Ref) State               // returns an empty state
	Frozen func() any                    // returns a pointer to a zero snapshot, for decoding
	Thaw   func(Ref, any) (State, error) // returns the state of a decoded snapshot
	Messages
}

// Messages are the types that cross between nodes, as zero values: commands and details are
// structs, replies are pointers. Refusals cross too, but are not listed.
type Messages struct {
	Commands []Command
	Replies  []Reply
	Details  []any // a value of each type that the Details of the kind's refusals may have
}

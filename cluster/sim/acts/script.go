// Package acts plays the people of a simulated world: organizers, buyers, shoppers of seats, people at gates, payment
// providers, and those who wait. Whatever they do is a command that is sent to an actor by the Ask that New was
// given. All is drawn from the seed, so that a seed is always the same run. The people judge nothing. Their knowledge
// of orders comes from the judge's record of the facts, as real pages have it from the read model. A file has the
// acts around one word.
package acts

import (
	"boxoffice/cluster/sim/clock"
	"boxoffice/cluster/sim/judge"
	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
)

const (
	millisecond = clock.Millisecond
	second      = clock.Second
)

// Load says how much goes on.
type Load struct {
	Span      int64   // for how many microseconds people come
	Orders    int     // how many orders each show gets
	Shoppers  int     // how many shoppers each show with seats gets
	HoldScale float64 // multiplies the limits of the seats that one holder may hold
}

// Ask asks a command of an actor again and again, until it is answered or as often as limit says; 0 is for ever.
type Ask func(to engine.Ref, cmd engine.Command, limit int, done func(engine.Reply))

// Script is what people do in one world. Fates, walks and rooms each have draws of their own: a seed that has none of
// one of them is the same run as before there were any, and still finds what it once found.
type Script struct {
	*clock.Clock
	ask   Ask
	truth *judge.Truth
	load  Load
	fates fates
	walks walks
	rooms rooms
	cash  cash

	shows    []*show
	places   map[engine.OrderID][]*ledger.Place // the commands that have placed an order under an id, with every body that they had
	orders   uint64                             // how many ids of orders and of places in line were handed out
	erasures uint64                             // how many pseudonyms were handed out
	shoppers int                                // how many shoppers have come
	credits  byte                               // how many credits were paid into wallets
	lines    bool                               // the shows have waitlists
}

// New makes the script of a seed. Nothing happens until OpenShow.
func New(seed uint64, c *clock.Clock, load Load, ask Ask) *Script {
	return &Script{
		Clock: c, ask: ask, load: load, fates: newFates(seed), walks: newWalks(seed), rooms: newRooms(seed), cash: newCash(),
		places: make(map[engine.OrderID][]*ledger.Place), lines: hasLines(seed),
	}
}

// Tell gives the script the judge, from whom people learn how orders stand. The judge needs the script for its World,
// so it is made later.
func (s *Script) Tell(truth *judge.Truth) { s.truth = truth }

// HasLines reports whether the shows have waitlists.
func (s *Script) HasLines() bool { return s.lines }

// Places returns the commands that have tried to place an order under an id.
func (s *Script) Places(id engine.OrderID) []*ledger.Place { return s.places[id] }

// DayAt returns which date it is where an event is, at a time in unix milliseconds. The event must have dates.
func (s *Script) DayAt(number, at int64) keeper.Day { return s.shows[number-1].dates.dayAt(at) }

// Shows names the actors of all shows.
func (s *Script) Shows() []judge.Show {
	shows := make([]judge.Show, len(s.shows))
	for i, sh := range s.shows {
		shows[i] = sh.listActors()
	}
	return shows
}

// listActors returns a show's actors, for the judge. Seats and dates are zero where the show has none.
func (sh *show) listActors() judge.Show {
	a := judge.Show{Event: sh.ref, Types: sh.types}
	if sh.hall != nil {
		a.Seats = sh.seats
	}
	if sh.dates != nil {
		a.Dates = sh.dates.ref
	}
	return a
}

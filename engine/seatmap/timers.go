package seatmap

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

const (
	// holdGrain is the precision with which holds end, in milliseconds. They never end before their
	// time.
	holdGrain = 500
	// maxExpired is the number of seats after which one Wake frees no further selection.
	maxExpired = 5_000
)

// decideWake ends holds whose time is up, asks the ledger about old reservations
// and tells ticket types their sizes until they have seen them.
func (s *State) decideWake(now int64) engine.Decision {
	var d engine.Decision
	// At most maxExpired seats and one selection end at once; if more are due, the next Wake follows at once.
	if seats := s.holds.collectEnded(now, maxExpired); len(seats) > 0 {
		d.Facts = append(d.Facts, &ExpiredFact{Seats: sortSeats(seats), At: now})
	}
	s.protocol().DecideWake(&d, now)
	// Sizes are told again until each ticket type has acknowledged its own, because a message may get lost.
	if due := s.sizes.nextTelling(); due != 0 && due <= now {
		d.Facts = append(d.Facts, &ResizedFact{At: now})
		for i := range s.sizes.list[1:] {
			if one := &s.sizes.list[i+1]; !one.seen {
				d.Sends = append(d.Sends, engine.Send{
					To:  engine.InventoryRef(s.ref.Home, one.typ),
					Cmd: keeper.Resize{Keeper: s.ref, Revision: one.revision, Quantity: one.told},
				})
			}
		}
	}
	return d
}

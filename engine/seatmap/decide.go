package seatmap

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Decide decides what a command does, and changes nothing itself. It refuses an unknown command with INTERNAL.
func (s *State) Decide(c engine.Command, now time.Time) engine.Decision {
	at := now.UnixMilli()
	if d, decided := s.protocol().Decide(c, at); decided {
		return d
	}
	switch c := c.(type) {
	case keeper.Return:
		return s.decideReturn(c, at)
	case Hold, BestAvailable, Release, Extend:
		return s.decideOnce(c, at)
	case keeper.ResizeSeen:
		return engine.Decision{Facts: []engine.Fact{&SeenFact{Revision: c.Revision}}}
	case engine.Wake:
		return s.decideWake(at)
	case View:
		return engine.Decision{Reply: s.makeMap()}
	case Get:
		return engine.Decision{Reply: s.makeRecord()}
	case Attach:
		return s.decideAttach(c, at)
	case Detach:
		return s.decideDetach(at)
	case Price:
		return s.decidePrice(c, at)
	case Block:
		return s.decideBlock(c, at)
	default:
		return refuse(engine.Internal, nil)
	}
}

// decideOnce decides on a shopper's command, or answers it as it was answered before if its idempotency key is
// known. The fact of the decision records the answer; a decision without a fact gets a fact that changes
// nothing else. Refusals are not remembered, because the same command may be refused for another reason later,
// or not at all. If the key was used for another request, the command is refused.
func (s *State) decideOnce(c engine.Command, at int64) engine.Decision {
	r := requestOf(c)
	if r.ID.Zero() {
		return s.decideShopper(c, at)
	}
	// A repeat is recognized before the command is decided, because the state may have changed since the first time.
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

func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

// refuseField refuses a command because of one field of its request.
func refuseField(path, code, message string) engine.Decision {
	return refuse(engine.Validation, keeper.Issues{Issues: []keeper.Issue{{Path: path, Code: code, Message: message}}})
}

// maxUnknown is how many unknown seats of a list a refusal names at most.
const maxUnknown = 50

// unknownSeats returns an issue for each member of a list that is not a seat of the map, up to
// maxUnknown.
func (s *State) unknownSeats(list string, seats []string) (issues []keeper.Issue) {
	for i, id := range seats {
		if _, known := s.plan.index[id]; !known && len(issues) < maxUnknown {
			issues = append(issues, keeper.Issue{
				Path: list + "[" + strconv.Itoa(i) + "]", Code: "enum", Message: "is no seat of the map",
			})
		}
	}
	return issues
}

// refuseInvalid refuses a command that no request can make, because the edge checks its fields.
func refuseInvalid(message string) engine.Decision {
	return engine.Decision{Reply: &engine.Refusal{Code: engine.Validation, Message: message}}
}

// decideAttach attaches a map. The same version of the same map stays attached with its holds, and only its mode and
// hold time change. Another map or version is refused while a seat is sold; attaching it ends all selections, blocks
// and prices.
func (s *State) decideAttach(c Attach, at int64) engine.Decision {
	c.Mode = cmp.Or(c.Mode, Reserved)
	c.HoldTime = cmp.Or(c.HoldTime, DefaultHold)
	switch {
	case c.Mode != Reserved && c.Mode != GAMixed:
		return refuseInvalid("The mode is reserved or ga_mixed.")
	case c.HoldTime < MinHold || c.HoldTime > MaxHold:
		return refuseInvalid("A seat is held for 60 to 3600 seconds.")
	case c.Layout == nil:
		return refuseInvalid("A map has a layout.")
	}
	after := s.makeRecord()
	after.Mode, after.HoldTime = c.Mode, c.HoldTime
	if s.plan != nil && s.plan.Map == c.Layout.Map && s.plan.Version == c.Layout.Version {
		if s.mode == c.Mode && s.holdTime == c.HoldTime {
			return engine.Decision{Reply: after}
		}
		return engine.Decision{Facts: []engine.Fact{&ConfiguredFact{Mode: c.Mode, HoldTime: c.HoldTime, At: at}}, Reply: after}
	}
	// Orders name their seats by the map, so the map can't change under them.
	if s.tallies[Sold] > 0 {
		return s.refuseSold()
	}
	if err := c.Layout.Validate(); err != nil {
		return refuseInvalid(fmt.Sprintf("The map is not valid: %v.", err))
	}
	return engine.Decision{
		Facts: []engine.Fact{&AttachedFact{Layout: c.Layout, Mode: c.Mode, HoldTime: c.HoldTime, At: at}},
		Reply: &Record{
			Ref: s.ref, Attached: true, Map: c.Layout.Map, Version: c.Layout.Version, Mode: c.Mode, HoldTime: c.HoldTime,
			Seats: c.Layout.Len(), Available: c.Layout.Len(),
		},
	}
}

// decideDetach removes the map, unless an order has a seat.
func (s *State) decideDetach(at int64) engine.Decision {
	switch {
	case s.plan == nil:
		return engine.Decision{Reply: s.makeRecord()}
	case s.tallies[Sold] > 0:
		return s.refuseSold()
	default:
		return engine.Decision{Facts: []engine.Fact{&DetachedFact{At: at}}, Reply: &Record{Ref: s.ref}}
	}
}

// maxShownSold is how many sold seats a refusal names at most.
const maxShownSold = 100

// refuseSold refuses what the map can't do while a seat is sold, and names the first maxShownSold sold seats.
func (s *State) refuseSold() engine.Decision {
	var sold []int32
	for i := range s.seats {
		if s.seats[i].sale != nil {
			if sold = append(sold, int32(i)); len(sold) == maxShownSold {
				break
			}
		}
	}
	return refuse(engine.SeatsSold, Seats{s.seatIDs(sold)})
}

// decidePrice prices all sections; those that the command does not name are not for sale from then on. A type that a
// section was once priced to keeps its slot, so the number of types that there ever were is limited. Equal prices change
// nothing.
func (s *State) decidePrice(c Price, at int64) engine.Decision {
	if s.plan == nil {
		return refuse(engine.NoSeating, nil)
	}
	types, added := make([]int64, len(s.plan.Sections)), make(map[int64]bool)
	for k, one := range c.Sections {
		path := "mappings[" + strconv.Itoa(k) + "]"
		i := slices.IndexFunc(s.plan.Sections, func(known Section) bool { return known.ID == one.Section })
		switch {
		case i < 0:
			return refuseField(path+".venueSectionId", "enum", "is no section of the map")
		case types[i] != 0:
			return refuseField(path+".venueSectionId", "duplicate", "is priced already")
		case one.Type <= 0:
			return refuseField(path+".ticketTypeId", "required", "is required")
		}
		types[i] = one.Type
		if s.sizes.slotOf(one.Type) == 0 {
			added[one.Type] = true
		}
	}
	if len(s.sizes.list)+len(added) > maxTypes {
		return refuseField("mappings", "max_items", "makes more ticket types than sections have ever been sold as")
	}
	after := s.makeRecord()
	after.Prices = prices(s.plan.Layout, func(section int) int64 { return types[section] })
	if slices.Equal(after.Prices, s.makeRecord().Prices) {
		return engine.Decision{Reply: after}
	}
	return engine.Decision{Facts: []engine.Fact{&PricedFact{Types: types, At: at}}, Reply: after}
}

// decideBlock blocks seats and then puts others back. A seat in both lists ends up blocked. A seat that is held is
// blocked too, and its shopper loses it. If a seat to be blocked is sold, or any seat is unknown, nothing happens: an
// organizer must not believe that a sold seat is blocked.
func (s *State) decideBlock(c Block, at int64) engine.Decision {
	if s.plan == nil {
		return refuse(engine.NoSeating, nil)
	}
	if len(c.Block) > MaxBlocks || len(c.Unblock) > MaxBlocks {
		return refuseInvalid("At most 5000 seats are blocked, or put back, at a time.")
	}
	block, unknown := s.find(c.Block, nil)
	unblock, unknown := s.find(c.Unblock, unknown)
	if len(unknown) > 0 {
		return refuse(engine.Validation, keeper.Issues{Issues: slices.Concat(
			s.unknownSeats("block", c.Block), s.unknownSeats("unblock", c.Unblock),
		)})
	}
	f := &BlockedFact{At: at}
	var sold []string
	for _, i := range block {
		switch s.seats[i].status() {
		case Sold:
			sold = append(sold, s.plan.SeatIDs[i])
		case Held, Available:
			f.Block = append(f.Block, i)
		case Blocked:
		}
	}
	if len(sold) > 0 {
		return refuse(engine.SeatSold, Seats{sold})
	}
	for _, i := range unblock {
		if s.seats[i].blocked && !contains(block, i) {
			f.Unblock = append(f.Unblock, i)
		}
	}
	d := engine.Decision{Reply: &Blocking{Blocked: len(f.Block), Unblocked: len(f.Unblock)}}
	if len(f.Block)+len(f.Unblock) > 0 {
		d.Facts = []engine.Fact{f}
	}
	return d
}

// find returns the seats of the ids, in ascending order and each once. It appends the ids that are
// not on the map to unknown.
func (s *State) find(ids, unknown []string) (seats []int32, still []string) {
	seats = make([]int32, 0, len(ids))
	for _, id := range ids {
		if i, ok := s.plan.index[id]; ok {
			seats = append(seats, i)
		} else {
			unknown = append(unknown, id)
		}
	}
	return slices.Compact(sortSeats(seats)), unknown
}

func sortSeats(seats []int32) []int32 {
	slices.Sort(seats)
	return seats
}

// seatIDs returns the ids of seats.
func (s *State) seatIDs(seats []int32) []string {
	out := make([]string, len(seats))
	for k, i := range seats {
		out[k] = s.plan.SeatIDs[i]
	}
	return out
}

// contains reports whether a seat is in an ascending list.
func contains(seats []int32, i int32) bool {
	_, ok := slices.BinarySearch(seats, i)
	return ok
}

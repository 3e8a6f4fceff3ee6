package seats

import (
	"fmt"

	"boxoffice/engine/seatmap"
)

// taking is how many seats a network has newly held at a time, in unix milliseconds.
type taking struct{ at, seats int64 }

// limitSpan is the time, in milliseconds, within which a network newly holds a limited number of
// seats at most.
const limitSpan = 600_000

// withinLimits judges, after a hold, how many seats its principal (the shopper's account or session) holds now, and
// how many its network has newly held within any ten minutes. Time is the facts' time, so it comes from the clocks
// of the nodes that decided. Scale multiplies both limits.
func (st *seating) withinLimits(f *seatmap.HeldFact, scale float64) error {
	var held int64
	for i := range st.spots {
		if pick := st.picks[st.spots[i].holder]; pick != nil && pick.Principal == f.Principal {
			held++
		}
	}
	// Somebody may be above the limit of seats for a while, but then takes no more.
	if most := int64(seatmap.MaxHeld * scale); held > most && (len(f.Took) > 0) {
		return fmt.Errorf("principal %d holds %d seats, and may have %d: %+v", f.Principal, held, most, f)
	}
	// A network of 0 is unknown and has no limit. A hold that only drops seats or gets more time takes none.
	if f.Network == 0 || len(f.Took) == 0 {
		return nil
	}
	st.latest = max(st.latest, f.At) // a node whose clock is behind counts on from the latest time
	// What is older than the span is forgotten. The list is never empty: it has the hold that is judged.
	list := append(st.taken[f.Network], taking{st.latest, int64(len(f.Took))})
	for list[0].at < st.latest-limitSpan {
		list = list[1:]
	}
	st.taken[f.Network] = list
	var sum int64
	for _, one := range list {
		sum += one.seats
	}
	if most := int64(seatmap.MaxNewlyHeld * scale); sum > most {
		return fmt.Errorf("network %d has newly held %d seats, and may have %d: %+v", f.Network, sum, most, f)
	}
	return nil
}

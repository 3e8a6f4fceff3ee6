package judge

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
)

// way is one passage of a ticket's holder through a gate.
type way struct {
	// at is in unix milliseconds, by the clock of the device that scanned.
	at     int64
	out    bool // false: the way in
	gate   string
	device string
	key    uint64 // of the scan's command, by which a repeat is known
}

// sameScanMillis is the time in milliseconds within which two scans of a ticket by one device are one passage of one
// person. A device that is held still reads a code several times.
const sameScanMillis = 2_000

// sortWays returns passages in the order of their times. Of two at the same time the way in comes first, and of two
// ways in the one with the smaller key, so that the result does not depend on the order in which reports arrived.
func sortWays(ways []way) []way {
	return slices.SortedFunc(slices.Values(ways), func(a, b way) int {
		if a.at == b.at && a.out != b.out {
			if b.out {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key))
	})
}

// followWays walks through passages in the order of their times. It returns those that are possible one after another
// (in, out, in, ...), and the number of those that contradict them: a way in of somebody who is inside already, or a
// way out of somebody who is not.
func followWays(ways []way) (stand []way, conflicts int) {
	for _, w := range sortWays(ways) {
		// Ways alternate, in first, so an odd number of them has left the holder inside.
		if w.out == (len(stand)%2 == 1) {
			stand = append(stand, w)
			continue
		}
		// A device that reads one code twice in two seconds has seen the same passage again, which is no conflict.
		if n := len(stand); n > 0 {
			if last := stand[n-1]; w.device != "" && w.device == last.device && w.at-last.at <= sameScanMillis {
				continue
			}
		}
		conflicts++
	}
	return stand, conflicts
}

// countConflicts returns how many passages contradict the ones before them, as followWays counts them.
func countConflicts(ways []way) int {
	_, conflicts := followWays(ways)
	return conflicts
}

// isInside returns whether a ticket's holder is inside after these passages.
func isInside(ways []way) bool {
	stand, _ := followWays(ways)
	return len(stand)%2 == 1
}

// withoutLast returns passages without the last one that stands, and without all that came after it: those only
// contradicted what is now taken back.
func withoutLast(ways []way) []way {
	stand, _ := followWays(ways)
	if len(stand) == 0 {
		return ways
	}
	sorted := sortWays(ways)
	return sorted[:slices.Index(sorted, stand[len(stand)-1])]
}

// takePassage judges a gate's decision about a ticket that was at a gate before: a further passage, a denial, or a
// passage that was taken back.
func (b *book) takePassage(f engine.Fact) error {
	switch f := f.(type) {
	case *admission.GatePassed:
		h, w := b.handOf(f.Ticket), way{f.At, f.Out, f.Gate, f.Device, f.Key}
		// A decision may arrive late and lie between two that are known, so all passages are followed once more, with
		// this one.
		grows := countConflicts(append(slices.Clone(h.ways), w)) > countConflicts(h.ways)
		switch {
		case !b.details.Exits:
			return fmt.Errorf("%+v, of an event that counts no exits", *f)
		case grows:
			return fmt.Errorf("%+v, and the ticket has the passages %+v", *f, h.ways)
		// After the refund nobody may come in, but somebody who is inside may still leave.
		case !f.Out && h.gone && f.At >= h.goneAt:
			return fmt.Errorf("%+v, and the ticket's money went back", *f)
		// Gates that are connected decide in the order of their scans. Only the report of a device that had no
		// network ("batch") may tell of something earlier than what is known.
		case f.Method != "batch" && slices.ContainsFunc(h.ways, func(w way) bool { return w.at >= f.At }):
			return fmt.Errorf("%+v, before what was known: %+v", *f, h.ways)
		}
		h.ways, h.passed = append(h.ways, w), append(h.passed, w)
	case *admission.CheckInDenied:
		return b.judgeDenied(f)
	case *admission.PassageUndone:
		h := b.handOf(f.Ticket)
		// The first passage is an admission, which has an undo of its own. This one is only for what came after it.
		if stand, _ := followWays(h.ways); len(stand) < 2 {
			return fmt.Errorf("the last passage of ticket %d is undone, which has %+v", f.Ticket, h.ways)
		}
		h.ways = withoutLast(h.ways)
	}
	return nil
}

// judgeDenied makes sure that the reason of a denial is true: somebody who is denied as a duplicate is inside, and
// somebody who is denied as not inside is not.
func (b *book) judgeDenied(f *admission.CheckInDenied) error {
	if b.orderOf(f.Ticket).Event() == 0 {
		return nil
	}
	h, w := b.handOf(f.Ticket), way{f.At, f.Out, f.Gate, f.Device, f.Key}
	// A device without a network had let this person pass, and the event denies it afterwards. The denial must be due
	// to a contradiction. The passage happened all the same, and is kept: a later report may explain it.
	if f.Passed {
		if more := append(slices.Clone(h.ways), w); countConflicts(more) <= countConflicts(h.ways) {
			return fmt.Errorf("%+v, though it fits the passages %+v", *f, h.ways)
		}
		h.ways = append(h.ways, w)
		return nil
	}
	if !b.details.Exits {
		return nil
	}
	if f.Status == admission.ScanDuplicate && !isInside(h.ways) || f.Status == admission.ScanNotInside && isInside(h.ways) {
		return fmt.Errorf("%+v, and the ticket has the passages %+v", *f, h.ways)
	}
	return nil
}

// wasPassed returns whether the verdict on a scan is about a passage that the journal has. A success must be about
// the scan's own passage, and has no time if that passage was taken back since. A duplicate must be about another
// one.
func (h *hands) wasPassed(scan admission.Scan, r *admission.ScanReply) bool {
	ways := h.passed
	if r.Status != admission.ScanSuccess {
		ways = slices.Concat(h.passed, h.ways) // a passage that was denied at first may stand since a later report explained it
	}
	return slices.ContainsFunc(ways, func(w way) bool {
		if r.At == 0 && r.Status == admission.ScanSuccess {
			return w.key == scan.Key
		}
		return w.at == r.At && w.gate == r.Gate && w.out == r.Out && (w.key == scan.Key) == (r.Status == admission.ScanSuccess)
	})
}

// judgeBatchReply makes sure that the journal has the admission or passage of every scan of a batch that is answered
// with success.
func (b *book) judgeBatchReply(cmd engine.Command, r *admission.BatchReply) error {
	batch, _ := cmd.(admission.ScanBatch)
	for i := range r.Results {
		one, scan := &r.Results[i], &batch.Scans[i]
		if one.Status != admission.ScanSuccess {
			continue
		}
		// The command's key is derived from the request id of the scan, as the event derives it.
		key, h := binary.BigEndian.Uint64(scan.Request.ID[:8]), b.handOf(one.Ticket)
		known := slices.ContainsFunc(h.passed, func(w way) bool { return w.key == key }) ||
			slices.ContainsFunc(h.admitted, func(e entrance) bool {
				return e.Key == key || e.Device == scan.Device && e.At == one.At
			})
		if !known {
			return fmt.Errorf("scan %+v is admitted, and the passages are %+v", *scan, h.passed)
		}
	}
	return nil
}

// settledGates makes sure, once the world is quiet, that the event's counts for each gate, and of the people inside,
// agree with the passages that stand.
func (b *book) settledGates(state *event.State) error {
	// The event is asked as an organizer's page asks it.
	stats, ok := state.Decide(admission.GateStats{}, enginetest.Epoch).Reply.(*admission.Stats)
	if !ok {
		return nil // it was removed
	}
	type count struct{ in, out int64 }
	gates, inside := map[string]count{}, int64(0)
	for _, h := range b.hands {
		stand, _ := followWays(h.ways)
		for _, w := range stand {
			c := gates[w.gate]
			if w.out {
				c.out++
				inside--
			} else {
				c.in++
				inside++
			}
			gates[w.gate] = c
		}
	}
	for i := range stats.Gates {
		g := &stats.Gates[i]
		if c := gates[g.Name]; g.In() != c.in || g.Out != c.out {
			return fmt.Errorf("%s counts %d in and %d out, the passages are %+v", g.Name, g.In(), g.Out, c)
		}
	}
	if stats.Inside() != inside {
		return fmt.Errorf("%d are inside, the event counts %d", inside, stats.Inside())
	}
	return nil
}

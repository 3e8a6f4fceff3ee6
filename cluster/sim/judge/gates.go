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

// way is one way of a ticket's holder through a gate.
type way struct {
	at     int64
	out    bool // false: the way in
	gate   string
	device string
	key    uint64 // of the scan's command, by which a repeat is known
}

// sameScanMillis is within which time a device shows the same person twice.
const sameScanMillis = 2_000

// sortWays returns ways in the order of their times; of two at the same time, the way in comes first.
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

// followWays splits ways into those that stand, each in another direction than the one before, and the
// number of those that contradict them.
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

// countConflicts is how many ways contradict the ways before them: in twice, or out twice (see followWays).
func countConflicts(ways []way) int {
	_, conflicts := followWays(ways)
	return conflicts
}

// isInside reports whether somebody is inside by ways.
func isInside(ways []way) bool {
	stand, _ := followWays(ways)
	return len(stand)%2 == 1
}

// withoutLast takes back the last way that stands, and what contradicts it.
func withoutLast(ways []way) []way {
	stand, _ := followWays(ways)
	if len(stand) == 0 {
		return ways
	}
	sorted := sortWays(ways)
	return sorted[:slices.Index(sorted, stand[len(stand)-1])]
}

// takePassage judges what a gate has decided about somebody who was at one before.
func (b *book) takePassage(f engine.Fact) error {
	switch f := f.(type) {
	case *admission.GatePassed:
		h, w := b.handOf(f.Ticket), way{f.At, f.Out, f.Gate, f.Device, f.Key}
		grows := countConflicts(append(slices.Clone(h.ways), w)) > countConflicts(h.ways)
		switch {
		case !b.details.Exits:
			return fmt.Errorf("%+v, of an event that counts no exits", *f)
		case grows:
			return fmt.Errorf("%+v, and the ticket has the passages %+v", *f, h.ways)
		case !f.Out && h.gone && f.At >= h.goneAt:
			return fmt.Errorf("%+v, and the ticket's money went back", *f)
		case f.Method != "batch" && slices.ContainsFunc(h.ways, func(w way) bool { return w.at >= f.At }):
			return fmt.Errorf("%+v, before what was known: %+v", *f, h.ways)
		}
		h.ways, h.passed = append(h.ways, w), append(h.passed, w)
	case *admission.CheckInDenied:
		return b.judgeDenied(f)
	case *admission.PassageUndone:
		h := b.handOf(f.Ticket)
		if stand, _ := followWays(h.ways); len(stand) < 2 {
			return fmt.Errorf("the last passage of ticket %d is undone, which has %+v", f.Ticket, h.ways)
		}
		h.ways = withoutLast(h.ways)
	}
	return nil
}

// judgeDenied makes sure that who is denied for being inside is inside, and the other way round.
func (b *book) judgeDenied(f *admission.CheckInDenied) error {
	if b.orderOf(f.Ticket).Event() == 0 {
		return nil
	}
	h, w := b.handOf(f.Ticket), way{f.At, f.Out, f.Gate, f.Device, f.Key}
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

// wasPassed reports whether a verdict is on a way through a gate that the journal has: of a success the
// scan's own, which has no time once it was taken back, of a duplicate another one.
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

// judgeBatchReply makes sure that whoever a batch admits is in the journal.
func (b *book) judgeBatchReply(cmd engine.Command, r *admission.BatchReply) error {
	batch, _ := cmd.(admission.ScanBatch)
	for i := range r.Results {
		one, scan := &r.Results[i], &batch.Scans[i]
		if one.Status != admission.ScanSuccess {
			continue
		}
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

// settledGates makes sure that an event counts the people inside: all that came in, less all that went out.
func (b *book) settledGates(state *event.State) error {
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

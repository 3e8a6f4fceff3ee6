package admission

import (
	"hash/fnv"
	"slices"
	"strings"
)

const (
	// maxGates is how many gates are counted apart; more share one row.
	maxGates = 1_000
	// otherGates is the name of the row that the gates beyond maxGates share.
	otherGates = "(other)"
	// maxMinutes is how many minutes of admissions are kept for the admissions per minute.
	maxMinutes = 120
	// sameScanMillis is how soon the same device may repeat a scan and still get the first answer
	// (docs/rules.md, Gates).
	sameScanMillis = 2_000
)

// gates counts what happens at the gates.
type gates struct {
	counts  []GateCount
	index   map[string]uint16 // index of each gate, by its GateKey
	minutes []MinuteCount
}

// newGates makes the counters of an event without gates.
func newGates() gates { return gates{index: make(map[string]uint16)} }

// GateKey returns what the names of one gate have in common: people write it in either case, and
// with more or fewer blanks.
func GateKey(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// number returns the index of a gate's counters, and adds counters for a new gate. A new gate beyond maxGates
// gets the counters that such gates share.
func (g *gates) number(name string) uint16 {
	if i, ok := g.index[GateKey(name)]; ok {
		return i
	}
	if len(g.counts) >= maxGates && name != otherGates {
		return g.number(otherGates)
	}
	i := uint16(len(g.counts))
	g.index[GateKey(name)] = i
	g.counts = append(g.counts, GateCount{Name: name})
	return i
}

// admit counts an admission at a gate, and returns the gate's index.
func (g *gates) admit(name string, at int64) uint16 {
	i := g.number(name)
	g.counts[i].Scanned++
	g.counts[i].Admitted++
	g.countMinute(at)
	return i
}

// countMinute counts an admission in its minute. A report that comes late counts in the newest minute, so that the
// list stays in order.
func (g *gates) countMinute(at int64) {
	minute := at / 60_000
	if n := len(g.minutes); n > 0 && g.minutes[n-1].Minute >= minute {
		g.minutes[n-1].Count++
		return
	}
	g.minutes = append(g.minutes, MinuteCount{Minute: minute, Count: 1})
	if len(g.minutes) > maxMinutes {
		g.minutes = slices.Delete(g.minutes, 0, len(g.minutes)-maxMinutes)
	}
}

// deny counts a scan that was refused at a gate.
func (g *gates) deny(name string) {
	i := g.number(name)
	g.counts[i].Scanned++
	g.counts[i].Denied++
}

// undo takes an admission out of its gate's count. The scan stays counted, and so does the admission in the count
// of its minute.
func (g *gates) undo(gate uint16) { g.counts[gate].Admitted-- }

// deviceHash returns the hash of a device's name, by which tickets and passages remember the device. It is 0
// for no name.
func deviceHash(device string) uint64 {
	if device == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(device)) // a hash never fails
	return h.Sum64()
}

// sameDevice reports whether a scan only repeats an earlier one: both are by the same known device, and at most
// sameScanMillis apart.
func sameDevice(first, device uint64, millis int64) bool {
	return first != 0 && first == device && max(millis, -millis) <= sameScanMillis
}

package acts

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
)

// walks draws who goes out of a show and comes in again. About one seed in four has exits at all. The draws are
// separate from the others, so that a seed without exits is the same run as before there were any: if it once found a
// bug, it still would.
type walks struct {
	*rand.Rand
	on bool
}

// newWalks starts the draws of a seed.
func newWalks(seed uint64) walks {
	r := rand.New(rand.NewPCG(seed, walksDraws))
	return walks{r, r.IntN(4) == 0}
}

// walksDraws sets these draws apart from the others of the same seed.
const walksDraws = 0xe87f

// countExits lets a show's gates count people out and in again. Some organizers switch that off while people are
// inside. It also draws when the devices without a network report.
func (s *Script) countExits(sh *show, d *event.Details) {
	if !s.walks.on {
		return
	}
	d.Exits, d.InsideLimit = true, s.walks.Int64N(20)
	if s.walks.IntN(5) == 0 {
		s.After(s.walks.Int64N(s.load.Span), func() { s.changeEvent(sh.ref, func(d *event.Details) { d.Exits = false }) })
	}
	for device := range sh.kept {
		for range 1 + s.walks.IntN(6) {
			s.After(s.walks.Int64N(s.load.Span+10*second), func() { s.sendKept(sh, device) })
		}
	}
}

// walkAbout lets the holders of an order's tickets go out and come in again, past gates with a network and without.
func (s *Script) walkAbout(sh *show, o *order.Order) {
	if !s.walks.on || s.Healed() {
		return
	}
	for i := range uint32(o.Tickets()) {
		if s.walks.IntN(2) == 0 {
			continue
		}
		after, out := int64(0), false
		for range 1 + s.walks.IntN(7) {
			after += s.walks.Int64N(3 * second)
			s.walkOnce(sh, o.FirstTicket+i, after, out)
			if s.walks.IntN(5) > 0 { // One ticket in five is shown in the same direction twice, which the gate must notice.
				out = !out
			}
		}
	}
}

// walkOnce shows a ticket at a gate, after a time in microseconds. The gate either asks the event at once, or has no
// network and keeps the scan for later.
func (s *Script) walkOnce(sh *show, ticket uint32, after int64, out bool) {
	sh.scans++
	key, gate := sh.scans, fmt.Sprintf("gate %d", s.walks.IntN(3))
	if s.walks.IntN(2) == 0 {
		scan := admission.Scan{Ticket: ticket, Version: 1, Out: out, Gate: gate, Method: "qr", Device: fmt.Sprintf("device %d", key), Key: key}
		limit := 1 + s.walks.IntN(4)
		s.After(after, func() { s.ask(sh.ref, scan, limit, nil) })
		return
	}
	device := s.walks.IntN(len(sh.kept))
	s.After(after, func() {
		scan := admission.BatchScan{Ticket: ticket, Version: 1, Out: out, Gate: gate, Device: fmt.Sprintf("offline %d", device), At: s.Millis(s.Now())}
		binary.BigEndian.PutUint64(scan.Request.ID[:], key)
		sh.kept[device] = append(sh.kept[device], scan)
	})
}

// sendKept sends the scans that a device without a network has kept, in any order and at times twice. The device
// keeps them afterwards, so that its next batch repeats them.
func (s *Script) sendKept(sh *show, device int) {
	kept := append([]admission.BatchScan(nil), sh.kept[device]...)
	if len(kept) == 0 {
		return
	}
	s.walks.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
	for range 1 + s.walks.IntN(2) {
		s.ask(sh.ref, admission.ScanBatch{Scans: kept}, 1+s.walks.IntN(4), nil)
	}
}

package admission

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// counting are the terms of an event that counts exits, whose doors are open.
var counting = Terms{Exits: true, DoorsAt: 100_000_000, Capacity: -1}

// threeTickets returns an event's tickets as they are sold.
func threeTickets() *Tickets {
	t := New()
	t.Mint(&order.Order{Lines: []order.Line{{Type: 1, Quantity: 3}}, FirstTicket: 1})
	return &t
}

// offlineScans draws what devices have seen without a network: people who go in and out, codes that are
// shown twice, and scans that contradict each other.
func offlineScans(r *rand.Rand) []BatchScan {
	scans := make([]BatchScan, 2+r.IntN(14))
	for i := range scans {
		s := BatchScan{
			Ticket: 1 + r.Uint32N(3), Out: r.IntN(2) == 0, At: counting.DoorsAt + r.Int64N(40)*500, Typed: r.IntN(4) == 0,
			Gate: fmt.Sprintf("gate %d", r.IntN(2)), Device: fmt.Sprintf("device %d", r.IntN(3)),
		}
		binary.BigEndian.PutUint64(s.Request.ID[:], uint64(i)+1)
		scans[i] = s
	}
	return scans
}

// outcome is what must not depend on who tells first.
type outcome struct {
	Passages [][]passage
	Gates    []GateCount
	Inside   int64
	Letters  string
}

func outcomeOf(t *Tickets) (o outcome) {
	for ticket := range uint32(3) {
		var list []passage
		for _, p := range t.trailOf(ticket + 1).Passages {
			list = append(list, *p)
		}
		o.Passages = append(o.Passages, list)
	}
	stats := t.countStats(&counting)
	o.Gates, o.Inside, o.Letters = stats.Gates, stats.Inside(), string(t.listRoster(&counting).Letters)
	slices.SortFunc(o.Gates, func(a, b GateCount) int { return strings.Compare(a.Name, b.Name) })
	return o
}

// send decides on a batch and applies it.
func (t *Tickets) send(scans []BatchScan, now int64) *BatchReply {
	d, _ := t.Decide(ScanBatch{Scans: scans}, &counting, now)
	for _, f := range d.Facts {
		t.Apply(f)
	}
	return d.Reply.(*BatchReply)
}

// TestBatchesMerge has devices tell the same scans in many orders, and in one, two or more batches, of
// which some are sent twice: who is inside and what the gates count is the same.
func TestBatchesMerge(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		scans, now := offlineScans(r), counting.DoorsAt+60_000
		var want outcome
		for try := range 6 {
			tickets, list := threeTickets(), slices.Clone(scans)
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			for rest := list; len(rest) > 0; {
				n := len(rest)
				if try > 0 {
					n = 1 + r.IntN(n)
				}
				first := tickets.send(slices.Clone(rest[:n]), now)
				if r.IntN(3) == 0 {
					for i, again := range tickets.send(slices.Clone(rest[:n]), now).Results {
						require.Equal(t, first.Results[i].Status, again.Status, "seed %d: a batch that is sent again", seed)
					}
				}
				rest = rest[n:]
				require.NoError(t, tickets.Check(nil), "seed %d", seed)
			}
			got := outcomeOf(tickets)
			if try == 0 {
				want = got
			}
			require.Equal(t, want, got, "seed %d", seed)
			frozen, answers := tickets.Freeze()
			thawed, err := Thaw(&frozen, &answers)
			require.NoError(t, err)
			require.Equal(t, want, outcomeOf(&thawed), "seed %d: after a snapshot", seed)
		}
	}
}

// TestConflictsAreNamed tells of two people who came in by one ticket: whichever device tells second is
// told who was first.
func TestConflictsAreNamed(t *testing.T) {
	t.Parallel()
	at := counting.DoorsAt
	scan := func(n byte, out bool, after int64, gate string) []BatchScan {
		return []BatchScan{{Ticket: 1, Out: out, At: at + after*1_000, Gate: gate, Device: gate, Request: engine.Request{ID: engine.ID{7: n}}}}
	}
	north, south, exit := scan(1, false, 10, "North"), scan(2, false, 20, "South"), scan(3, true, 15, "East")
	for _, order := range [][][]BatchScan{{north, south}, {south, north}} {
		tickets := threeTickets()
		require.Equal(t, ScanSuccess, tickets.send(order[0], at+60_000).Results[0].Status)
		denied := tickets.send(order[1], at+60_000).Results[0]
		require.Equal(t, ScanDuplicate, denied.Status)
		require.Equal(t, order[0][0].Gate, denied.Gate)
		require.Equal(t, order[0][0].At, denied.At)
		require.EqualValues(t, 1, tickets.countStats(&counting).Inside())

		require.Equal(t, ScanSuccess, tickets.send(exit, at+60_000).Results[0].Status, "the exit explains the second")
		stats := tickets.countStats(&counting)
		require.EqualValues(t, 1, stats.Inside())
		require.Zero(t, stats.Denied)
		require.Equal(t, byte(letterCheckedIn), tickets.listRoster(&counting).Letters[0])
	}
}

// TestTrailIsBounded has one ticket go in and out for days.
func TestTrailIsBounded(t *testing.T) {
	t.Parallel()
	tickets, at := threeTickets(), counting.DoorsAt
	for i := range int64(500) {
		d, _ := tickets.Decide(Scan{Ticket: 1, Out: i%2 == 1, Gate: "North", Device: "a"}, &counting, at+i*60_000)
		require.Equal(t, ScanSuccess, d.Reply.(*ScanReply).Status, "%d", i)
		for _, f := range d.Facts {
			tickets.Apply(f)
		}
	}
	require.Len(t, tickets.trailOf(1).Passages, maxPassages)
	require.NoError(t, tickets.Check(nil))
	stats := tickets.countStats(&counting)
	require.Equal(t, GateCount{Name: "North", Scanned: 500, Admitted: 1, Again: 249, Out: 250}, stats.Gates[0])
	late := []BatchScan{{Ticket: 1, At: at + 90_000, Gate: "South", Request: engine.Request{ID: engine.ID{7: 9}}}}
	require.Equal(t, ScanDuplicate, tickets.send(late, at+500*60_000).Results[0].Status, "what came before is forgotten")
	require.NoError(t, tickets.Check(nil))
}

// TestUndoPassages takes back what a ticket's holder did at the gates, one after the other.
func TestUndoPassages(t *testing.T) {
	t.Parallel()
	tickets, at := threeTickets(), counting.DoorsAt
	for i, out := range []bool{false, true, false} {
		d, _ := tickets.Decide(Scan{Ticket: 1, Out: out, Gate: "North"}, &counting, at+int64(i)*60_000)
		tickets.Apply(d.Facts[0])
	}
	for i, want := range []string{ScanSuccess, ScanSuccess, ""} {
		d, _ := tickets.Decide(UndoScan{Ticket: 1, Version: 1}, &counting, at+300_000)
		require.Equal(t, want, d.Reply.(*ScanReply).Status)
		tickets.Apply(d.Facts[0])
		require.NoError(t, tickets.Check(nil))
		require.EqualValues(t, []int64{0, 1, 0}[i], tickets.countStats(&counting).Inside())
	}
	require.Equal(t, GateCount{Name: "North", Scanned: 3}, tickets.countStats(&counting).Gates[0])
	d, _ := tickets.Decide(UndoScan{Ticket: 1, Version: 1}, &counting, at)
	require.Equal(t, engine.NotCheckedIn, d.Reply.(*engine.Refusal).Code)
}

// TestScanAfterTheEnd scans a refunded ticket, and tickets of an event that was cancelled or is over. The clock of the
// node that scans is behind the clock of the node that noted the end, and still nobody is admitted. A device that reports
// a scan from before the end is believed.
func TestScanAfterTheEnd(t *testing.T) {
	t.Parallel()
	at := counting.DoorsAt
	for _, exits := range []bool{false, true} {
		for name, end := range map[string]struct {
			terms Terms
			want  string
		}{
			"refunded":  {Terms{}, ScanCancelled},
			"cancelled": {Terms{Cancelled: true, ChangedAt: at + 60_000}, ScanCancelled},
			"completed": {Terms{Completed: true, ChangedAt: at + 60_000}, ScanExpired},
		} {
			tickets, terms := threeTickets(), end.terms
			terms.Exits, terms.DoorsAt, terms.Capacity = exits, counting.DoorsAt, -1
			if name == "refunded" {
				tickets.rows.markRefunded(1, at+60_000)
			}
			d := tickets.decideScan(Scan{Ticket: 1, Gate: "North", Device: "a"}, &terms, at)
			require.Equal(t, end.want, d.Reply.(*ScanReply).Status, "%s, exits %t", name, exits)
			early := []BatchScan{{Ticket: 1, Gate: "North", Device: "b", At: at, Request: engine.Request{ID: engine.ID{1}}}}
			d = tickets.decideBatch(ScanBatch{Scans: early}, &terms, at)
			require.Equal(t, ScanSuccess, d.Reply.(*BatchReply).Results[0].Status, "%s, exits %t", name, exits)
		}
	}
}

// TestLateRepeat has a device without idempotency keys repeat a scan that was forgotten, because its clock was set
// back: the answer names the passage that the scan repeats.
func TestLateRepeat(t *testing.T) {
	t.Parallel()
	tr := &trail{Ticket: 1, Before: &passage{At: 5_000, Gate: "North", Device: deviceHash("a")}, Until: 5_000}
	w := judgePassing(tr, Scan{Ticket: 1, Gate: "North", Device: "a"}, 4_000)
	require.Contains(t, w.trail.Passages, w.passage)
	require.Same(t, tr.Before, w.standsBefore())
	w = judgePassing(tr, Scan{Ticket: 1, Gate: "South", Device: "b"}, 4_000)
	require.Equal(t, verdictInside, w.verdict)
	require.Same(t, tr.Before, w.trail.findContradicted(w.passage))
}

// TestUndoneThenRefunded has a device tell late of a scan of a ticket whose first admission was taken back, and whose
// money went back since. When it was scanned the ticket was good.
func TestUndoneThenRefunded(t *testing.T) {
	t.Parallel()
	terms := Terms{DoorsAt: 100_000_000, Capacity: -1}
	tickets, at := threeTickets(), terms.DoorsAt
	apply := func(d engine.Decision) {
		require.Len(t, d.Facts, 1)
		tickets.Apply(d.Facts[0])
	}
	apply(tickets.decideScan(Scan{Ticket: 1, Gate: "a", Device: "x"}, &terms, at))
	apply(tickets.decideUndo(UndoScan{Ticket: 1, Version: tickets.hands.of(1).Version}, at+1_000))
	tickets.rows.markRefunded(1, at+60_000)
	late := BatchScan{Ticket: 1, Gate: "b", Device: "y", At: at + 30_000, Request: engine.Request{ID: engine.ID{1}}}
	d := tickets.decideBatch(ScanBatch{Scans: []BatchScan{late}}, &terms, at+120_000)
	require.Equal(t, ScanSuccess, d.Reply.(*BatchReply).Results[0].Status)
	apply(d)
	late.Request.ID[0]++
	d = tickets.decideBatch(ScanBatch{Scans: []BatchScan{late}}, &terms, at+120_000)
	require.Equal(t, ScanSuccess, d.Reply.(*BatchReply).Results[0].Status, "the same device saw it again")
	late.Device, late.Request.ID[0] = "z", 3
	d = tickets.decideBatch(ScanBatch{Scans: []BatchScan{late}}, &terms, at+120_000)
	require.Equal(t, ScanDuplicate, d.Reply.(*BatchReply).Results[0].Status)
}

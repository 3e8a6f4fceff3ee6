package queue_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/queue"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	enginetest.Run(t)
}

// open opens a room whose list is closed after an hour, and which is drawn by arrival.
func open(t *testing.T, begin time.Time, rate int64) (engine.State, func(engine.Command, time.Time) engine.Reply) {
	s := queue.New(engine.QueueRef(1))
	tell := func(c engine.Command, at time.Time) engine.Reply {
		d := s.Decide(c, at)
		for _, f := range d.Facts {
			s.Apply(f)
		}
		return d.Reply
	}
	r := tell(queue.Open{Settings: queue.Settings{
		Event: "evt_1", Chain: draw.Chain{Genesis: begin.Unix(), Period: 3}, Rate: rate, Hold: 600_000,
		Rules: draw.Rules{
			Mode: draw.ByArrival, RegistersFrom: begin.UnixMilli(), ClosesAt: begin.Add(time.Hour).UnixMilli(), OpensAt: begin.Add(time.Hour).UnixMilli(),
		},
	}}, begin)
	require.IsType(t, &queue.Record{}, r)
	return s, tell
}

func leafOf(n int) draw.Hash { return sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n))) }

// TestPlacesAreTheVerifiers draws 700 and lets the verifier find the place of each, from what the
// room publishes and proves.
func TestPlacesAreTheVerifiers(t *testing.T) {
	t.Parallel()
	begin := time.UnixMilli(1_900_000_000_000)
	beacon, err := draw.NewTestBeacon(bytes.Repeat([]byte{5}, 32), begin.Unix()-100, 3)
	require.NoError(t, err)
	_, tell := open(t, begin, 60)
	tell(queue.End{}, begin)
	settings := queue.Settings{
		Event: "evt_1", Chain: beacon.Chain, Rate: 60, Hold: 1,
		Rules: draw.Rules{Mode: draw.ByDraw, ClosesAt: begin.Add(time.Hour).UnixMilli(), OpensAt: begin.Add(2 * time.Hour).UnixMilli()},
	}
	r := tell(queue.Open{Settings: settings}, begin).(*queue.Record)
	require.Nil(t, r.Statement, "the list is still open")
	for n := range 700 {
		tell(queue.Join{Leaf: leafOf(n)}, begin)
	}
	closed := begin.Add(time.Hour)
	tell(engine.Wake{}, closed)
	tell(queue.Join{Leaf: leafOf(700)}, closed)
	signature := beacon.Sign(r.Settings.Rules.Round)
	drawn := tell(queue.Bring{Signature: signature}, closed).(*queue.Record)
	verified, err := draw.Verify(*drawn.Statement, &beacon.Chain, signature)
	require.NoError(t, err)
	require.Equal(t, uint32(700), drawn.Statement.Count)
	for n := range 700 {
		proof := tell(queue.Prove{Leaf: leafOf(n)}, closed).(*queue.Proof)
		place, err := verified.Place(leafOf(n), proof.Index, proof.Hashes)
		require.NoError(t, err)
		require.Equal(t, int64(place), tell(queue.Look{Leaf: leafOf(n)}, closed).(*queue.Placed).Place)
	}
	require.Equal(t, int64(700), tell(queue.Look{Leaf: leafOf(700)}, closed).(*queue.Placed).Place, "who came later")
}

// TestRulesStayBehindAClock enters one visitor. Then the room moves to a node whose clock is an hour
// behind, where registration seems not to have begun: the rules stay, the rate may change.
func TestRulesStayBehindAClock(t *testing.T) {
	t.Parallel()
	begin := time.UnixMilli(1_900_000_000_000)
	_, tell := open(t, begin, 60)
	before := begin.Add(-time.Hour)
	settings := *tell(queue.Get{}, before).(*queue.Record).Settings
	settings.Rules.PartyMax = 2
	require.IsType(t, &queue.Record{}, tell(queue.Open{Settings: settings}, before), "nobody has come")
	settings.Rules.PartyMax = 3
	tell(queue.Join{Leaf: leafOf(1)}, begin)
	refusal, ok := tell(queue.Open{Settings: settings}, before).(*engine.Refusal)
	require.True(t, ok, "somebody has entered by the rules")
	require.Equal(t, queue.FrozenField{Field: "partyMax"}, refusal.Details)
	settings.Rules.PartyMax, settings.Rate = 2, 90
	require.IsType(t, &queue.Record{}, tell(queue.Open{Settings: settings}, before))
	tell(engine.Wake{}, begin.Add(time.Hour))
	settings.Rules.ClosesAt--
	refusal, ok = tell(queue.Open{Settings: settings}, before).(*engine.Refusal)
	require.True(t, ok, "the root is out")
	require.Equal(t, queue.FrozenField{Field: "opensAt"}, refusal.Details)
}

// TestMemoryOfAMillion enters a million proven visitors: an entry takes less than 64 bytes.
func TestMemoryOfAMillion(t *testing.T) {
	begin := time.UnixMilli(1_900_000_000_000)
	s, tell := open(t, begin, 6000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const visitors = 1_000_000
	start := time.Now()
	for n := range visitors {
		tell(queue.Join{Leaf: leafOf(n), Class: draw.ClassAddress, Person: uint64(n+1) * 0x9e3779b97f4a7c15}, begin)
	}
	took := time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := float64(after.HeapAlloc-before.HeapAlloc) / visitors
	t.Logf("%d entries in %s, %.1f bytes each", visitors, took, each)
	require.Less(t, each, 64.0)
	require.NoError(t, s.Check())
	start = time.Now()
	frozen := s.Freeze()
	t.Logf("frozen in %s", time.Since(start))
	thawed, err := queue.Thaw(engine.QueueRef(1), frozen)
	require.NoError(t, err)
	require.NoError(t, thawed.Check())
}

// TestRate lets the timer run for ten minutes: what is admitted follows the rate, also if the timer
// is late, and a clock that jumps gives some seconds of it at most.
func TestRate(t *testing.T) {
	t.Parallel()
	for _, rate := range []int64{1, 7, 60, 1000, 59_999} {
		begin := time.UnixMilli(1_900_000_000_000)
		s, tell := open(t, begin, rate)
		for n := range min(rate*30, 700_000) {
			tell(queue.Join{Leaf: leafOf(int(n))}, begin)
		}
		opens := begin.Add(time.Hour)
		now := begin
		for late := 0; now.Before(opens.Add(10 * time.Minute)); late++ {
			now = s.Next().Add(time.Duration(late%7) * 100 * time.Millisecond)
			tell(engine.Wake{}, now)
		}
		served := float64(tell(queue.Get{}, now).(*queue.Record).Served)
		minutes := now.Sub(opens).Minutes()
		require.InEpsilon(t, float64(rate)*minutes, served, 0.02+1/(float64(rate)*minutes), "rate %d", rate)

		t.Log("the clock jumps forwards by a day, and back")
		for _, jump := range []time.Duration{24 * time.Hour, -24 * time.Hour, time.Minute} {
			was := tell(queue.Get{}, now).(*queue.Record).Served
			now = now.Add(jump)
			tell(engine.Wake{}, now)
			is := tell(queue.Get{}, now).(*queue.Record).Served
			require.GreaterOrEqual(t, is, was)
			require.LessOrEqual(t, float64(is-was), 1+float64(rate)*6/60+1)
		}
		require.NoError(t, s.Check())
	}
}

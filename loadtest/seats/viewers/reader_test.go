package viewers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 1000\n\n"

func snapshot(number int, data string) string {
	return fmt.Sprintf("id: e-%d\nevent: snapshot\ndata: %s\n\n", number, data)
}

// update is a frame of one or more events.
func update(number int, data ...string) string {
	var b strings.Builder
	for i, d := range data {
		if i == len(data)-1 {
			fmt.Fprintf(&b, "id: e-%d\n", number)
		}
		fmt.Fprintf(&b, "event: seat_update\ndata: %s\n\n", d)
	}
	return b.String()
}

const nothing = `{"sold":[],"blocked":[],"held":[]}`

// stream is a good one of five frames.
var good = []string{
	snapshot(0, nothing),
	update(1, `{"held":["a","b"]}`),
	update(2, `{"sold":["a"]}`, `{"released":["b"]}`, `{"blocked":["d"]}`),
	update(3, `{"held":["c"]}`, `{"unblocked":["d"]}`),
	update(4, `{"released":["c"]}`),
}

func newReader() *reader {
	return &reader{
		stream: newStream([]string{"a", "b", "c", "d"}), now: time.Now(), counts: true,
		measure: &Measures{Asked: newDelays(), Granted: newDelays()},
	}
}

// TestAnyPieces: however the bytes of several viewers are cut and mixed, each
// comes to the same place and the map to the same seats.
func TestAnyPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := newReader()
		left := make([]string, 4)
		all := make([]*viewer, len(left))
		for i := range left {
			all[i], left[i] = &viewer{phase: joining}, answer
			from := rapid.IntRange(0, 3).Draw(t, "from")
			states := []string{nothing, `{"sold":[],"blocked":[],"held":["a","b"]}`, `{"sold":["a"],"blocked":["d"],"held":[]}`, `{"sold":["a"],"blocked":[],"held":["c"]}`}
			left[i] += snapshot(from, states[from])
			for n := from + 1; n < len(good); n++ {
				left[i] += good[n]
				if rapid.Bool().Draw(t, "comment") {
					left[i] += ":\n\n"
				}
			}
			if from == 0 {
				left[i] = strings.Replace(left[i], good[3], good[3]+snapshot(3, states[3]), 1)
			}
		}
		for strings.Join(left, "") != "" {
			i := rapid.IntRange(0, len(left)-1).Draw(t, "viewer")
			n := min(rapid.IntRange(1, 200).Draw(t, "bytes"), len(left[i]))
			require.NoError(t, r.read(all[i], []byte(left[i][:n])))
			left[i] = left[i][n:]
		}
		for _, v := range all {
			require.EqualValues(t, 4, v.at)
			require.Nil(t, v.frame)
			require.Equal(t, watching, v.phase)
		}
		s := r.stream
		for len(s.early) > 0 {
			s.leapToSnapshot(time.Now())
		}
		require.Empty(t, s.findings)
		require.EqualValues(t, 4, s.at)
		require.Equal(t, []string{"a"}, s.seats.In(Sold))
		require.Equal(t, []string{"b", "c", "d"}, s.seats.In(Available))
	})
}

// TestFaultsAreFound: what a service must never send is found.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	for name, streams := range map[string][]string{
		"a lost update":             {good[0] + good[1] + good[4]},
		"an update twice":           {good[0] + good[1] + good[1]},
		"updates first":             {good[1]},
		"other bytes":               {good[0] + good[1], good[0] + strings.Replace(good[1], `"b"`, `"c"`, 1)},
		"another length":            {good[0] + good[1], good[0] + strings.Replace(good[1], `,"b"`, ``, 1)},
		"a wrong snapshot":          {good[0] + good[1] + snapshot(1, nothing)},
		"a snapshot of the past":    {good[0] + good[1] + snapshot(0, nothing)},
		"another epoch":             {good[0] + strings.Replace(good[1], "e-1", "f-1", 1)},
		"a number within":           {good[0] + good[1] + strings.Replace(good[2], "e-2", "e-3", 1)},
		"what is so already":        {good[0] + good[1] + update(2, `{"held":["a"]}`)},
		"an unknown seat":           {good[0] + update(1, `{"held":["x"]}`)},
		"an unknown event":          {good[0] + "id: e-1\nevent: surprise\ndata: {}\n\n"},
		"what is no JSON":           {good[0] + update(1, `{"held":`)},
		"a torn frame":              {good[0] + "event: seat_update\ndata: {\"held\":[\nid: e-1\n\n" + good[1]},
		"what is no event":          {good[0] + "hello\n\n"},
		"an answer in the middle":   {good[0] + answer},
		"a snapshot ahead is wrong": {good[0] + snapshot(1, nothing), good[0] + good[1]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReader()
			found := false
			for _, text := range streams {
				v := &viewer{phase: joining}
				found = r.read(v, []byte(answer+text)) != nil || found
			}
			require.True(t, found || r.stream.found > 0)
		})
	}
}

// TestMarks: a viewer's delay is counted once for each marked change, also if it
// learns of it by a snapshot, and if the change was undone before anybody saw it.
func TestMarks(t *testing.T) {
	t.Parallel()
	r := newReader()
	s := r.stream
	past := r.now.Add(-time.Second)
	s.marks = []*mark{{seat: "a", asked: past}, {seat: "d", asked: past}, {seat: "c", asked: past}}
	s.marks[2].granted.Store(&past)
	first, second, last := &viewer{phase: joining}, &viewer{phase: joining}, &viewer{phase: joining}
	require.NoError(t, r.read(second, []byte(answer+good[0])))
	require.NoError(t, r.read(first, []byte(answer+good[0]+good[1])))
	require.EqualValues(t, 1, r.measure.Marks)
	require.NoError(t, r.read(first, []byte(good[2]+good[3])))
	require.EqualValues(t, 3, r.measure.Marks, "c is seen, and so is d before it")
	require.NoError(t, r.read(second, []byte(snapshot(3, `{"sold":["a"],"blocked":[],"held":["c"]}`))))
	require.EqualValues(t, 6, r.measure.Marks)
	require.EqualValues(t, 1, r.measure.Jumps)
	require.NoError(t, r.read(last, []byte(answer+snapshot(3, `{"sold":["a"],"blocked":[],"held":["c"]}`))))
	require.EqualValues(t, 6, r.measure.Marks, "who has just come waited for nothing")
	require.InDelta(t, 1_000_000, r.measure.Asked.Min(), 1000)
	require.EqualValues(t, 1, r.measure.Granted.Min())
	require.InDelta(t, 1_000_000, r.measure.Granted.Max(), 1000)
	require.Empty(t, s.findings)
}

// TestNobodySaw: updates that all viewers were spared leave the map right.
func TestNobodySaw(t *testing.T) {
	t.Parallel()
	r := newReader()
	v := &viewer{phase: joining}
	require.NoError(t, r.read(v, []byte(answer+good[0]+good[1]+snapshot(3, `{"sold":["a"],"blocked":[],"held":["c"]}`)+good[4])))
	s := r.stream
	require.EqualValues(t, 1, s.at)
	s.leapToSnapshot(time.Now())
	require.EqualValues(t, 4, s.at)
	require.EqualValues(t, 2, s.skipped)
	require.Empty(t, s.findings)
	require.Empty(t, s.waiting)
	require.Equal(t, []string{"a"}, s.seats.In(Sold))
	require.Equal(t, Available, s.seats.State("c"))
	require.Len(t, s.seats.History("c"), 2)
}

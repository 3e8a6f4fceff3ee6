package sse

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// steps is a source: updates say from which number to which it grew. It is
// large now and then, so that the ring is short.
type steps struct{ told, at, padding int }

func (s *steps) Take(whole bool) (update, snapshot []Event) {
	data := func(from, to int) []byte {
		return fmt.Appendf(nil, "%d %d %s", from, to, strings.Repeat("x", s.padding))
	}
	if s.told < s.at {
		update = []Event{{"update", data(s.told, s.at)}}
		s.told = s.at
	}
	if whole {
		snapshot = []Event{{"snapshot", data(s.at, s.at)}}
	}
	return update, snapshot
}

func (s *steps) Close() {}

// TestAnyPace: whatever a viewer takes and whenever, the bytes it has taken are
// a stream in which nothing is missing, torn or repeated.
func TestAnyPace(t *testing.T) {
	t.Parallel()
	h, err := New(Config{Metrics: prometheus.NewRegistry()})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Stop(context.Background())) }()
	rapid.Check(t, func(t *rapid.T) {
		source := &steps{}
		topic := newTopic(h, "")
		topic.source = source
		topic.wanted.Store(true)
		clock, packed := time.Now(), rapid.Bool().Draw(t, "packed")
		v := &viewer{topic: topic, packed: packed}
		v.resumeAfter("")
		var out []byte
		write := func(room int) {
			items := v.appendMissing(topic.state.Load(), nil)
			n := 0
			for _, it := range items {
				size := min(room-n, len(it.bytes))
				out = append(out, it.bytes[:size]...)
				n += size
			}
			v.advanceBy(items, n, h.now())
		}
		t.Repeat(map[string]func(*rapid.T){
			"change": func(t *rapid.T) {
				source.padding = rapid.SampledFrom([]int{0, 100, 20_000, 300_000}).Draw(t, "padding")
				for range rapid.IntRange(1, 20).Draw(t, "changes") {
					source.at++
					clock = clock.Add(50 * time.Millisecond)
					topic.takeChanges(clock)
				}
			},
			"take":    func(*rapid.T) { topic.takeChanges(clock) },
			"write":   func(t *rapid.T) { write(rapid.IntRange(0, 50_000).Draw(t, "room")) },
			"refresh": func(*rapid.T) { v.refresh = 0; v.needsBeat(h.now()) },
			"silence": func(*rapid.T) { v.moved = -h.cfg.KeepAlive; v.needsBeat(h.now()) },
		})
		for topic.takeChanges(clock.Add(time.Hour)); v.next <= topic.state.Load().last; topic.takeChanges(clock.Add(time.Hour)) {
			write(1 << 20)
		}
		end := *topic.state.Load()
		end.final = true
		topic.publishState(&end)
		for !v.isDone() {
			write(1 << 20)
		}
		if packed {
			out = unpack(t, out)
		}
		require.Equal(t, source.at, check(t, topic, string(out)))
	})
}

// unpack inflates frames that were packed apart.
func unpack(t *rapid.T, b []byte) []byte {
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(b)))
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("a deflate stream without an end: %v", err)
	}
	return plain
}

// check reads a stream and returns what its viewer knows at the end.
func check(t *rapid.T, topic *topic, out string) (at int) {
	body, ok := strings.CutSuffix(out, "\n\n")
	require.True(t, ok, "the end is torn")
	frames := strings.Split(body, "\n\n")
	last, id := len(frames)-1, -1
	require.Contains(t, frames[last], "retry: ")
	for _, f := range frames[:last] {
		if f == ":" {
			continue
		}
		var name string
		var number, from, to int
		_, err := fmt.Sscanf(f, "id: "+topic.epoch+"-%d\nevent: %s\ndata: %d %d", &number, &name, &from, &to)
		require.NoError(t, err, "%.100q", f)
		if name == "snapshot" {
			require.GreaterOrEqual(t, number, id, "a snapshot never goes back")
		} else {
			require.Equal(t, id+1, number)
			require.Equal(t, at, from, "an update is missing or repeated")
		}
		at, id = to, number
	}
	return at
}

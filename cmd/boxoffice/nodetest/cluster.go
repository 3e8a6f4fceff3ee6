package nodetest

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Through returns the same house as another node of its cluster serves it. The organizer's token is
// valid there too.
func (h *House) Through(s *Shop) *House {
	c := *h
	c.Shop = s
	c.Token = h.Token
	return &c
}

// Patient sends a request until the answer is not 503, at most for two minutes. Passwords are hashed at
// low priority, and other tests keep the machine busy.
func (s *Shop) Patient(method, path string, body any, headers ...string) Answer {
	for deadline := time.Now().Add(2 * time.Minute); ; {
		a := s.Call(method, path, body, headers...)
		if a.Status != 503 || time.Now().After(deadline) {
			return a
		}
	}
}

// Viewer is a client that watches a house's seats live. It keeps the state of every seat that is
// not free.
type Viewer struct {
	mu     sync.Mutex
	states map[string]string
}

// Watch begins to watch the house's seats. The viewer's goroutine ends with ctx, and the test waits
// for it.
func (h *House) Watch(ctx context.Context, t *testing.T) *Viewer {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", h.URL+h.Path+"seats/live", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // the goroutine below does
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	v := &Viewer{states: map[string]string{}}
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended })
	go func() {
		defer close(ended)
		defer func() { _ = res.Body.Close() }()
		event := ""
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if e, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = e
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var lists map[string][]string
				if json.Unmarshal([]byte(text), &lists) == nil {
					v.applyMessage(event == "snapshot", lists)
				}
			}
		}
	}()
	return v
}

// applyMessage applies a message of the live stream. A snapshot replaces everything; any other message only
// changes the seats that it names. Seats that are free again are forgotten.
func (v *Viewer) applyMessage(whole bool, lists map[string][]string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if whole {
		clear(v.states)
	}
	for state, seats := range lists {
		for _, seat := range seats {
			v.states[seat] = state
			if state == "released" || state == "unblocked" {
				delete(v.states, seat)
			}
		}
	}
}

// String lists the seats that are not free with their states, in the order of their ids.
func (v *Viewer) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for _, seat := range slices.Sorted(maps.Keys(v.states)) {
		out = append(out, seat+" "+v.states[seat])
	}
	return strings.Join(out, ", ")
}

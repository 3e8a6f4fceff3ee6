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

// Through returns the house as the node of s serves it. It gives s the token of the house's organizer.
func (h *House) Through(s *Shop) *House {
	c := *h
	c.Shop = s
	c.Token = h.Token
	return &c
}

// Patient sends a request until the answer is not 503: passwords are hashed at low priority, and
// other tests keep the machine busy.
func (s *Shop) Patient(method, path string, body any, headers ...string) Answer {
	for deadline := time.Now().Add(30 * time.Second); ; {
		a := s.Call(method, path, body, headers...)
		if a.Status != 503 || time.Now().After(deadline) {
			return a
		}
	}
}

// Viewer is a viewer of a house's live seats.
type Viewer struct {
	mu     sync.Mutex
	states map[string]string
}

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
					v.take(event == "snapshot", lists)
				}
			}
		}
	}()
	return v
}

func (v *Viewer) take(whole bool, lists map[string][]string) {
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

func (v *Viewer) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for _, seat := range slices.Sorted(maps.Keys(v.states)) {
		out = append(out, seat+" "+v.states[seat])
	}
	return strings.Join(out, ", ")
}

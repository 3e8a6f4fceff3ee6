package rooms

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine/draw"
)

// work finds a proof of work for an entry.
func (s *roomShop) work(event string, party uint8, email string, want int) string {
	w := draw.Work{Event: event, Draw: 1, Minute: time.Now().Add(time.Duration(s.ahead.Load())).UnixMilli() / 60_000, Party: party, Email: email}
	for n := uint64(0); ; n++ {
		binary.BigEndian.PutUint64(w.Nonce[:], n)
		if w.Check(want, w.Minute*60_000) == nil {
			return w.Text()
		}
	}
}

// TestRoomAsksForWork takes a proof of work for each entry where the organizer wants it: one that is sent again, with
// whatever key, is the same entry.
func TestRoomAsksForWork(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	event, _ := s.OnSale(nodetest.TypeBody(10, 100))
	set := nodetest.Object{"enabled": true, "mode": "arrival", "partyMax": 2}
	require.Zero(t, s.Own("PUT", organizerQueue(event), set).Is(200, "").Data("work"), "off unless it is asked for")
	for _, wrong := range []any{-1, 23, "much", nil} {
		s.Own("PUT", organizerQueue(event), nodetest.With(set, nodetest.Object{"work": wrong})).Is(400, "VALIDATION_ERROR")
	}
	require.Equal(t, float64(12), s.Own("PUT", organizerQueue(event), nodetest.With(set, nodetest.Object{"work": 12})).Is(200, "").Data("work"))
	require.Equal(t, float64(12), s.Own("PUT", organizerQueue(event), set).Is(200, "").Data("work"), "what is left out stays")
	join := func(work string, party int, headers ...string) nodetest.Answer {
		return s.Call("POST", publicQueue(event), nodetest.Object{"party": party, "work": work}, headers...)
	}
	paid := s.work(event, 1, "", 12)
	joined := join(paid, 1).Is(201, "")
	again := join(paid, 1, "Idempotency-Key", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff").Is(201, "")
	require.Equal(t, joined.Str("token"), again.Str("token"))
	stranger := s.work("another", 1, "", 12)
	for name, wrong := range map[string]nodetest.Answer{
		"none": s.Call("POST", publicQueue(event), nodetest.Object{}), "no proof": join("work", 1), "another party": join(paid, 2), "another event": join(stranger, 1),
	} {
		require.Contains(t, fmt.Sprint(wrong.Is(400, "VALIDATION_ERROR").Get("error.details.issues")), "work", name)
	}
	s.wait(12 * time.Minute)
	join(paid, 1).Is(400, "VALIDATION_ERROR")
	join(s.work(event, 2, "", 12), 2).Is(201, "")
	require.Eventually(t, func() bool { return s.Call("GET", publicQueue(event), nil).Is(200, "").Data("count") == float64(2) }, time.Minute, 50*time.Millisecond)
}

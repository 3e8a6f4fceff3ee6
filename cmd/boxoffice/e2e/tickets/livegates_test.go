package tickets

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// watchGates opens a stream, and returns what reads its next snapshot.
func watchGates(s *nodetest.Shop, path string, header string) (status int, next func() nodetest.Object) {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), time.Minute)
	s.T.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
	require.NoError(s.T, err)
	if header != "" {
		req.Header.Set("Authorization", header)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.T, err)
	s.T.Cleanup(func() { _ = res.Body.Close() })
	lines := bufio.NewScanner(res.Body)
	return res.StatusCode, func() nodetest.Object {
		event := ""
		for lines.Scan() {
			if e, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = e
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && event == "snapshot" {
				var v nodetest.Object
				require.NoError(s.T, json.Unmarshal([]byte(text), &v))
				return v
			}
		}
		require.NoError(s.T, lines.Err(), "the stream ended")
		return nil
	}
}

// TestLiveGates watches scans, by a credential and by a token that opens once.
func TestLiveGates(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, order := s.FreeTickets(nil, 3)
	path := "/checkin/event/" + event + "/live"
	status, next := watchGates(s, path, s.Bearer()[1])
	require.Equal(t, 200, status)
	stats := s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")
	require.Equal(t, stats.Get("data"), any(next()), "a snapshot is what the stats are")
	s.Scan(event, order.Str("tickets.0.shortCode"), "d1")
	s.Scan(event, order.Str("tickets.0.shortCode"), "d2")
	for seen := next(); ; seen = next() {
		if seen["scanned"] == float64(2) {
			require.Equal(t, []any{float64(1), float64(1), float64(2)}, []any{seen["checkedIn"], seen["denied"], seen["remaining"]})
			break
		}
	}
	s.Own("POST", "/checkin/event/"+event+"/undo", nodetest.Object{"ticketCode": order.Str("tickets.0.code")}).Is(200, "")
	for seen := next(); seen["checkedIn"] != float64(0); seen = next() {
		require.NotNil(t, seen)
	}

	t.Log("by a token")
	token := func() string {
		a := s.Own("POST", path+"-token", nil).Is(201, "")
		require.Equal(t, nodetest.Words("token expiresAt"), a.Keys(""))
		return a.Str("token")
	}
	one := token()
	status, next = watchGates(s, path+"?token="+one, "")
	require.Equal(t, 200, status)
	require.Equal(t, event, next()["eventId"])
	for name, query := range map[string]string{"again": "?token=" + one, "made up": "?token=AAAAAAAAAAAAAAAAAAAAAAAAAA", "none": "", "empty": "?token="} {
		status, _ = watchGates(s, path+query, "")
		require.Equal(t, 401, status, name)
	}
	other, _ := s.FreeTickets(nil, 1)
	two := token()
	status, _ = watchGates(s, "/checkin/event/"+other+"/live?token="+two, "")
	require.Equal(t, 401, status, "a token is of one event")
	status, _ = watchGates(s, path+"?token="+two, "")
	require.Equal(t, 200, status, "trying it elsewhere does not use it up")
	s.Own("POST", "/checkin/event/0/live-token", nil).Is(404, "EVENT_NOT_FOUND")
}

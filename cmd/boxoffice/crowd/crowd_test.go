package crowd_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/crowd"
	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

func TestMain(m *testing.M) { nodetest.Main(m, 1) }

// TestOneRushAtATime starts a rush on a hall. Nobody starts another while it runs, no other site starts
// any, and a node that stops ends it.
func TestOneRushAtATime(t *testing.T) {
	t.Parallel()
	h := &nodetest.House{Shop: nodetest.Open(t, func(c *node.Config) { c.Crowd = true })}
	h.Seat(nodetest.SampleMap(t, "theatre"), nodetest.Object{}, nodetest.Object{"name": "Stalls"}, nodetest.Object{"name": "Circle"}, "circle")
	ask := func(method, path string, headers ...string) (status int, f crowd.Figures) {
		req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(h.URL, "/api/v1")+path, nil)
		require.NoError(t, err)
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { require.NoError(t, res.Body.Close()) }()
		if res.StatusCode == http.StatusOK {
			require.NoError(t, json.NewDecoder(res.Body).Decode(&struct{ Data *crowd.Figures }{&f}))
		}
		return res.StatusCode, f
	}
	start := "/dev/rush/" + h.Event
	status, f := ask(http.MethodGet, "/dev/rush")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, crowd.Figures{}, f, "nothing has begun")
	status, _ = ask(http.MethodPost, start, "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, status)
	for _, none := range []string{"/dev/rush/999999", "/dev/rush/x"} {
		status, _ = ask(http.MethodPost, none)
		require.Equal(t, http.StatusConflict, status, none)
	}
	status, f = ask(http.MethodPost, start, "Sec-Fetch-Site", "same-origin")
	require.Equal(t, http.StatusOK, status)
	require.True(t, f.Running)
	status, _ = ask(http.MethodPost, start)
	require.Equal(t, http.StatusConflict, status, "one runs")
	require.Eventually(t, func() bool { _, f = ask(http.MethodGet, "/dev/rush"); return f.Orders > 10 }, time.Minute, 100*time.Millisecond)
	require.GreaterOrEqual(t, f.Seats, f.Orders)
}

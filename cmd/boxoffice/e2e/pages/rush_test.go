package pages

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// TestRush holds two seats and lets the demo's crowd in: the hall empties before one's eyes, and the
// two seats stay. A node that is no demo has neither the button nor the route.
func TestRush(t *testing.T) {
	t.Parallel()
	h := &nodetest.House{Shop: nodetest.Open(t, func(c *node.Config) { c.Crowd, c.LimitsScale = true, 1 })}
	h.Seat(nodetest.SampleMap(t, "theatre"), nodetest.Object{"venueName": "Demo Hall"}, nodetest.Object{"name": "Stalls"}, nodetest.Object{"name": "Circle"}, "circle")
	as := size{width: 1280, height: 1200, scale: 1}
	b := &buyer{window: openBrowser(t).open(t, h.Page(), as), shop: h.Shop, name: "rush", axe: readAxe(t)}
	b.shows("stalls-C-105", free)
	b.pick("stalls-C-105")
	b.pick("stalls-C-106")
	mine := b.picked(2)
	b.step("before", "#rush button")
	b.choose("#rush button")
	b.window.until(`[...document.querySelectorAll("#rush dd")].length === 5 && sale.free.reduce((a, b) => a + b) < 200`)
	b.step("rush", "#rush dl")
	b.run(`new Promise((done) => { const look = setInterval(() => { if (document.querySelector("#rush button").disabled) return; clearInterval(look); done(); }, 100); })`)
	require.Equal(t, mine, b.picked(2), "what the watcher holds stays")
	require.Less(t, b.run(`sale.free.reduce((a, b) => a + b)`), 40.0, "the hall is as good as gone")
	b.step("over", "#rush dl")
	t.Log(b.text("#rush"))
	b.faultless()

	other := nodetest.Open(t)
	base := strings.TrimSuffix(other.URL, "/api/v1")
	for _, ask := range [][2]string{{http.MethodGet, "/dev/rush"}, {http.MethodPost, "/dev/rush/" + h.Event}} {
		req, err := http.NewRequestWithContext(t.Context(), ask[0], base+ask[1], nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusNotFound, res.StatusCode, fmt.Sprint(ask))
	}
	pages := *other
	pages.URL = base
	require.NotContains(t, pages.Raw("GET", "/e/any/seats", "", "").Body, "rush.js")
}

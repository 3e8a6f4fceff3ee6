package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
)

func sample() *report.Report {
	r := &report.Report{Title: "On-sale <rush>", Target: "http://127.0.0.1:1", Started: time.Unix(0, 0).UTC(), Config: struct{ Rate int }{7}}
	cfg := openloop.Config{SLO: 100 * time.Millisecond}
	seconds := []openloop.Second{
		{At: 0, Offered: 100, Done: 90, P50: 1, P99: 4, Max: 9, ServiceP99: 3, LagP99: 0.5},
		{At: 1, Offered: 100, Done: 110, Failed: 3, P50: 2, P99: 250, Max: 300, ServiceP99: 5},
	}
	r.Measure(&openloop.Stats{
		Window: 2 * time.Second, Offered: 200, Achieved: 150, Unsent: 7, Seconds: seconds,
		Ops:    []openloop.OpStats{{Op: "POST order", Count: 200, Failed: 3, Corrected: openloop.Percentiles{P99: 250.125}}},
		All:    openloop.OpStats{Op: "all", Count: 200},
		Errors: map[openloop.ErrorKey]int64{{Op: "POST order", Status: 409, Code: "TICKET_SOLD_OUT"}: 5},
	}, cfg)
	r.MeasureCPU(rig.Usage{
		Names: []string{"server"}, Total: []time.Duration{400 * time.Millisecond},
		Seconds: []rig.Second{{CPU: []float64{0.1}}, {CPU: []float64{0.3}}}, Steal: 0.02,
	}, 100)
	r.Outages = []report.Outage{{What: "node", At: time.Second, Ready: 800 * time.Millisecond, WritesAgain: time.Second}}
	r.Shards = []report.ShardOutage{
		{What: "stall", Shard: 1, Timed: 3, Away: 4 * time.Second, First: 348 * time.Millisecond, Back: 438 * time.Millisecond, Lost: report.Half{Orders: 176, Errors: 164}},
		{What: "kill", Node: "node-3", Away: time.Second, Back: 99 * time.Millisecond, Others: report.Half{During: 1304567 * time.Microsecond}},
	}
	r.Audit.Checks = []report.Check{
		{Name: "stock", Checked: 10, Failed: 3, Findings: []string{"<b>oversold</b>"}}, {Name: "money", Note: "kept 1.00"},
	}
	return r
}

func TestText(t *testing.T) {
	t.Parallel()
	r := sample()
	text := r.Text()
	for _, want := range []string{
		"offered 200 (100/s), achieved 150 (75/s) in 2 s; unsent 7",
		"INVALID: achieved 150 of 200", "250.12", "TICKET_SOLD_OUT", "FOUND stock: <b>oversold</b>", "FOUND stock: 2 more",
		"4000", // microseconds of CPU per order
		"2000", // and per request
		"2.0 %", "800ms",
		"stall: shard 1", "348ms", "438ms", "176", "164", "1304.6", "kill: shard 0",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "99ms", "none of its events was timed")
	require.EqualValues(t, 3, r.Audit.Failed())
}

func TestPageStandsAlone(t *testing.T) {
	t.Parallel()
	page, err := sample().HTML()
	require.NoError(t, err)
	html := string(page)
	require.NotContains(t, html, "NaN")
	require.NotContains(t, html, "<b>oversold")
	require.Contains(t, html, "On-sale &lt;rush&gt;")
	require.NotRegexp(t, `(src|href)=|https?://[^1]|@import`, html, "nothing is loaded from elsewhere")

	charts := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(html, -1)
	require.Len(t, charts, 4)
	for _, c := range charts {
		d := xml.NewDecoder(strings.NewReader(c))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
	}
	require.Equal(t, 3, strings.Count(charts[0], "<polyline"))
	require.Contains(t, charts[0], "node killed")
}

func TestEmptyRun(t *testing.T) {
	t.Parallel()
	r := &report.Report{}
	r.Measure(&openloop.Stats{}, openloop.Config{})
	page, err := r.Save(t.TempDir())
	require.NoError(t, err)
	content, err := os.ReadFile(page)
	require.NoError(t, err)
	require.NotContains(t, string(content), "NaN")
	require.Contains(t, string(content), "The audit found nothing")
}

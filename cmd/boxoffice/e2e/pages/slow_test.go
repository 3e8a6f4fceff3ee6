package pages

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// slowLine is a line as Chromium's own tools emulate it.
type slowLine struct {
	name     string
	latency  float64 // ms that a request takes at least
	down, up float64 // bytes a second
}

// slowLines are Slow 3G and Fast 3G by the figures of Chromium's developer tools.
var slowLines = []slowLine{
	{name: "Slow 3G", latency: 2000, down: 50_000, up: 50_000},
	{name: "Fast 3G", latency: 562.5, down: 180_000, up: 84_375},
}

// TestSlowLine opens an event on a slow line: it can be read after two requests and used
// after few bytes. The times are printed and not held, since the machine has its own pace
// (make pages).
func TestSlowLine(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, _ := s.OnSale(nodetest.With(nodetest.TypeBody(25, 10), nodetest.Object{"name": "Floor"}))
	base := strings.TrimSuffix(s.URL, "/api/v1")
	page := base + "/e/" + s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
	chromium := openBrowser(t)
	for _, line := range slowLines {
		w := chromium.open(t, base+"/", size{width: 390, height: 844, scale: 2, touch: true})
		w.do("Network.setCacheDisabled", params{"cacheDisabled": true})
		w.do("Network.emulateNetworkConditions", params{"offline": false, "latency": line.latency, "downloadThroughput": line.down, "uploadThroughput": line.up})
		w.do("Page.addScriptToEvaluateOnNewDocument", params{"source": `
			new MutationObserver((_, o) => { if (document.querySelector(".step button")) { window.usable ||= performance.now(); o.disconnect(); } }).observe(document, {childList: true, subtree: true});`})
		w.do("Page.navigate", params{"url": page})
		b := &buyer{window: w}
		b.until(`window.usable && document.readyState === "complete" && performance.getEntriesByName("first-contentful-paint").length`)
		var seen struct {
			Read, Usable, Before, All float64
			Blocking, Requests        int
		}
		require.NoError(t, json.Unmarshal([]byte(fmt.Sprint(w.evaluate(`(() => {
			const [page] = performance.getEntriesByType("navigation"), all = performance.getEntriesByType("resource");
			const blocking = all.filter((r) => r.renderBlockingStatus === "blocking" && r.initiatorType === "link");
			const used = all.filter((r) => r.initiatorType !== "img" && !/covers|favicon/.test(r.name));
			const sum = (list) => list.reduce((n, r) => n + r.transferSize, page.transferSize);
			return JSON.stringify({
				read: performance.getEntriesByName("first-contentful-paint")[0].startTime, usable: window.usable,
				blocking: 1 + blocking.length, requests: 1 + used.length, before: sum(blocking), all: sum(used),
			});
		})()`))), &seen))
		require.Equal(t, 2, seen.Blocking, "%s: the page and its style", line.name)
		require.LessOrEqual(t, seen.Requests, 6, line.name)
		require.Less(t, seen.Before, 12*1024.0, line.name)
		require.Less(t, seen.All, 48*1024.0, line.name)
		t.Logf("%s: to be read after %d requests, %.1f KB, %.1f s; to be used after %d requests, %.1f KB (goals: 6, 30), %.1f s", line.name,
			seen.Blocking, seen.Before/1024, seen.Read/1000, seen.Requests, seen.All/1024, seen.Usable/1000)
		w.faultless()
	}
}

package pages

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowPhone is how many times slower a phone's processor is than this machine's, as Chromium's own
// tools emulate one.
const slowPhone = 4

// watchMap measures a page's first drawing of a seat map: when the answer with the drawing was
// there, when the map was on the canvas, and how long the live stream's first event is.
const watchMap = `
	const Stream = window.EventSource;
	window.EventSource = class extends Stream {
		constructor(...of) {
			super(...of);
			this.addEventListener("snapshot", (e) => { window.snapshotBytes ||= e.data.length; });
		}
	};
	const look = async () => {
		const at = document.querySelector("script[type=module]")?.src;
		if (document.readyState === "complete" && at) {
			const {map} = await import(at);
			if (map?.drawn) { window.drawnAt = performance.now(); return; }
		}
		requestAnimationFrame(look);
	};
	requestAnimationFrame(look);`

// TestArenaOnAPhone opens the 20,000 seats of an arena on a phone that has seen nothing of them
// before. What comes over the line is held; the time is printed and not held, since the machine
// has its own pace.
func TestArenaOnAPhone(t *testing.T) {
	t.Parallel()
	h := seatedBy(t, "arena", "3")
	w := openBrowser(t).open(t, h.Page(), size{width: 390, height: 844, scale: 2, touch: true})
	w.do("Network.setCacheDisabled", params{"cacheDisabled": true})
	w.do("Emulation.setCPUThrottlingRate", params{"rate": slowPhone})
	w.do("Page.addScriptToEvaluateOnNewDocument", params{"source": watchMap})
	w.do("Page.navigate", params{"url": h.Page()})
	b := &buyer{window: w}
	b.until(`window.drawnAt && window.snapshotBytes`)
	var seen struct {
		Bytes, Arrived, Drawn float64
		Requests              int
	}
	require.NoError(t, json.Unmarshal([]byte(fmt.Sprint(w.evaluate(`(() => {
		const [page] = performance.getEntriesByType("navigation"), all = performance.getEntriesByType("resource");
		return JSON.stringify({
			bytes: all.reduce((n, r) => n + r.transferSize, page.transferSize + window.snapshotBytes), requests: 2 + all.length,
			arrived: Math.max(...all.filter((r) => /seatmap|drawing/.test(r.name)).map((r) => r.responseEnd)), drawn: window.drawnAt,
		});
	})()`))), &seen))
	t.Logf("an arena's map on a phone: %.1f KB (goal: 120) in %d requests; drawn %.0f ms after it arrived (goal: 100), at a processor %d times slower",
		seen.Bytes/1024, seen.Requests, seen.Drawn-seen.Arrived, slowPhone)
	require.Greater(t, seen.Arrived, 0.0)
	require.Less(t, seen.Bytes, 120*1024.0)
	w.faultless()
}

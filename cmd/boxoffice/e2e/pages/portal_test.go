package pages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestPortal looks after an organization's programs at the developers' pages (make pages).
func TestPortal(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{"desktop": laptop, "phone": {width: 320, height: 844, scale: 2, touch: true, dark: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			base := strings.TrimSuffix(s.URL, "/api/v1")
			d := &developer{organizer{began: time.Now(), width: as.width, buyer: buyer{window: chromium.open(t, base+"/portal", as), shop: s, name: "portal-" + name, axe: axe}}}
			s.Org() // its owner has an account from here on
			d.fill("#email", "owner@example.org")
			d.fill("#password", "correct horse")
			d.press("Enter")
			program := d.makeKey()
			d.readLog(program)
			d.readMetrics()
			d.readLimits()
			d.changeKey(program)
			d.endKey(program)
			d.replay()
			d.readFacts()
			d.connectAgent()
			d.there(`nav a[href="/docs"]`)
			d.faultless()
		})
	}
}

// developer is somebody with a window whose programs use the API.
type developer struct{ organizer }

// makeKey makes a key, and returns the shop for the program that has it.
func (d *developer) makeKey() *nodetest.Shop {
	d.t.Helper()
	d.fill("#key-name", "Till")
	d.choose("#make-key")
	d.step("key", "#secret code")
	return d.shop.As(d.text("#secret code"))
}

// readLog finds the one request that was refused, among those that the program sent.
func (d *developer) readLog(program *nodetest.Shop) {
	d.t.Helper()
	d.load(d.origin + "portal/log")
	d.step("no-requests", ".none")
	program.Own("GET", "/organizer/events", nil).Is(200, "")
	program.Own("GET", "/organizer/events?limit=1", nil).Is(200, "")
	refused := program.Raw("PUT", "/organizer/events/no-such", "application/json", `{"title":"Jazz","onlineLink":"https://example.org/room"}`, program.Bearer()...).Is(d.t, 404)
	log := "/organizer/integrations/org/" + d.shop.Org() + "/requests"
	d.shop.Becomes("3", func() string {
		return fmt.Sprint(len(d.shop.Own("GET", log, nil).Is(200, "").Data("items").([]any)))
	})
	d.choose("#look")
	d.until(`document.querySelectorAll(".rows tbody tr").length === 3`)
	d.step("requests", ".rows .state.warn")
	d.set("#status", "4xx")
	d.until(`document.querySelectorAll(".rows tbody tr").length === 1 && location.search === "?status=4xx"`)
	d.load(d.origin + "portal/log?status=4xx") // what is chosen is in the address
	d.choose(".rows .link")
	d.step("request", "#failed")
	require.Equal(d.t, refused.Header.Get("X-Request-Id"), d.text(".panel code"))
	require.Contains(d.t, d.text("#failed dl"), "application/json")
	require.JSONEq(d.t, `{"title":"Jazz","onlineLink":"[withheld]"}`, d.text("#sent"))
	require.Contains(d.t, d.text("#answered"), "EVENT_NOT_FOUND")
	require.NotContains(d.t, d.text("#failed"), program.Token)
	d.choose("#close")
	d.fill("#route", "/api/v1/nowhere")
	d.press("Enter")
	d.step("nothing-fits", ".none")
}

// readMetrics counts by route, and comes from a route to its requests.
func (d *developer) readMetrics() {
	d.t.Helper()
	d.choose(`nav a[href="/portal/metrics"]`)
	d.until(`document.querySelector("#requests")?.innerText === "3"`)
	d.set("#interval", "hour")
	d.until(`location.search === "?interval=hour"`)
	d.step("metrics", ".rows tbody tr")
	d.choose(".rows a")
	d.until(`document.querySelectorAll(".rows tbody tr").length === 2 && document.querySelector("#route").value === "/api/v1/organizer/events"`)
}

// readLimits sees what the program has left.
func (d *developer) readLimits() {
	d.t.Helper()
	d.choose(`nav a[href="/portal/limits"]`)
	d.step("limits", "#quotas dd")
	require.Contains(d.t, d.text("#rates"), "Till")
	d.choose("#look")
	d.until(`document.querySelectorAll("#rates tbody tr").length === 6 && document.querySelectorAll("#quotas dd").length === 2`)
}

// changeKey pauses a key, sets it going again, and bounds what it may do and from where.
func (d *developer) changeKey(program *nodetest.Shop) {
	d.t.Helper()
	d.choose(`nav a[href="/portal/keys"]`)
	d.choose("main li .pause")
	d.there("main li .state:not(.good)")
	program.Own("GET", "/organizer/events", nil).Is(401, "UNAUTHORIZED")
	d.choose("main li .pause")
	d.there("main li .state.good")
	program.Own("GET", "/organizer/events", nil).Is(200, "")
	d.choose("main li .change")
	d.choose(".panel input[value=some]")
	d.choose(".panel input[value='events:read']")
	d.fill(".panel textarea", "nowhere")
	d.choose("#save-key")
	d.step("no-address", ".panel textarea[aria-invalid]")
	d.forget() // the refusal is in the browser's log
	d.fill(".panel textarea", "127.0.0.0/8\n::1")
	d.step("change-key", "#save-key")
	d.choose("#save-key")
	d.until(`!document.querySelector(".panel") && document.querySelector("main li").innerText.includes("events:read · 127.0.0.0/8, ::1")`)
	program.Own("GET", "/organizer/events", nil).Is(200, "")
	program.Own("GET", "/organizer/orders", nil).Is(403, "FORBIDDEN")
}

// endKey replaces the key's secret, and then revokes it.
func (d *developer) endKey(program *nodetest.Shop) {
	d.t.Helper()
	d.choose(`nav a[href="/portal/keys"]`)
	d.choose("main li .rotate")
	d.choose("#sure-yes")
	d.there("#secret code")
	again := d.shop.As(d.text("#secret code"))
	program.Own("GET", "/organizer/events", nil).Is(401, "UNAUTHORIZED")
	again.Own("GET", "/organizer/events", nil).Is(200, "")
	d.choose("main li .button:last-child")
	d.choose("#sure-yes")
	d.there("main li .state.bad")
	again.Own("GET", "/organizer/events", nil).Is(401, "UNAUTHORIZED")
	d.step("revoked", "main li .state.bad")
}

// connectAgent makes a key for an agent, which is in what each of its clients is told from then on.
func (d *developer) connectAgent() {
	d.t.Helper()
	d.choose(`nav a[href="/portal/agent"]`)
	d.there("#agent-codex")
	require.Equal(d.t, d.origin+"mcp", d.text("#address"))
	require.Contains(d.t, d.text("#agent-codex"), "vt_live_...")
	d.step("no-agent", "#make-key")
	d.fill("#key-name", "Agent")
	d.choose("#make-key")
	d.there("#secret code")
	key := d.text("#secret code")
	address, bearer := d.origin+"mcp", "Bearer "+key
	require.Equal(d.t, `claude mcp add --transport http boxoffice `+address+` --header "Authorization: `+bearer+`"`, d.text("#agent-claude-code"))
	headers := nodetest.Object{"Authorization": bearer}
	for client, want := range map[string]nodetest.Object{
		"claude-desktop": {"mcpServers": nodetest.Object{"boxoffice": nodetest.Object{
			"command": "npx", "args": []string{"-y", "mcp-remote", address, "--header", "Authorization:${BOXOFFICE_KEY}"}, "env": nodetest.Object{"BOXOFFICE_KEY": bearer},
		}}},
		"cursor": {"mcpServers": nodetest.Object{"boxoffice": nodetest.Object{"url": address, "headers": headers}}},
		"vscode": {"servers": nodetest.Object{"boxoffice": nodetest.Object{"type": "http", "url": address, "headers": headers}}},
	} {
		require.JSONEq(d.t, nodetest.Encode(d.t, want), d.text("#agent-"+client), client)
	}
	var codex struct {
		Servers map[string]struct {
			URL     string            `toml:"url"`
			Headers map[string]string `toml:"http_headers"`
		} `toml:"mcp_servers"`
	}
	require.NoError(d.t, toml.Unmarshal([]byte(d.text("#agent-codex")), &codex))
	require.Equal(d.t, address, codex.Servers["boxoffice"].URL)
	require.Equal(d.t, map[string]string{"Authorization": bearer}, codex.Servers["boxoffice"].Headers)
	d.step("agent", "#agent-codex")
	require.NotEmpty(d.t, d.shop.As(key).Tools())
}

// readFacts reads what has happened, of one type and then of all, and sees what happens next appear by itself.
func (d *developer) readFacts() {
	d.t.Helper()
	event, types := d.shop.OnSale(nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"type": "free"}))
	d.shop.Place("ada@example.org", types[0], 1)
	d.choose(`nav a[href="/portal/facts"]`)
	d.there(".rows tbody tr")
	d.set("#type", "order.completed")
	d.until(`location.search === "?type=order.completed" && document.querySelectorAll(".rows tbody tr").length === 1 && !!document.querySelector("#waits")`)
	d.step("facts", "#waits")
	id, _ := d.shop.Place("bob@example.org", types[0], 1)
	d.until(`document.querySelectorAll(".rows tbody tr").length === 2`)
	d.choose(".rows tr:last-child .link")
	d.step("fact", ".panel .payload")
	require.Contains(d.t, d.text(".panel .payload"), id)
	require.Contains(d.t, d.text(".panel .payload"), event)
	d.choose("#close")
	d.set("#from", "now")
	d.there(".none")
}

// replay has a delivery that arrived sent again.
func (d *developer) replay() {
	d.t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("Got it, thanks.")) }))
	d.t.Cleanup(receiver.Close)
	hook := d.shop.Own("POST", nodetest.WebhooksPath, nodetest.Object{"url": receiver.URL, "events": []string{"event.completed"}}).Is(201, "").Str("id")
	d.shop.Own("POST", nodetest.WebhooksPath+"/"+hook+"/test", nil).Is(202, "")
	d.choose(`nav a[href="/portal/webhooks"]`)
	d.choose(".deliveries")
	d.there(".panel .link")
	for range 100 { // the list shows what it knows; a look again shows more
		if d.evaluate(`!!document.querySelector(".panel li .again")`) == true {
			break
		}
		d.choose(".panel .link")
	}
	d.step("deliveries", ".panel li .again")
	d.choose(".panel li .look")
	d.there(".panel .tries")
	require.Contains(d.t, d.text(".panel .tries"), "Got it, thanks.")
	require.Contains(d.t, d.text(".panel .payload"), `"type": "webhook.test"`)
	d.step("sent", ".panel .payload")
	d.choose(".panel li .again")
	d.until(`document.querySelectorAll(".panel li").length === 2`)
	d.choose("#close")
}

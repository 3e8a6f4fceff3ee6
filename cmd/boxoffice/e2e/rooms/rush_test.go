package rooms

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/api"
)

// visitor is a browser as far as its cache goes: it keeps what it may keep, asks again
// with the tag for what it may not use unasked, and counts what comes over the wire.
type visitor struct {
	t    *testing.T
	kept map[string]answer
	wire int // bytes of answers, with their headers

	seats api.PackedSeats // as the last visit found them
}

type answer struct {
	tag, control string
	body         []byte
}

func (v *visitor) get(url string) []byte {
	v.t.Helper()
	old, have := v.kept[url]
	if have && strings.Contains(old.control, "immutable") {
		return old.body
	}
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, url, nil)
	require.NoError(v.t, err)
	req.Header.Set("Accept-Encoding", "gzip")
	if have {
		req.Header.Set("If-None-Match", old.tag)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(v.t, err)
	defer func() { require.NoError(v.t, res.Body.Close()) }()
	head, err := httputil.DumpResponse(res, false)
	require.NoError(v.t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(v.t, err)
	v.wire += len(head) + len(body)
	if res.StatusCode == http.StatusNotModified {
		return old.body
	}
	require.Equal(v.t, http.StatusOK, res.StatusCode, "%s: %s", url, body)
	if res.Header.Get("Content-Encoding") == "gzip" {
		r, err := gzip.NewReader(bytes.NewReader(body))
		require.NoError(v.t, err)
		body, err = io.ReadAll(r)
		require.NoError(v.t, err)
	}
	v.kept[url] = answer{res.Header.Get("ETag"), res.Header.Get("Cache-Control"), body}
	return body
}

// data reads what stands under data in the answer of an address.
func (v *visitor) data(url string, into any) {
	v.t.Helper()
	require.NoError(v.t, json.Unmarshal(v.get(url), &struct {
		Data any `json:"data"`
	}{into}))
}

var (
	linked   = regexp.MustCompile(`"(/web/[^"]+)"`)
	imported = regexp.MustCompile(`from '\./([^']+)'`)
	snapshot = regexp.MustCompile(`event: snapshot\ndata: (.+)\n\n`)
)

// visit loads an event's page of seats as a browser does, up to the first snapshot of its
// seats, and returns how many there are to draw.
func (v *visitor) visit(h *nodetest.House) int {
	v.t.Helper()
	v.wire = 0
	page := h.Page()
	base := strings.TrimSuffix(h.URL, "/api/v1")
	load := []string{}
	for _, m := range linked.FindAllSubmatch(v.get(page), -1) {
		load = append(load, base+string(m[1]))
	}
	for seen := map[string]bool{}; len(load) > 0; {
		url := load[0]
		load = load[1:]
		if seen[url] {
			continue
		}
		seen[url] = true
		for _, m := range imported.FindAllSubmatch(v.get(url), -1) {
			load = append(load, url[:strings.LastIndex(url, "/")+1]+string(m[1]))
		}
	}
	slug := strings.Split(page, "/e/")[1]
	var event struct{ ID string }
	v.data(h.URL+"/events/"+strings.TrimSuffix(slug, "/seats"), &event)
	var seats struct{ DrawingURL string }
	v.data(h.URL+"/public/events/"+event.ID+"/seatmap?live=true", &seats)
	var drawing struct{ Rows []struct{ IDs []string } }
	v.data(base+seats.DrawingURL, &drawing)
	drawn := 0
	for _, r := range drawing.Rows {
		drawn += len(r.IDs)
	}
	ctx, cancel := context.WithCancel(v.t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL+"/public/events/"+event.ID+"/seats/live?packed=true", nil)
	require.NoError(v.t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(v.t, err)
	defer func() { _ = res.Body.Close() }() // cut off
	var stream bytes.Buffer
	for b := make([]byte, 4096); snapshot.Find(stream.Bytes()) == nil; {
		n, err := res.Body.Read(b)
		require.NoError(v.t, err)
		stream.Write(b[:n])
	}
	v.wire += stream.Len()
	require.NoError(v.t, json.Unmarshal(snapshot.FindSubmatch(stream.Bytes())[1], &v.seats))
	return drawn
}

// states are the drawing's seats that the last visit found in a state, in order.
func (v *visitor) states(h *nodetest.House, state byte) (ids []string) {
	v.t.Helper()
	var drawing struct{ Rows []struct{ IDs []string } }
	v.data(fmt.Sprintf("%s/public/venue-maps/%s/%d/drawing", h.URL, v.seats.VenueMapID, v.seats.Version), &drawing)
	n := 0
	for _, r := range drawing.Rows {
		for _, id := range r.IDs {
			if v.seats.States[n/4]>>(n%4*2)&3 == state {
				ids = append(ids, id)
			}
			n++
		}
	}
	return ids
}

// blockEveryOther withholds every other seat of the house, and returns them in the order
// of the drawing.
func blockEveryOther(h *nodetest.House) (ids []string) {
	h.T.Helper()
	for i, seat := range h.Call("GET", h.Path+"seatmap", nil).Is(200, "").Data("seats").([]any) {
		if i%2 == 1 {
			ids = append(ids, seat.(map[string]any)["id"].(string))
		}
	}
	for some := range slices.Chunk(ids, 5_000) {
		h.Own("POST", h.Organize+"seating/blocks", nodetest.Object{"block": some}).Is(200, "")
	}
	h.Becomes(fmt.Sprint(len(ids)), func() string { return fmt.Sprint(len(h.Seats("blocked"))) })
	return ids
}

// TestArenaOnTheWire holds what the page of a hall of 20,000 seats takes from the network:
// the first visit at most 200 KB, the second at most 20 KB, with every other seat gone.
func TestArenaOnTheWire(t *testing.T) {
	t.Parallel()
	h := &nodetest.House{Shop: nodetest.Open(t)}
	h.Seat(nodetest.SampleMap(t, "arena"), nil, nodetest.Object{"name": "Floor"}, nodetest.Object{"name": "Tiers"}, "3")
	withheld := blockEveryOther(h)
	v := &visitor{t: t, kept: map[string]answer{}}
	require.Equal(t, 20_000, v.visit(h))
	require.LessOrEqual(t, v.wire, 200<<10)
	t.Logf("first visit: %d bytes", v.wire)
	require.Equal(t, 20_000, v.visit(h))
	require.LessOrEqual(t, v.wire, 20<<10)
	t.Logf("second visit: %d bytes", v.wire)
	require.Equal(t, withheld, v.states(h, 3))
	require.Len(t, v.states(h, 0), 20_000-len(withheld))

	t.Log("the whole map is what it was, and says the same as its drawing")
	var whole struct {
		Seats    []struct{ ID, Kind string }
		Elements []any
		Sections []struct{ Price *string }
	}
	v.data(h.URL+"/public/events/"+h.Event+"/seatmap", &whole)
	require.Len(t, whole.Seats, 20_000)
	require.NotEmpty(t, whole.Elements)
	price := func() string {
		v.data(h.URL+"/public/events/"+h.Event+"/seatmap", &whole)
		return *whole.Sections[0].Price
	}
	require.Equal(t, "50.00", price())
	h.Own("PUT", h.Organize+"tickets/"+h.Stalls, nodetest.Object{"price": 55}).Is(200, "")
	require.Equal(t, "55.00", price(), "an organizer's change shows at once")
}

func TestPublicReadsMayBeKept(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, _ := s.Sell(nodetest.Object{"title": "kept", "description": nodetest.Text(3000)}, nodetest.TypeBody(5, 10))
	path := "/events/" + event
	const public, vary = "public, max-age=1, stale-while-revalidate=5", "Accept-Encoding, Authorization"
	plain := s.Raw("GET", path, "", "", "Accept-Encoding", "identity")
	require.Equal(t, public, plain.Header.Get("Cache-Control"))
	require.Equal(t, vary, plain.Header.Get("Vary"))
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	best := s.Raw("GET", path, "", "", "Accept-Encoding", "gzip, br")
	require.Equal(t, "br", best.Header.Get("Content-Encoding"))
	packed := s.Raw("GET", path, "", "", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	require.Equal(t, vary, packed.Header.Get("Vary"))
	require.NotEqual(t, plain.Header.Get("ETag"), packed.Header.Get("ETag"), "other bytes, another tag")
	require.Less(t, len(packed.Body), len(plain.Body)/3)
	r, err := gzip.NewReader(strings.NewReader(packed.Body))
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, plain.Body, string(text))
	for _, of := range []struct{ coding, tag string }{{"identity", plain.Header.Get("ETag")}, {"gzip", packed.Header.Get("ETag")}, {"gzip, br", best.Header.Get("ETag")}} {
		same := s.Raw("GET", path, "", "", "Accept-Encoding", of.coding, "If-None-Match", of.tag)
		require.Equal(t, 304, same.Status)
		require.Empty(t, same.Body)
		require.Empty(t, same.Header.Get("Content-Encoding"))
		require.Equal(t, public, same.Header.Get("Cache-Control"))
	}
	require.Empty(t, s.Raw("GET", "/webhooks/catalog", "", "", "Accept-Encoding", "identity").Header.Get("Content-Encoding"))
	few := s.Raw("GET", "/events?q=nothing", "", "", "Accept-Encoding", "gzip")
	require.Empty(t, few.Header.Get("Content-Encoding"), "not worth it")

	t.Log("what belongs to somebody is not kept, nor is a refusal")
	for _, path := range []string{path, "/organizer/events", "/users/me"} {
		r := s.Raw("GET", path, "", "", append(s.Bearer(), "Accept-Encoding", "gzip")...)
		require.Equal(t, "no-store", r.Header.Get("Cache-Control"), path)
		require.Empty(t, r.Header.Get("Content-Encoding"), path)
	}
	require.Equal(t, "no-store", s.Raw("GET", "/events/nothing", "", "").Header.Get("Cache-Control"))
	require.Equal(t, "no-store", s.Raw("GET", "/events", "", "", "Authorization", "Bearer x").Header.Get("Cache-Control"))
	for _, path := range []string{"x/1", "7c1f3a52-93f2-4f6e-8f0a-2f7f7f0b1a11/1", "7c1f3a52-93f2-4f6e-8f0a-2f7f7f0b1a11/0", "7c1f3a52-93f2-4f6e-8f0a-2f7f7f0b1a11/99999999999"} {
		s.Call("GET", "/public/venue-maps/"+path+"/drawing", nil).Is(404, "NOT_FOUND")
	}
	off := nodetest.Open(t, func(c *node.Config) { c.PublicCache = false })
	require.Equal(t, "no-store", off.Raw("GET", "/events", "", "").Header.Get("Cache-Control"))
}

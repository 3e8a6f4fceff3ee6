package security

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// target is an operation that writes, with a request that it takes.
type target struct {
	op      route.Op
	path    string // without /api/v1
	params  map[string]string
	body    nodetest.Object // nil: it reads none
	headers []string
}

// at is the path with another value of one parameter.
func (tg *target) at(param, value string) string {
	path := strings.TrimPrefix(tg.op.Path, "/api/v1")
	for name, id := range tg.params {
		if name == param {
			id = value
		}
		path = strings.ReplaceAll(path, "{"+name+"}", id)
	}
	return path
}

// targets are all operations of the route table that write, by JSON.
func targets(w *world) []target {
	w.T.Helper()
	var all []target
	for _, op := range w.Areas().Routes() {
		if !op.Writes() || op.Handler.TakesFile() {
			continue
		}
		r := w.request(&op)
		tg := target{op: op, params: r.params, headers: r.headers, body: r.body}
		tg.path = tg.at("", "")
		switch {
		case r.token != "" && r.body == nil:
			tg.path += "?token=" + r.token
		case r.token != "":
			tg.body = nodetest.With(r.body, nodetest.Object{"token": r.token})
		}
		if by := w.entitled(&op, r)[0].auth; by != "" {
			tg.headers = append(tg.headers, "Authorization", by)
		}
		all = append(all, tg)
	}
	return all
}

// memberNames are the names of a request's JSON members.
func memberNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name != "":
			names = append(names, name)
		case f.Anonymous:
			names = append(names, memberNames(f.Type)...)
		}
	}
	return names
}

// sane fails the test for an answer of an operation that no client should get.
func sane(t testing.TB, op *route.Op, r nodetest.Reply, what string) {
	t.Helper()
	var body struct {
		Data  any
		Error *struct{ Code, Message string }
		Meta  struct {
			RequestID string `json:"request_id"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(r.Body), &body), "%s: %q", what, r.Body)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"), what)
	if r.Status < 300 {
		require.Nil(t, body.Error, what)
		require.NotNil(t, body.Data, what)
		return
	}
	require.NotNil(t, body.Error, "%s: %s", what, r.Body)
	require.NotEmpty(t, body.Error.Code)
	require.NotEmpty(t, body.Error.Message)
	require.Equal(t, r.Header.Get("X-Request-Id"), body.Meta.RequestID)
	require.Contains(t, append(op.AllErrors(), engine.Validation, engine.PayloadTooLarge), engine.Code(body.Error.Code), "%s: a program reads in our document what it may be refused for", what)
	if body.Error.Code != "PROVIDER_NOT_CONFIGURED" { // what an unlucky mutation asks for
		require.Less(t, r.Status, 500, "%s: %s", what, r.Body)
	}
}

// TestHostileBodies sends every operation that reads a body what is not one.
func TestHostileBodies(t *testing.T) {
	t.Parallel()
	s := openWorld(t)
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, tg := range targets(s) {
		send := func(body, contentType string, headers ...string) nodetest.Reply {
			r := s.Raw(tg.op.Method, tg.path, contentType, body, append(slices.Clone(tg.headers), headers...)...)
			sane(t, &tg.op, r, tg.op.ID+" "+body[:min(len(body), 80)])
			return r
		}
		require.Equal(t, 413, send(strings.Repeat(" ", tg.op.BodyLimit()+1), "application/json").Status, tg.op.ID)
		require.Equal(t, 413, send(strings.Repeat("[", max(3<<20, tg.op.BodyLimit()+1)), "application/json").Status, tg.op.ID)
		if tg.body == nil {
			continue
		}
		valid := nodetest.Encode(t, tg.body)
		bad := map[string]string{
			"no JSON": "nope", "cut": valid[:len(valid)-1], "two values": valid + valid, "comma": valid[:len(valid)-1] + ",}", "single quotes": `{'a':1}`, "comment": "/**/" + valid, "blank": "  ",
			"array": "[" + valid + "]", "text": `"x"`, "null": "null", "number": "7", "true": "true", "NaN": `{"x":NaN}`, "leading zero": `{"x":01}`, "BOM": "\ufeff" + valid,
			"UTF-8": `{"x":"` + "\xff" + `"}`, "UTF-8 name": `{"` + "\xc3\x28" + `":1}`, "surrogate": `{"x":"\ud800"}`, "control": "{\"x\":\"\x01\"}", "NUL": valid + "\x00",
			"twice": `{"x":1,"x":2}`, "twice escaped": `{"x":1,"\u0078":2}`, "twice inside": `{"x":{"y":1,"y":2}}`, "deep": `{"x":` + deep + `}`, "deepest": strings.Repeat("[", 100_000), "deep names": strings.Repeat(`{"a":`, 20_000),
		}
		for _, name := range memberNames(tg.op.Handler.In) {
			for i, v := range []string{`[[]]`, `"\u0000"`, `{"a":[1]}`, `1e999`, `99999999999999999999999`, `-1e308`} {
				if i == 2 && slices.Contains([]string{"branding", "seoData", "velocity", "pageTheme", "mapCoordinates", "buyer"}, name) {
					continue // they take it
				}
				if i == 1 && slices.Contains([]string{"password", "qrData", "ticketCode", "shortCode"}, name) {
					continue // whatever is typed or scanned is compared with what is known, and has a verdict
				}
				raw := maps.Clone(tg.body)
				raw[name] = json.RawMessage(v)
				bad[fmt.Sprintf("%s %d", name, i)] = strings.ReplaceAll(encodeRaw(t, raw), "\n", "")
			}
		}
		for name, body := range bad {
			r := send(body, "application/json")
			if tg.op.Handler.Raw != "" {
				want := 401 // it is signed, and this is not what was signed
				if tg.op.ID == "receiveFlutterwaveNotice" {
					want = 200 // proven by a secret alone: kept, and it issues nothing
				}
				require.Equal(t, want, r.Status, "%s, %s: %s", tg.op.ID, name, r.Body)
				continue
			}
			require.Equal(t, 400, r.Status, "%s, %s: %s %s", tg.op.ID, name, body[:min(len(body), 200)], r.Body)
			if strings.Contains(r.Body, `"INVALID_ANSWERS"`) { // the code of the one operation that reads them
				require.Contains(t, tg.op.Path, "/exam/submit")
				continue
			}
			require.Contains(t, r.Body, `"VALIDATION_ERROR"`)
			require.Contains(t, r.Body, `"issues":[{`)
		}
		if tg.op.Handler.Raw != "" { // of which the type is not looked at
			continue
		}
		for _, contentType := range []string{"", "text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json; charset=latin1", "application/jsonp", "application/json, text/plain"} {
			require.Equal(t, 415, send(valid, contentType).Status, "%s %s", tg.op.ID, contentType)
		}
		require.Equal(t, 415, send(valid, "application/json", "Content-Encoding", "gzip").Status)
	}
	// In the middle of it all, the shop works.
	_, ids := s.OnSale(nodetest.TypeBody(0, 1))
	s.Place("ada@example.org", ids[0], 1)
}

// encodeRaw writes a body that may hold raw JSON of any sort, valid or not.
func encodeRaw(t testing.TB, body nodetest.Object) string {
	t.Helper()
	var parts []string
	for name, v := range body {
		text, ok := v.(json.RawMessage)
		if !ok {
			text = json.RawMessage(nodetest.Encode(t, v))
		}
		parts = append(parts, fmt.Sprintf("%q:%s", name, text))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// TestHostilePaths asks for what cannot exist, by every operation with an id.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	s := openWorld(t)
	for _, tg := range targets(s) {
		for param := range tg.params {
			for _, id := range []string{
				"0", "-1", "1e3", "99999999999999999999999", "x", "%00", "%ff", "..", "%2e%2e", "%2F", "a%2Fb", "'%20OR%201=1", "00000000-0000-8000-8000-000000000000", "ffffffff-ffff-8fff-bfff-ffffffffffff",
				strings.Repeat("a", 129), strings.Repeat("9", 128), "%7Bid%7D", "null", "%F0%9F%92%A5",
			} {
				r := s.Raw(tg.op.Method, tg.at(param, id), "application/json", nodetest.Encode(t, tg.body), append([]string{"X-A", "b"}, tg.headers...)...)
				sane(t, &tg.op, r, tg.op.ID+" "+id)
				want := []int{401, 404}
				switch lesson := kindOf(t, &tg.op, param) == kindLesson; {
				case lesson && id == "0": // the first
					want = []int{200}
				case lesson:
					want = append(want, 400) // INVALID_LESSON_INDEX
				}
				require.Contains(t, want, r.Status, "%s %s: %s", tg.op.ID, id, r.Body)
			}
		}
	}
}

// junk are values that decoders and stores trip over.
var junk = []any{
	nil, true, false, 0, -1, 1, 0.5, 1e15, json.Number("1e308"), json.Number("9223372036854775807"), json.Number("-9223372036854775808"), json.Number("1e-400"), json.Number("0e0"),
	"", " ", "x", "\u0000", "\ufffd", "\u202e", "💥", "' OR 1=1 --", "%00", "../..", "1", "true", "null", "ada@example.org", "free", "hidden", "draft", "cancelled",
	"2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "2030-01-01T00:00:00+14:00", "2030-06-01T00:00:00.123456789Z",
	"00000000-0001-8000-8000-000000000001", "https://example.org/", "/media/1", strings.Repeat("a", 300), strings.Repeat("ü", 60_000),
	[]any{},
	[]any{nil},
	[]any{[]any{}},
	nodetest.Object{},
	nodetest.Object{"a": nodetest.Object{}},
	[]any{nodetest.Object{"ticketTypeId": nil, "quantity": 1}},
}

// mutate changes a body somewhere: a member or element of it, now and then a
// byte.
func mutate(r *rand.Rand, body nodetest.Object) string {
	v := copied(body)
	for range 1 + r.IntN(2) {
		v = change(r, v)
	}
	b, _ := json.Marshal(v) // it came from JSON
	for r.IntN(4) == 0 && len(b) > 0 {
		at := r.IntN(len(b))
		switch r.IntN(4) {
		case 0:
			b[at] = byte(r.IntN(256))
		case 1:
			b = b[:at]
		case 2:
			b = slices.Insert(b, at, `{}[],:"\0 e-`[r.IntN(12)])
		case 3:
			b = append(b[:at:at], append(slices.Clone(b[r.IntN(len(b)):]), b[at:]...)...)
		}
	}
	return string(b)
}

// copied is a value of JSON apart from v, its numbers as they are written. Mutations copy bodies all the time, so
// what has the form that JSON is decoded to need not go through JSON.
func copied(v any) (c any) {
	switch v := v.(type) {
	case nodetest.Object:
		o := make(nodetest.Object, len(v))
		for name, member := range v {
			o[name] = copied(member)
		}
		return o
	case []any:
		a := make([]any, len(v))
		for i, element := range v {
			a[i] = copied(element)
		}
		return a
	case nil, bool, string, json.Number:
		return v
	}
	b, _ := json.Marshal(v) // it came from JSON
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	_ = d.Decode(&c) // as above
	return c
}

// change replaces, removes, adds or renames something within a value.
func change(r *rand.Rand, v any) any {
	pick := func() any { return copied(junk[r.IntN(len(junk))]) }
	switch v := v.(type) {
	case nodetest.Object:
		if len(v) == 0 {
			return pick()
		}
		name := slices.Sorted(maps.Keys(v))[r.IntN(len(v))]
		switch r.IntN(6) {
		case 0:
			delete(v, name)
		case 1:
			v[strings.ToUpper(name)] = v[name]
		case 2, 3:
			v[name] = change(r, v[name])
		default:
			v[name] = pick()
		}
		return v
	case []any:
		if len(v) == 0 || r.IntN(4) == 0 {
			return slices.Repeat(append(v, pick()), 1+r.IntN(30))
		}
		i := r.IntN(len(v))
		v[i] = change(r, v[i])
		return v
	default:
		return pick()
	}
}

// mutant sends a body to a target.
func mutant(s *nodetest.Shop, client *http.Client, tg *target, body string) nodetest.Reply {
	req, err := http.NewRequestWithContext(s.T.Context(), tg.op.Method, s.URL+tg.path, strings.NewReader(body))
	require.NoError(s.T, err)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(tg.headers); i += 2 {
		req.Header.Set(tg.headers[i], tg.headers[i+1])
	}
	answer, err := askUntilAnswered(client, req)
	require.NoError(s.T, err)
	return answer
}

// TestMutations sends thousands of bodies that are almost right to every
// operation that writes. Whatever comes of them, it is never our fault.
func TestMutations(t *testing.T) {
	t.Parallel()
	const workers = 8
	s := openWorld(t)
	transport := &http.Transport{MaxIdleConnsPerHost: workers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for _, tg := range targets(s) {
		n := 2_000
		switch {
		case tg.op.Tier == route.TierAuth: // a password hash each
			n = 60
		case tg.body == nil:
			n = 40
		}
		statuses := make([]map[int]int, workers)
		var wg sync.WaitGroup
		for w := range workers {
			statuses[w] = map[int]int{}
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(w), uint64(len(tg.op.ID)))) // to be repeatable
				for range n / workers {
					body := mutate(r, tg.body)
					got := mutant(s.Shop, client, &tg, body)
					for tries := 0; got.Header.Get("Retry-After") != "" && got.Status == 503 && tries < 100; tries++ {
						got = mutant(s.Shop, client, &tg, body) // the machine is busy with other tests
					}
					sane(t, &tg.op, got, tg.op.ID+" "+body[:min(len(body), 500)])
					statuses[w][got.Status]++
				}
			})
		}
		wg.Wait()
		sum := map[int]int{}
		for _, m := range statuses {
			for status, k := range m {
				sum[status] += k
			}
		}
		t.Log(tg.op.ID, sum)
	}
}

// TestSlowClients opens 10,000 connections that send a byte a second, or as many
// as the limit of open files allows for both of their ends. The rest is served
// as ever, memory stays bounded, and the slow are cut off.
//
// It is not parallel: it measures memory.
func TestSlowClients(t *testing.T) {
	const (
		bound  = 40 << 10    // bytes of memory per connection, both of its ends
		cutOff = time.Minute // the read timeout is 5 s, and a request takes 100 s
	)
	var files syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	clients := int(min(10_000, (files.Cur-500)/2))
	s := nodetest.Open(t, func(c *node.Config) { c.MaxPerAddress, c.MaxConnections = clients+100, clients+200 })
	_, ids := s.OnSale(nodetest.TypeBody(0, -1))
	memory := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapInuse + m.StackInuse)
	}
	before := memory()
	slow := make([]net.Conn, clients)
	for i := range slow {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Config().Listen)
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		slow[i] = c
	}
	begun := time.Now()
	const request = "POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n"
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for n := range len(request) {
			for _, c := range slow {
				_, _ = c.Write([]byte{request[n]}) // it may be cut off by now
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	var slowest time.Duration
	for buyer := range 50 {
		at := time.Now()
		s.Call("POST", "/orders", nodetest.OrderBody(fmt.Sprintf("b%d@example.org", buyer), ids[0], 1)).Is(201, "")
		slowest = max(slowest, time.Since(at))
	}
	used := memory() - before
	t.Logf("%d slow connections: %d KB each, slowest order %s", clients, used/clients>>10, slowest)
	require.Less(t, slowest, cutOff/2)
	require.Less(t, used, clients*bound)
	statuses := map[string]int{}
	for _, c := range slow {
		require.NoError(t, c.SetReadDeadline(begun.Add(cutOff)))
		text, err := io.ReadAll(c)
		if timeout, ok := errors.AsType[net.Error](err); ok {
			require.False(t, timeout.Timeout(), "still open after %s", cutOff)
		}
		statuses[string(text[:min(len(text), len("HTTP/1.1 408"))])]++
	}
	close(done)
	wg.Wait()
	t.Log(statuses)
	s.Call("GET", "/events", nil).Is(200, "")
}

// FuzzOrderBody sends bodies of orders through the whole node. It may be run for
// long: go test ./cmd/boxoffice -fuzz FuzzOrderBody.
func FuzzOrderBody(f *testing.F) {
	s := nodetest.Open(f)
	_, ids := s.OnSale(nodetest.TypeBody(0, -1), nodetest.With(nodetest.TypeBody(5, 100), nodetest.Object{"presaleCode": "abc"}))
	valid := nodetest.OrderBody("ada@example.org", ids[0], 1)
	for _, body := range []nodetest.Object{
		valid, nodetest.With(valid, nodetest.Object{"guestName": "Ada", "presaleCode": "abc", "promoCode": nil}), nodetest.With(valid, nodetest.Object{"items": nodetest.Lines(ids[0], 2, ids[1], 100)}),
		nodetest.With(valid, nodetest.Object{"items": []nodetest.Object{{"ticketTypeId": ids[0], "quantity": 1, "attendeeName": "ü", "attendeeEmail": "a@b.org"}}}),
		{"items": nil},
		{},
	} {
		f.Add([]byte(nodetest.Encode(f, body)))
	}
	f.Add([]byte(`{"items":[{"ticketTypeId":"\ud800","quantity":1e400}]} `))
	ops := s.Areas().Routes()
	op := ops[slices.IndexFunc(ops, func(op route.Op) bool { return op.ID == "placeOrder" })]
	f.Fuzz(func(t *testing.T, body []byte) {
		c := *s
		c.T = t
		r := c.Raw("POST", "/orders", "application/json", string(body))
		sane(t, &op, r, string(body))
		require.Contains(t, []int{201, 400, 403, 404, 409, 413}, r.Status)
	})
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"boxoffice/persistence/audit"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) {
	hashForNode()
	nodeForTest()
	_ = flag.Set("test.parallel", "6") // the flag is there: scenarios mostly wait
	persisttest.Main(m,
		// fasthttp's clock of the Date header never ends, and its pools of
		// workers look only every 10 s whether their server has.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	)
}

// shop is a node of the test's own, reached over HTTP.
type shop struct {
	*node
	t     testing.TB
	url   string
	token string // the organizer's, once registered
}

// open starts a node on a schema of its own, with its configuration changed. The
// audit of its journal ends the test.
func open(t testing.TB, changes ...func(*config)) *shop {
	t.Helper()
	return openLogged(t, slog.New(slog.DiscardHandler), changes...)
}

// openLogged is open with the node's log.
func openLogged(t testing.TB, log *slog.Logger, changes ...func(*config)) *shop {
	t.Helper()
	cfg := &config{
		Listen: address(t), PaysimListen: address(t), Env: "test", Node: "node-1", Lanes: 1,
		DatabaseURL: persisttest.DB(t), MasterKey: strings.Repeat("ab", 32), MaxPerAddress: 100, MaxConnections: 1000,
		MailDir: t.TempDir(), LimitsScale: 1000, Origins: []string{"*"}, WebhooksPrivate: true,
	}
	for _, change := range changes {
		change(cfg)
	}
	s := &shop{node: &node{cfg: cfg, log: log}, t: t, url: "http://" + cfg.Listen + "/api/v1"}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		if s.journal != nil {
			r, err := audit.Run(ctx, s.journal)
			require.NoError(t, err)
			require.Empty(t, r.Findings)
		}
		require.NoError(t, s.stop(ctx))
		s.node = nil // package testing keeps what this refers to until the last test has ended: 30 MB a node
	})
	require.NoError(t, s.start(t.Context()))
	return s
}

// port is the last that a test of this process took.
var port atomic.Int64

// address is a loopback address that was free a moment ago. Its port lies below
// those that the system gives to outgoing connections, of which other tests open
// thousands: none of them can take it before the node does.
func address(t testing.TB) string {
	t.Helper()
	for range 1_000 {
		a := fmt.Sprintf("127.0.0.1:%d", 10_000+(int64(os.Getpid())*100+port.Add(1))%20_000)
		if ln, err := net.Listen("tcp", a); err == nil {
			require.NoError(t, ln.Close())
			return a
		}
	}
	require.Fail(t, "no free port")
	return ""
}

// answer is a response, taken apart by paths such as "items.0.id".
type answer struct {
	t      testing.TB
	status int
	body   map[string]any
}

func (a answer) get(path string) any {
	a.t.Helper()
	var v any = a.body
	for k := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[k]
		case []any:
			var i int
			_, err := fmt.Sscan(k, &i)
			require.NoError(a.t, err)
			require.Less(a.t, i, len(at), "%s in %v", path, a.body)
			v = at[i]
		default:
			require.Fail(a.t, "no such path", "%s in %v", path, a.body)
		}
	}
	return v
}

func (a answer) data(path string) any   { return a.get("data." + path) }
func (a answer) str(path string) string { return fmt.Sprint(a.data(path)) }

// is checks the status, and the error's code if there is one.
func (a answer) is(status int, code string) answer {
	a.t.Helper()
	require.Equal(a.t, status, a.status, "%v", a.body)
	if code != "" {
		require.Equal(a.t, code, a.get("error.code"), "%v", a.body)
		require.NotEmpty(a.t, a.get("meta.request_id"))
	}
	return a
}

// call sends a request; headers are name, value pairs.
func (s *shop) call(method, path string, body any, headers ...string) answer {
	s.t.Helper()
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		require.NoError(s.t, err)
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, r)
	require.NoError(s.t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, res.Body.Close()) }()
	a := answer{t: s.t, status: res.StatusCode}
	require.NoError(s.t, json.NewDecoder(res.Body).Decode(&a.body))
	conforms(s.t, req, res.StatusCode, a.body)
	return a
}

type object = map[string]any

// own sends a request with the organizer's token.
func (s *shop) own(method, path string, body any) answer {
	s.t.Helper()
	if s.token == "" {
		owner := object{"email": "owner@example.org", "password": "correct horse"}
		a := s.patient("POST", "/auth/register", owner)
		if a.status == 409 { // an answer of 503 was late: the account is there
			a = s.patient("POST", "/auth/login", owner).is(200, "")
		} else {
			a.is(201, "")
		}
		s.token = a.str("accessToken")
	}
	return s.call(method, path, body, "Authorization", "Bearer "+s.token)
}

func stamp(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }

func eventBody() object {
	return object{
		"title": "Friday Night", "category": "music", "timezone": "Europe/Berlin", "venueType": "physical",
		"startDate": stamp(24 * time.Hour), "endDate": stamp(30 * time.Hour),
	}
}

func typeBody(price any, quantity int) object {
	return object{
		"name": "Floor", "type": "general", "price": price, "quantityTotal": quantity,
		"saleStart": stamp(-time.Hour), "saleEnd": stamp(23 * time.Hour),
	}
}

// onSale makes an event with ticket types and publishes it.
func (s *shop) onSale(types ...object) (event string, ids []string) {
	s.t.Helper()
	event = s.own("POST", "/organizer/events", eventBody()).is(201, "").str("id")
	for _, body := range types {
		ids = append(ids, s.own("POST", "/organizer/events/"+event+"/tickets", body).is(201, "").str("id"))
	}
	s.own("POST", "/organizer/events/"+event+"/publish", nil).is(200, "")
	return event, ids
}

func orderBody(email, ticketType string, quantity int) object {
	return object{"guestEmail": email, "items": []object{{"ticketTypeId": ticketType, "quantity": quantity}}}
}

// settle has the buyer pay at the simulator.
func (s *shop) settle(url, outcome string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "POST", url, strings.NewReader(`{"outcome":"`+outcome+`"}`))
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", "application/json")
	stays := *http.DefaultClient // where the checkout leads back to is no part of paying
	stays.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := stays.Do(req)
	require.NoError(s.t, err)
	require.NoError(s.t, res.Body.Close())
	require.Less(s.t, res.StatusCode, 400)
}

// TestWalk is the README's walk.
func TestWalk(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, types := s.onSale(typeBody(25, 100))
	o := s.call("POST", "/orders", orderBody("ada@example.org", types[0], 2)).is(201, "")
	require.Equal(t, "pending", o.str("status"))
	require.Equal(t, "52.50", o.str("total"))
	id, token := o.str("id"), o.str("accessToken")
	pay := s.call("POST", "/orders/"+id+"/pay", object{"provider": "paystack", "token": token}).is(200, "")
	again := s.call("POST", "/orders/"+id+"/pay", object{"provider": "paystack", "token": token}).is(200, "")
	require.Equal(t, pay.str("authorizationUrl"), again.str("authorizationUrl"))
	require.Equal(t, "pending", s.call("POST", "/payments/verify", object{"orderId": id, "token": token}).is(200, "").str("status"))
	s.settle(pay.str("authorizationUrl"), "success")
	done := s.call("POST", "/payments/verify", object{"orderId": id, "token": token}).is(200, "")
	require.Equal(t, "completed", done.str("status"))
	require.Len(t, done.data("tickets"), 2)
	require.Equal(t, "completed", s.call("POST", "/payments/verify", object{"orderId": id, "token": token}).is(200, "").str("status"))

	scan := object{"eventId": event, "qrData": done.str("tickets.0.qr"), "gateName": "North", "deviceId": "gate-1"}
	require.Equal(t, "success", s.own("POST", "/checkin/scan", scan).is(200, "").str("status"))
	scan["deviceId"] = "gate-2"
	require.Equal(t, "denied_duplicate", s.own("POST", "/checkin/scan", scan).is(200, "").str("status"))
	scan["qrData"] = done.str("tickets.1.shortCode")
	require.Equal(t, "success", s.own("POST", "/checkin/scan", scan).is(200, "").str("status"))
	stats := s.own("GET", "/checkin/event/"+event+"/stats", nil).is(200, "")
	require.Equal(t, "2", stats.str("checkedIn"))
	require.Equal(t, "1", stats.str("denied"))
	require.Equal(t, "98", s.call("GET", "/events/"+event+"/tickets", nil).is(200, "").str("items.0.available"))
	require.Equal(t, "completed", s.call("GET", "/orders/"+id+"?token="+token, nil).is(200, "").str("status"))
}

package nodetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/ledger"
)

// The scenario tests share these, besides walk_test.go.

// In returns the shop for a subtest. It registers the organizer first.
func (s *Shop) In(t testing.TB) *Shop {
	t.Helper()
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	c := *s
	c.T = t
	return &c
}

// Register makes another organizer of the same shop.
func (s *Shop) Register(email string) *Shop {
	s.T.Helper()
	c := *s
	c.Token = s.registerAccount(email)
	return &c
}

// Issues returns the violations of a VALIDATION_ERROR: their codes by path.
func (a Answer) Issues() map[string]string {
	a.T.Helper()
	a.Is(400, "VALIDATION_ERROR")
	out := map[string]string{}
	list, _ := a.Get("error.details.issues").([]any)
	require.NotEmpty(a.T, list, "%v", a.Body)
	for _, i := range list {
		issue, ok := i.(Object)
		require.True(a.T, ok)
		require.NotEmpty(a.T, issue["message"])
		out[issue["path"].(string)] = issue["code"].(string)
	}
	return out
}

// Invalid checks that the request was refused for one violation.
func (a Answer) Invalid(path, code string) {
	a.T.Helper()
	require.Equal(a.T, map[string]string{path: code}, a.Issues())
}

// Refused checks a refusal with its details.
func (a Answer) Refused(status int, code string, details any) {
	a.T.Helper()
	a.Is(status, code)
	want, err := json.Marshal(details)
	require.NoError(a.T, err)
	got, err := json.Marshal(a.Get("error.details"))
	require.NoError(a.T, err)
	require.JSONEq(a.T, string(want), string(got))
}

// Keys returns the names of the members of the object at a path of the data ("" for data itself),
// in alphabetical order.
func (a Answer) Keys(path string) []string {
	a.T.Helper()
	v, ok := a.Get(strings.TrimSuffix("data."+path, ".")).(Object)
	require.True(a.T, ok, "%s in %v", path, a.Body)
	return slices.Sorted(maps.Keys(v))
}

func Words(s string) []string {
	w := strings.Fields(s)
	slices.Sort(w)
	return w
}

// Reply is an answer that was not parsed.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Raw sends a body unchanged.
func (s *Shop) Raw(method, path, contentType, body string, headers ...string) Reply {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), method, s.URL+path, strings.NewReader(body))
	require.NoError(s.T, err)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	s.setNetwork(req)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.T, err)
	defer func() { require.NoError(s.T, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.T, err)
	return Reply{res.StatusCode, res.Header, string(text)}
}

func (s *Shop) Bearer() []string { return []string{"Authorization", "Bearer " + s.Token} }

// With returns a copy of a body with members changed; nil stands for JSON's null, and Absent
// removes a member.
func With(body Object, changes Object) Object {
	c := maps.Clone(body)
	for k, v := range changes {
		if c[k] = v; v == Absent {
			delete(c, k)
		}
	}
	return c
}

var Absent = new(int)

// Draft makes a draft event.
func (s *Shop) Draft(changes Object) string {
	s.T.Helper()
	return s.Own("POST", "/organizer/events", With(EventBody(), changes)).Is(201, "").Str("id")
}

// Sell makes an event that is on sale, with changes to its body, and its ticket types.
func (s *Shop) Sell(changes Object, types ...Object) (event string, ids []string) {
	s.T.Helper()
	event = s.Draft(changes)
	for _, body := range types {
		ids = append(ids, s.Own("POST", "/organizer/events/"+event+"/tickets", body).Is(201, "").Str("id"))
	}
	s.Own("POST", "/organizer/events/"+event+"/publish", nil).Is(200, "")
	return event, ids
}

// Place places an order of one line, which must be accepted.
func (s *Shop) Place(email, ticketType string, quantity int) (id, token string) {
	s.T.Helper()
	o := s.Call("POST", "/orders", OrderBody(email, ticketType, quantity)).Is(201, "")
	return o.Str("id"), o.Str("accessToken")
}

func (s *Shop) Order(id, token string) Answer {
	s.T.Helper()
	return s.Call("GET", "/orders/"+id+"?token="+token, nil).Is(200, "")
}

func (s *Shop) Pay(id, token string) Answer {
	s.T.Helper()
	return s.Call("POST", "/orders/"+id+"/pay", Object{"provider": "paystack", "token": token})
}

func (s *Shop) Verify(id, token string) Answer {
	s.T.Helper()
	return s.Call("POST", "/payments/verify", Object{"orderId": id, "token": token})
}

// Becomes waits for a value that changes without a request: by timers or the sweep.
func (s *Shop) Becomes(want string, what func() string) {
	s.T.Helper()
	got := ""
	require.Eventually(s.T, func() bool { got = what(); return got == want }, time.Minute, 20*time.Millisecond, "want %s", want)
}

func (s *Shop) Status(id, token string) func() string {
	return func() string { return s.Order(id, token).Str("status") }
}

func (s *Shop) Available(event string, ticketType int) string {
	s.T.Helper()
	return s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "").Str("items." + string(rune('0'+ticketType)) + ".available")
}

// Window sets an event's order window to less than the API allows organizers, so that orders expire
// during a test.
func (s *Shop) Window(eventID string, d time.Duration) {
	s.T.Helper()
	id, err := engine.ParseID(eventID)
	require.NoError(s.T, err)
	r, err := s.Cluster().Ask(s.T.Context(), engine.EventRef(id.Event()), event.Get{})
	require.NoError(s.T, err)
	record, ok := r.(*event.Record)
	require.True(s.T, ok)
	t := *record.Details
	t.OrderWindow = d.Milliseconds()
	_, err = s.Cluster().Ask(s.T.Context(), engine.EventRef(id.Event()), event.Update{Details: t, Revision: record.Revision})
	require.NoError(s.T, err)
}

// Number returns the event's number, from its public id or an id within it.
func Number(t testing.TB, text string) int64 {
	t.Helper()
	id, err := engine.ParseID(text)
	require.NoError(t, err)
	return id.Event()
}

func Encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// Closed waits until the ledger remembers only that an order has ended; everything else then comes
// from the read model.
func (s *Shop) Closed(id string) {
	s.T.Helper()
	order, err := engine.ParseID(id)
	require.NoError(s.T, err)
	s.Becomes("true", func() string {
		r, err := s.Cluster().Ask(s.T.Context(), engine.EventRef(order.Event()), ledger.GetOrder{Order: order})
		require.NoError(s.T, err)
		return fmt.Sprint(r.(*ledger.OrderReply).Past)
	})
}

// Restart stops the node and starts another one on the same database. It calls the functions
// while no node runs.
func (s *Shop) Restart(meanwhile ...func()) {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), stopTime)
	defer cancel()
	http.DefaultClient.CloseIdleConnections()
	require.NoError(s.T, s.Stop(ctx))
	for _, do := range meanwhile {
		do()
	}
	s.Node = node.New(s.Config(), s.log)
	require.NoError(s.T, s.Start(s.T.Context()))
}

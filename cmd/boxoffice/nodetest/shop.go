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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/ledger"
)

// The scenario tests of all packages use the functions in this file.

// In returns the shop for a subtest. It first registers the organizer, so that subtests that run at
// once do not each register one.
func (s *Shop) In(t testing.TB) *Shop {
	t.Helper()
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	c := *s
	c.T = t
	return &c
}

// Register makes the account of another organizer at the same node, and returns the shop as that
// organizer's.
func (s *Shop) Register(email string) *Shop {
	s.T.Helper()
	c := *s
	c.Token = s.registerAccount(email)
	return &c
}

// Issues returns the violations that a VALIDATION_ERROR lists: the code of each by its path.
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

// Invalid checks that a request was refused for exactly one violation.
func (a Answer) Invalid(path, code string) {
	a.T.Helper()
	require.Equal(a.T, map[string]string{path: code}, a.Issues())
}

// Refused checks a refusal together with its details, which are compared as JSON.
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

// Words returns the words of a text in alphabetical order, to compare with Keys.
func Words(s string) []string {
	w := strings.Fields(s)
	slices.Sort(w)
	return w
}

// Reply is an answer as it came, for what is no JSON or must not be checked.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Raw sends a body as it is, also one that is no JSON. It does not compare the answer with the
// document.
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

// Bearer returns the header with the shop's token, for the functions that take headers.
func (s *Shop) Bearer() []string {
	return []string{"Authorization", "Bearer " + s.owner.currentToken(s)}
}

// With returns a copy of a body with some members changed. A nil value becomes JSON's null, and the
// value Absent removes the member.
func With(body Object, changes Object) Object {
	c := maps.Clone(body)
	for k, v := range changes {
		if c[k] = v; v == Absent {
			delete(c, k)
		}
	}
	return c
}

// Absent is a value that no body has: a pointer is equal only to itself.
var Absent = new(int)

// Draft makes a draft of an event, with changes to its usual body, and returns its id.
func (s *Shop) Draft(changes Object) string {
	s.T.Helper()
	return s.Own("POST", "/organizer/events", With(EventBody(), changes)).Is(201, "").Str("id")
}

// Sell makes an event with ticket types and puts it on sale, with changes to the event's usual
// body.
func (s *Shop) Sell(changes Object, types ...Object) (event string, ids []string) {
	s.T.Helper()
	event = s.Draft(changes)
	for _, body := range types {
		ids = append(ids, s.Own("POST", "/organizer/events/"+event+"/tickets", body).Is(201, "").Str("id"))
	}
	s.Own("POST", "/organizer/events/"+event+"/publish", nil).Is(200, "")
	return event, ids
}

// Place places an order of one line, which the node must accept. It returns the order's id and
// token.
func (s *Shop) Place(email, ticketType string, quantity int) (id, token string) {
	s.T.Helper()
	o := s.Call("POST", "/orders", OrderBody(email, ticketType, quantity)).Is(201, "")
	return o.Str("id"), o.Str("accessToken")
}

// Order reads an order as its buyer does, by its token.
func (s *Shop) Order(id, token string) Answer {
	s.T.Helper()
	return s.Call("GET", "/orders/"+id+"?token="+token, nil).Is(200, "")
}

// Pay opens an attempt to pay an order with Paystack, and returns the answer unchecked.
func (s *Shop) Pay(id, token string) Answer {
	s.T.Helper()
	return s.Call("POST", "/orders/"+id+"/pay", Object{"provider": "paystack", "token": token})
}

// Verify makes the node ask the provider about an order's payment.
func (s *Shop) Verify(id, token string) Answer {
	s.T.Helper()
	return s.Call("POST", "/payments/verify", Object{"orderId": id, "token": token})
}

// Becomes waits up to a minute until a value is as wanted. It is for values that change without a
// request, by timers or by a sweep.
func (s *Shop) Becomes(want string, what func() string) {
	s.T.Helper()
	require.EventuallyWithT(s.T, func(c *assert.CollectT) { assert.Equal(c, want, what()) }, time.Minute, 20*time.Millisecond)
}

// Status returns a function that reads an order's status, for Becomes.
func (s *Shop) Status(id, token string) func() string {
	return func() string { return s.Order(id, token).Str("status") }
}

// Available returns how many tickets of an event's nth type are available.
func (s *Shop) Available(event string, ticketType int) string {
	s.T.Helper()
	return s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "").Str("items." + string(rune('0'+ticketType)) + ".available")
}

// Window sets how long an event's orders may stay unpaid. It goes past the API, which allows no
// time that is short enough for a test to wait. A test that does something with an order in that time needs
// some seconds, because a request may take half a second on a busy machine.
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

// Number returns the number of an event, from its public id or from the id of anything within the
// event.
func Number(t testing.TB, text string) int64 {
	t.Helper()
	id, err := engine.ParseID(text)
	require.NoError(t, err)
	return id.Event()
}

// Encode returns a value as JSON text.
func Encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// Closed waits until the ledger has closed an order and remembers only that it has ended. From then
// on everything else about the order comes from the read model.
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

// Restart stops the node and starts another one on the same database. It calls the given functions
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

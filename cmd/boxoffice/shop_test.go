package main

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

	"boxoffice/engine"
	"boxoffice/engine/event"
)

// What the scenario tests share, beyond walk_test.go.

// in is the shop for a subtest. The organizer is registered by then.
func (s *shop) in(t testing.TB) *shop {
	t.Helper()
	s.own("GET", "/organizer/events", nil).is(200, "")
	c := *s
	c.t = t
	return &c
}

// register makes another organizer of the same shop.
func (s *shop) register(email string) *shop {
	s.t.Helper()
	c := *s
	c.token = s.patient("POST", "/auth/register", object{"email": email, "password": "correct horse"}).is(201, "").str("accessToken")
	return &c
}

// issues are the violations of a VALIDATION_ERROR, their codes by path.
func (a answer) issues() map[string]string {
	a.t.Helper()
	a.is(400, "VALIDATION_ERROR")
	out := map[string]string{}
	list, _ := a.get("error.details.issues").([]any)
	require.NotEmpty(a.t, list, "%v", a.body)
	for _, i := range list {
		issue, ok := i.(object)
		require.True(a.t, ok)
		require.NotEmpty(a.t, issue["message"])
		out[issue["path"].(string)] = issue["code"].(string)
	}
	return out
}

// invalid checks that the request was refused for one violation.
func (a answer) invalid(path, code string) {
	a.t.Helper()
	require.Equal(a.t, map[string]string{path: code}, a.issues())
}

// refused checks a refusal with its details.
func (a answer) refused(status int, code string, details any) {
	a.t.Helper()
	a.is(status, code)
	want, err := json.Marshal(details)
	require.NoError(a.t, err)
	got, err := json.Marshal(a.get("error.details"))
	require.NoError(a.t, err)
	require.JSONEq(a.t, string(want), string(got))
}

// keys are the members of the object at a path of the data ("" for data itself),
// in alphabetical order.
func (a answer) keys(path string) []string {
	a.t.Helper()
	v, ok := a.get(strings.TrimSuffix("data."+path, ".")).(object)
	require.True(a.t, ok, "%s in %v", path, a.body)
	return slices.Sorted(maps.Keys(v))
}

func words(s string) []string {
	w := strings.Fields(s)
	slices.Sort(w)
	return w
}

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   string
}

// raw sends a body as it is.
func (s *shop) raw(method, path, contentType, body string, headers ...string) reply {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer func() { require.NoError(s.t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return reply{res.StatusCode, res.Header, string(text)}
}

func (s *shop) bearer() []string { return []string{"Authorization", "Bearer " + s.token} }

// with is a copy of a body with members changed; nil stands for JSON's null, and
// absent takes a member out.
func with(body object, changes object) object {
	c := maps.Clone(body)
	for k, v := range changes {
		if c[k] = v; v == absent {
			delete(c, k)
		}
	}
	return c
}

var absent = new(int)

// draft makes a draft event.
func (s *shop) draft(changes object) string {
	s.t.Helper()
	return s.own("POST", "/organizer/events", with(eventBody(), changes)).is(201, "").str("id")
}

// sell makes an event on sale, of a body, with ticket types.
func (s *shop) sell(changes object, types ...object) (event string, ids []string) {
	s.t.Helper()
	event = s.draft(changes)
	for _, body := range types {
		ids = append(ids, s.own("POST", "/organizer/events/"+event+"/tickets", body).is(201, "").str("id"))
	}
	s.own("POST", "/organizer/events/"+event+"/publish", nil).is(200, "")
	return event, ids
}

// place places an order of one line, which is granted.
func (s *shop) place(email, ticketType string, quantity int) (id, token string) {
	s.t.Helper()
	o := s.call("POST", "/orders", orderBody(email, ticketType, quantity)).is(201, "")
	return o.str("id"), o.str("accessToken")
}

func (s *shop) order(id, token string) answer {
	s.t.Helper()
	return s.call("GET", "/orders/"+id+"?token="+token, nil).is(200, "")
}

func (s *shop) pay(id, token string) answer {
	s.t.Helper()
	return s.call("POST", "/orders/"+id+"/pay", object{"provider": "paystack", "token": token})
}

func (s *shop) verify(id, token string) answer {
	s.t.Helper()
	return s.call("POST", "/payments/verify", object{"orderId": id, "token": token})
}

// becomes waits for what no caller is told of: timers and the sweep.
func (s *shop) becomes(want string, what func() string) {
	s.t.Helper()
	got := ""
	require.Eventually(s.t, func() bool { got = what(); return got == want }, 15*time.Second, 20*time.Millisecond, "want %s", want)
}

func (s *shop) status(id, token string) func() string {
	return func() string { return s.order(id, token).str("status") }
}

func (s *shop) available(event string, ticketType int) string {
	s.t.Helper()
	return s.call("GET", "/events/"+event+"/tickets", nil).is(200, "").str("items." + string(rune('0'+ticketType)) + ".available")
}

// window sets an event's order window to less than the API lets organizers
// choose, so that orders expire while a test watches.
func (s *shop) window(eventID string, d time.Duration) {
	s.t.Helper()
	id, err := engine.ParseID(eventID)
	require.NoError(s.t, err)
	r, err := s.cluster.Ask(s.t.Context(), engine.EventRef(id.Event()), event.Get{})
	require.NoError(s.t, err)
	record, ok := r.(*event.Record)
	require.True(s.t, ok)
	t := *record.Details
	t.OrderWindow = d.Milliseconds()
	_, err = s.cluster.Ask(s.t.Context(), engine.EventRef(id.Event()), event.Update{Details: t, Revision: record.Revision})
	require.NoError(s.t, err)
}

// number is the event's number, of its public id or of an id within it.
func number(t testing.TB, text string) int64 {
	t.Helper()
	id, err := engine.ParseID(text)
	require.NoError(t, err)
	return id.Event()
}

func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// closed waits until the ledger remembers of an order that has ended only that
// it did; the rest is read from the read model.
func (s *shop) closed(id string) {
	s.t.Helper()
	order, err := engine.ParseID(id)
	require.NoError(s.t, err)
	s.becomes("true", func() string {
		r, err := s.cluster.Ask(s.t.Context(), engine.EventRef(order.Event()), event.GetOrder{Order: order})
		require.NoError(s.t, err)
		return fmt.Sprint(r.(*event.OrderReply).Past)
	})
}

// restart stops the node and starts another one on the same database.
func (s *shop) restart() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), stopTime)
	defer cancel()
	http.DefaultClient.CloseIdleConnections()
	require.NoError(s.t, s.stop(ctx))
	s.node = &node{cfg: s.cfg, log: s.log}
	require.NoError(s.t, s.start(s.t.Context()))
}

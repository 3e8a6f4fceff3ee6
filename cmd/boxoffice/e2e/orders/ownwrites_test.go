package orders

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestOwnWritesAreSeen: whoever has just written something finds it in the list that they read next,
// however far behind the writers of lists are. Others do not wait for it.
func TestOwnWritesAreSeen(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 100))
	ada, bob := s.Buyer("ada@example.org"), s.Buyer("bob@example.org")
	key := s.As(s.Key(nil).Str("secret"))
	other := s.As(s.Key(nil).Str("secret"))

	type answered = chan nodetest.Answer
	read := func(as *nodetest.Shop, path string) answered {
		a := make(answered, 1)
		go func() { a <- as.Call("GET", path, nil, as.Bearer()...) }()
		return a
	}
	release := s.HoldBack()
	order := ada.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1), ada.Bearer()...).Is(201, "")
	issued := key.Call("POST", "/events/"+event+"/issue", nodetest.IssueBody(ids[0], 1), key.Bearer()...).Is(201, "")
	guest := s.Call("POST", "/orders", nodetest.OrderBody("guest@example.org", ids[0], 1)).Is(201, "")
	s.Call("GET", "/orders/"+guest.Str("id")+"?token="+guest.Str("accessToken"), nil).Is(200, "").Data("tickets.0.code")
	waiting := []answered{
		read(ada, "/users/me/tickets"),
		read(key, "/organizer/orders"), read(key, "/organizer/events/"+event+"/attendees"),
	}
	exported := make(chan string, 1)
	go func() { exported <- ada.Raw("GET", "/users/me/export", "", "", ada.Bearer()...).Body }()
	for _, r := range []struct {
		as   *nodetest.Shop
		path string
	}{{bob, "/users/me/tickets"}, {other, "/organizer/orders"}, {other, "/organizer/events/" + event + "/attendees"}} {
		a := r.as.Call("GET", r.path, nil, r.as.Bearer()...).Is(200, "")
		require.Empty(t, a.Data("items"), "others' writes are not waited for")
		require.NotContains(t, a.Body["data"], "stale")
	}
	release()
	var got []nodetest.Answer
	for _, w := range waiting {
		got = append(got, (<-w).Is(200, ""))
		require.NotContains(t, got[len(got)-1].Body["data"], "stale")
	}
	require.Equal(t, order.Str("tickets.0.id"), got[0].Str("items.0.id"))
	require.Contains(t, idsIn(got[1]), issued.Str("order.id"))
	require.Contains(t, idsIn(got[2]), issued.Str("tickets.0.id"))
	require.Contains(t, <-exported, order.Str("id"))
}

// idsIn lists the ids of a list's items.
func idsIn(a nodetest.Answer) (ids []any) {
	a.T.Helper()
	list, ok := a.Data("items").([]any)
	require.True(a.T, ok)
	for _, item := range list {
		for _, name := range []string{"id", "ticketId"} {
			if id, there := item.(nodetest.Object)[name]; there {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// TestStaleLists: a list that does not catch up with its reader's own writes in time says so.
func TestStaleLists(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(0, 100))
	ada := s.Buyer("ada@example.org")
	release := s.HoldBack()
	order := ada.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1), ada.Bearer()...).Is(201, "")
	for _, path := range []string{"/users/me/tickets", "/users/me/export"} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+path, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+ada.Token)
		began := time.Now()
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 200, res.StatusCode)
		require.NotEmpty(t, res.Header.Get("Retry-After"), path)
		require.Less(t, time.Since(began), 5*time.Second)
	}
	require.Equal(t, true, ada.Call("GET", "/users/me/tickets", nil, ada.Bearer()...).Is(200, "").Data("stale"))
	release()
	a := ada.Call("GET", "/users/me/tickets", nil, ada.Bearer()...).Is(200, "")
	require.NotContains(t, a.Body["data"], "stale")
	require.Equal(t, order.Str("tickets.0.id"), a.Str("items.0.id"))
}

// TestClosedOrdersAreCurrent: an order that its ledger has closed is told as it ended, also where the
// lists that it is read from lag behind.
func TestClosedOrdersAreCurrent(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	payment := s.Checkout(id, token)
	release := s.HoldBack()
	s.Settle(payment, "success")
	s.Verify(id, token).Is(200, "")
	s.Closed(id)
	path := "/orders/" + id + "?token=" + token
	impatient := http.Client{Timeout: time.Second}
	if res, err := impatient.Get(s.URL + path); err == nil {
		told, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.NotContains(t, string(told), `"status":"pending"`)
	}
	release()
	a := s.Call("GET", path, nil).Is(200, "")
	require.Equal(t, "completed", a.Str("status"))
	require.Len(t, a.Data("tickets"), 1)
}

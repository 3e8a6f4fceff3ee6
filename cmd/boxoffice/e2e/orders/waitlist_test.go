package orders

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// field is a value of one field, and the issue that it is refused with; "" when
// it is accepted and answered unchanged.
type field struct {
	name  string
	value any
	path  string // of the issue, if not the name
	code  string
}

func giveUp(s *nodetest.Shop, o nodetest.Answer) {
	s.T.Helper()
	s.Call("POST", "/orders/"+o.Str("id")+"/cancel", nodetest.Object{"token": o.Str("accessToken")}).Is(200, "")
}

var waitlistLink = regexp.MustCompile(`/waitlist#token=([\w-]+)`)

// waitlistToken reads the token out of a mail about a waitlist.
func waitlistToken(s *nodetest.Shop, template, to string, after time.Time) string {
	s.T.Helper()
	found := waitlistLink.FindStringSubmatch(s.Mail(s.T, to, template, after).Text)
	require.Len(s.T, found, 2)
	return found[1]
}

// TestWaitlistJoin waits for tickets, and asks for what can't be waited for.
func TestWaitlistJoin(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, typ, _ := s.FullHouse(20, 1)
	path := nodetest.WaitlistPath(event)
	one := s.Waits(event, nodetest.WaitlistBody("ada@example.org", nodetest.Object{"ticketTypeId": typ, "quantity": 2}))
	require.Equal(t, nodetest.Words("id eventId ticketTypeId email name quantity position status offeredAt offerExpiresAt createdAt"), one.Keys(""))
	require.Equal(t, []any{typ, "ada@example.org", "Wanda", 2., 1., "waiting", nil}, []any{
		one.Data("ticketTypeId"), one.Data("email"), one.Data("name"), one.Data("quantity"), one.Data("position"), one.Data("status"), one.Data("offeredAt"),
	})
	ada := s.Buyer("ada@example.org") // who has proven her address needs no mail
	again := ada.Own("POST", path, nodetest.WaitlistBody("ADA@example.org", nodetest.Object{"ticketTypeId": typ})).Is(201, "")
	require.Equal(t, []any{one.Str("id"), 2.}, []any{again.Data("id"), again.Data("quantity")})
	either := ada.Own("POST", path, nodetest.WaitlistBody("ada@example.org", nil)).Is(201, "")
	require.Equal(t, []any{nil, 1., 2.}, []any{either.Data("ticketTypeId"), either.Data("quantity"), either.Data("position")})

	page := s.Own("GET", path+"?limit=1", nil).Is(200, "")
	require.Equal(t, one.Str("id"), page.Str("items.0.id"))
	page = s.Own("GET", path+"?limit=1&cursor="+page.Str("nextCursor"), nil).Is(200, "")
	require.Equal(t, []any{either.Str("id"), nil}, []any{page.Data("items.0.id"), page.Data("nextCursor")})

	for _, f := range []field{
		{"email", "x", "", "format"},
		{"email", nodetest.Absent, "", "required"},
		{"name", "", "", "min_length"},
		{"name", nodetest.Text(121), "", "max_length"},
		{"quantity", 0, "", "minimum"},
		{"quantity", 11, "", "maximum"},
	} {
		s.Call("POST", path, nodetest.WaitlistBody("bob@example.org", nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	s.Call("POST", path, nodetest.WaitlistBody("bob@example.org", nodetest.Object{"ticketTypeId": event})).Is(404, "TICKET_TYPE_NOT_FOUND")
	s.Call("POST", nodetest.WaitlistPath(typ), nodetest.WaitlistBody("bob@example.org", nil)).Is(404, "EVENT_NOT_FOUND")

	open, ids := s.OnSale(nodetest.TypeBody(0, 1), nodetest.With(nodetest.TypeBody(0, 5), nodetest.Object{"waitlistEnabled": true}))
	closed := func(event string, more nodetest.Object, reason string) {
		t.Helper()
		s.Call("POST", nodetest.WaitlistPath(event), nodetest.WaitlistBody("bob@example.org", more)).Refused(409, "WAITLIST_CLOSED", nodetest.Object{"reason": reason})
	}
	closed(open, nodetest.Object{"ticketTypeId": ids[0]}, "not_enabled")
	closed(open, nodetest.Object{"ticketTypeId": ids[1]}, "not_sold_out")
	closed(open, nil, "not_sold_out")
	s.Own("DELETE", "/organizer/events/"+event, nil).Is(200, "")
	closed(event, nil, "event_over")
}

// TestWaitlistOffer frees a ticket, which goes to who has waited longest, and to nobody
// else; what he does not want goes to the next.
func TestWaitlistOffer(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, typ, orders := s.FullHouse(20, 1)
	began := time.Now()
	for _, who := range []string{"ada@example.org", "bob@example.org"} {
		s.Waits(event, nodetest.WaitlistBody(who, nodetest.Object{"ticketTypeId": typ}))
	}
	ada := waitlistToken(s, "waitlist_joined", "ada@example.org", began)
	s.Call("POST", "/community/waitlist/"+ada+"/claim", nil).Refused(409, "CONFLICT", nodetest.Object{"status": "waiting"})
	s.Call("POST", "/community/waitlist/"+ada[1:]+"/claim", nil).Is(404, "NOT_FOUND")
	giveUp(s, orders[0])
	s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", typ, 1)).Refused(409, "TICKET_SOLD_OUT", nodetest.Object{"ticketTypeId": typ, "requested": 1, "available": 0})
	require.Equal(t, ada, waitlistToken(s, "waitlist_offered", "ada@example.org", began))
	require.Equal(t, map[string]string{"ada@example.org": "offered", "bob@example.org": "waiting"}, s.WaitlistEntries(event))
	left := s.Call("DELETE", "/community/waitlist/"+ada, nil).Is(200, "")
	require.Equal(t, []any{"cancelled", nil}, []any{left.Data("status"), left.Data("position")})
	require.Equal(t, "cancelled", s.Call("DELETE", "/community/waitlist/"+ada, nil).Is(200, "").Str("status"))

	bob := waitlistToken(s, "waitlist_offered", "bob@example.org", began)
	id := s.Own("GET", nodetest.WaitlistPath(event), nil).Is(200, "").Str("items.1.id")
	s.Call("GET", "/orders/"+id+"?token=x", nil).Is(404, "ORDER_NOT_FOUND")
	o := s.Call("POST", "/community/waitlist/"+bob+"/claim", nil).Is(201, "")
	require.Equal(t, []any{"pending", "21.00", "bob@example.org", typ, 1.}, []any{
		o.Data("status"), o.Data("total"), o.Data("buyer.email"), o.Data("items.0.ticketTypeId"), o.Data("items.0.quantity"),
	})
	require.Equal(t, o.Str("id"), s.Call("POST", "/community/waitlist/"+bob+"/claim", nil).Is(201, "").Str("id"))
	s.Call("POST", "/community/waitlist/"+ada+"/claim", nil).Refused(409, "CONFLICT", nodetest.Object{"status": "cancelled"})
	require.Equal(t, "pending", s.Order(o.Str("id"), o.Str("accessToken")).Str("status"))
	require.Equal(t, "claimed", s.WaitlistEntries(event)["bob@example.org"])
	giveUp(s, o)
	s.Becomes("201", func() string { // nobody waits any more
		return fmt.Sprint(s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", typ, 1)).Status)
	})
}

// TestWaitlistByHand lets the organizer say when something is offered, and for how long.
func TestWaitlistByHand(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, typ, _ := s.FullHouse(0, 1)
	settings := "/organizer/events/" + event + "/waitlist"
	a := s.Own("PUT", settings, nodetest.Object{"auto": false}).Is(200, "")
	require.Equal(t, []any{false, 720.}, []any{a.Data("auto"), a.Data("offerMinutes")})
	for _, bad := range []field{{"offerMinutes", 14, "", "minimum"}, {"offerMinutes", 4321, "", "maximum"}, {"auto", nil, "", "null"}} {
		s.Own("PUT", settings, nodetest.Object{bad.name: bad.value}).Invalid(bad.name, bad.code)
	}
	require.Equal(t, 15., s.Own("PUT", settings, nodetest.Object{"offerMinutes": 15}).Is(200, "").Data("offerMinutes"))
	began := time.Now()
	for i := range 3 {
		s.Waits(event, nodetest.WaitlistBody(fmt.Sprintf("w%d@example.org", i), nodetest.Object{"ticketTypeId": typ}))
	}
	offer := func(count int) any {
		return s.Own("POST", nodetest.WaitlistPath(event)+"/offer", nodetest.Object{"count": count}).Is(200, "").Data("offered")
	}
	require.Equal(t, 0., offer(5), "nothing is free")
	s.Own("PUT", "/organizer/events/"+event+"/tickets/"+typ, nodetest.Object{"quantityTotal": 3}).Is(200, "")
	s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", typ, 1)).Is(409, "TICKET_SOLD_OUT")
	s.Becomes("1", func() string { return fmt.Sprint(offer(1)) })
	token := waitlistToken(s, "waitlist_offered", "w0@example.org", began)
	require.Equal(t, map[string]string{"w0@example.org": "offered", "w1@example.org": "waiting", "w2@example.org": "waiting"}, s.WaitlistEntries(event))
	require.Equal(t, 1., offer(500))
	waitlistToken(s, "waitlist_offered", "w1@example.org", began)
	o := s.Call("POST", "/community/waitlist/"+token+"/claim", nil).Is(201, "")
	require.Equal(t, []any{"completed", "0.00"}, []any{o.Data("status"), o.Data("total")})
	for _, bad := range []int{0, 501} {
		s.Own("POST", nodetest.WaitlistPath(event)+"/offer", nodetest.Object{"count": bad}).Is(400, "VALIDATION_ERROR")
	}
}

// TestWaitlistBeginsWithTheClick: what strangers type puts nobody in line, and tells nothing of who
// waits; the mailed link does it, once.
func TestWaitlistBeginsWithTheClick(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, typ, orders := s.FullHouse(20, 1)
	body := func(to string) nodetest.Object {
		return nodetest.WaitlistBody(to, nodetest.Object{"ticketTypeId": typ})
	}
	for i := range 10 {
		s.Call("POST", nodetest.WaitlistPath(event), body(fmt.Sprintf("fake%d@example.org", i))).Is(201, "")
	}
	bob := s.Buyer("bob@example.org") // a session proves its own address alone
	require.Equal(t, "unconfirmed", bob.Own("POST", nodetest.WaitlistPath(event), body("ada@example.org")).Is(201, "").Str("status"))
	require.Empty(t, s.WaitlistEntries(event))

	token := s.AsksToWait(event, body("dora@example.org"))
	path := "/community/waitlist/" + token + "/confirm"
	require.NotEqual(t, 201, s.Raw("GET", "/community/waitlist/"+token+"/confirm", "", "").Status)
	require.Empty(t, s.WaitlistEntries(event), "programs that open links put nobody in line")
	first := s.Call("POST", path, nil).Is(201, "")
	require.Equal(t, []any{"waiting", 1.0}, []any{first.Data("status"), first.Data("position")})
	require.Equal(t, first.Str("id"), s.Call("POST", path, nil).Is(201, "").Str("id"))
	asked := s.Call("POST", nodetest.WaitlistPath(event), body("dora@example.org")).Is(201, "")
	require.Equal(t, []any{"unconfirmed", nil}, []any{asked.Data("status"), asked.Data("position")})
	s.Call("POST", "/community/waitlist/"+token[1:]+"/confirm", nil).Is(404, "NOT_FOUND")

	began := time.Now()
	giveUp(s, orders[0])
	link := waitlistToken(s, "waitlist_offered", "dora@example.org", began)
	o := s.Call("POST", "/community/waitlist/"+link+"/claim", nil).Is(201, "")
	giveUp(s, o)
	s.Becomes("201", func() string { // those whom strangers typed hold nothing up
		return fmt.Sprint(s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", typ, 1)).Status)
	})
}

// TestWaitlistOfANetwork has five entries, whoever asks, and others go on.
func TestWaitlistOfANetwork(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	event, typ, _ := s.FullHouse(20, 1)
	for i := range 5 {
		s.Waits(event, nodetest.WaitlistBody(fmt.Sprintf("w%d@example.org", i), nodetest.Object{"ticketTypeId": typ}))
	}
	body := nodetest.WaitlistBody("late@example.org", nodetest.Object{"ticketTypeId": typ})
	a := s.Call("POST", nodetest.WaitlistPath(event), body).Is(429, "VELOCITY_LIMIT_EXCEEDED")
	require.Equal(t, []any{"waitlist_per_network", 5.}, []any{a.Get("error.details.rule"), a.Get("error.details.limit")})
	late := s.Buyer("late@example.org")
	late.Own("POST", nodetest.WaitlistPath(event), body).Is(429, "VELOCITY_LIMIT_EXCEEDED")
	late.Call("POST", nodetest.WaitlistPath(event), body, append(late.Bearer(), "X-Forwarded-For", "198.51.100.7")...).Is(201, "")
}

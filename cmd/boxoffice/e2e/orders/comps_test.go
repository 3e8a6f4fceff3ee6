package orders

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestComps gives tickets away: an order each, that costs nothing.
func TestComps(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	start := time.Now()
	event, types := s.OnSale(nodetest.With(nodetest.TypeBody(50, 5), nodetest.Object{"maxPerCustomer": 1, "presaleCode": "HUSH", "isHidden": true}))
	path, retry := nodetest.CompsPath(event), append(s.Bearer(), "Idempotency-Key", uuid.NewString())
	body := nodetest.Object{"ticketTypeId": types[0], "note": "See you there!\nYours", "recipients": []nodetest.Object{
		{"email": "ann@example.org", "name": "Ann"}, {"email": "bob@example.org"},
	}}
	a := s.Call("POST", path, body, retry...).Is(201, "")
	require.Equal(t, nodetest.Words("issued tickets"), a.Keys(""))
	require.Equal(t, 2.0, a.Data("issued"))
	require.Equal(t, "ann@example.org bob@example.org", a.Str("tickets.0.holder.email")+" "+a.Str("tickets.1.holder.email"))
	require.Equal(t, "0.00", a.Str("tickets.0.faceValue"))
	require.NotEqual(t, a.Str("tickets.0.orderId"), a.Str("tickets.1.orderId"))
	o := s.Own("GET", "/organizer/orders/"+a.Str("tickets.0.orderId"), nil).Is(200, "")
	require.Equal(t, "completed 0.00 Ann", o.Str("status")+" "+o.Str("total")+" "+o.Str("buyer.name"))
	require.Contains(t, s.Mail(t, "ann@example.org", "order_confirmation", start).Text, "> See you there!\n> Yours\n")
	s.Mail(t, "bob@example.org", "order_confirmation", start)
	s.Becomes("2", func() string { return fmt.Sprint(s.ToldOf("order.completed")) })

	t.Log("a repeat gives nothing more, whatever has been stored of the first answer")
	require.Equal(t, a.Body, s.Call("POST", path, body, retry...).Is(201, "").Body)
	_, err := s.Pool().Exec(t.Context(), `DELETE FROM idempotency`)
	require.NoError(t, err)
	require.Equal(t, a.Data("tickets.1.id"), s.Call("POST", path, body, retry...).Is(201, "").Data("tickets.1.id"))
	s.Restart()

	t.Log("all or none, with what is left for all")
	few := nodetest.CompsBody(types[0], "a@example.org", "b@example.org", "c@example.org", "d@example.org")
	s.Own("POST", path, few).Refused(409, "TICKET_SOLD_OUT", nodetest.Object{"ticketTypeId": types[0], "requested": 4, "available": 3})
	require.Equal(t, 3.0, s.Own("POST", path, nodetest.CompsBody(types[0], "a@example.org", "b@example.org", "ann@example.org")).Is(201, "").Data("issued"))
	s.Own("POST", path, nodetest.CompsBody(types[0], "e@example.org")).Is(409, "TICKET_SOLD_OUT")
}

func TestCompsRefused(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, types := s.OnSale(nodetest.TypeBody(50, 500))
	path, body := nodetest.CompsPath(event), nodetest.CompsBody(types[0], "ann@example.org")
	s.Own("POST", path, nodetest.With(body, nodetest.Object{"recipients": []nodetest.Object{}})).Invalid("recipients", "min_items")
	s.Own("POST", path, nodetest.CompsBody(types[0], slices.Repeat([]string{"ann@example.org"}, 201)...)).Invalid("recipients", "max_items")
	s.Own("POST", path, nodetest.CompsBody(types[0], "ann@example.org", "Ann@Example.org")).Invalid("recipients[1].email", "duplicate")
	s.Own("POST", path, nodetest.CompsBody(types[0], "ann")).Invalid("recipients[0].email", "format")
	s.Own("POST", path, nodetest.With(body, nodetest.Object{"note": nodetest.Text(501)})).Invalid("note", "max_length")
	s.Own("POST", path, nodetest.CompsBody(uuid.NewString(), "ann@example.org")).Is(404, "TICKET_TYPE_NOT_FOUND")
	s.Own("POST", nodetest.CompsPath("999999"), body).Is(404, "EVENT_NOT_FOUND")
	s.Call("POST", path, body).Is(401, "UNAUTHORIZED")
	s.Register(s.Email("eve")).Own("POST", path, body).Is(404, "EVENT_NOT_FOUND")
	s.As(s.Key(nodetest.Object{"scopes": []string{"tickets:write"}}).Str("secret")).Own("POST", path, body).Is(403, "FORBIDDEN")

	t.Log("tickets for seats and dates are issued")
	h := nodetest.SeatedIn(s)
	h.Own("POST", nodetest.CompsPath(h.Event), nodetest.CompsBody(h.Stalls, "ann@example.org")).Invalid("ticketTypeId", "format")
	booked, free := reservation(s, nodetest.Object{})
	s.Own("POST", nodetest.CompsPath(booked), nodetest.CompsBody(free, "ann@example.org")).Invalid("ticketTypeId", "format")

	t.Log("two hundred at once")
	var emails []string
	for i := range 200 {
		emails = append(emails, fmt.Sprintf("guest%d@example.org", i))
	}
	require.Equal(t, 200.0, s.Own("POST", path, nodetest.CompsBody(types[0], emails...)).Is(201, "").Data("issued"))
}

// TestImportComps reads recipients of files.
func TestImportComps(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.OnSale(nodetest.TypeBody(50, 600))
	path := nodetest.CompsPath(event) + "/import-csv"
	file := func(text string) nodetest.Answer {
		return s.Own("POST", path, nodetest.Object{"ticketTypeId": types[0], "csv": text})
	}
	a := file("\ufeffseat,\"E-Mail\",EMAIL , Name\r\n"+
		"1,x,ann@example.org,\"Quoted, \"\"Ann\"\"\"\r\n"+
		"2,x,not-an-address,Bob\r\n"+
		"3,x,ANN@example.org,Again\r\n"+
		"\r\n"+
		"4\r\n"+
		"5,x,cat@example.org,\"=HYPERLINK(\"\"http://x\"\")\"\r\n"+
		"6,x,dan@example.org,"+nodetest.Text(201)+"\r\n").Is(201, "")
	require.Equal(t, nodetest.Words("imported skipped errors"), a.Keys(""))
	require.Equal(t, 2.0, a.Data("imported"))
	require.Equal(t, 4.0, a.Data("skipped"))
	require.Equal(t, []any{
		map[string]any{"row": 3.0, "reason": "INVALID_EMAIL"},
		map[string]any{"row": 4.0, "reason": "DUPLICATE"},
		map[string]any{"row": 6.0, "reason": "INVALID_EMAIL"},
		map[string]any{"row": 8.0, "reason": "INVALID_NAME"},
	}, a.Data("errors"))
	orders := s.Own("GET", "/organizer/orders", nil).Is(200, "")
	require.ElementsMatch(t, []string{`Quoted, "Ann"`, `=HYPERLINK("http://x")`}, []string{orders.Str("items.0.buyer.name"), orders.Str("items.1.buyer.name")})

	require.Equal(t, 0.0, file("name,email\n").Is(201, "").Data("imported"))
	require.Equal(t, 1.0, file("sep=;\nemail;name\neve@example.org;Eve\n").Is(201, "").Data("imported"))
	file("email|name\nann@example.org|Ann\n").Invalid("csv", "format")
	file("email\nann@example.org\n").Invalid("csv", "format")
	file("name,email\n\"Ann,ann@example.org\n").Invalid("csv", "format")
	file("").Invalid("csv", "min_length")
	rows := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "n,a%d@example.org\n", i)
		}
		return "name,email\n" + b.String()
	}
	file(rows(501)).Invalid("csv", "max_items")
	require.Equal(t, 500.0, file(rows(500)).Is(201, "").Data("imported"))
	file(rows(98)).Refused(409, "TICKET_SOLD_OUT", nodetest.Object{"ticketTypeId": types[0], "requested": 98, "available": 97})
	s.Own("POST", path, nodetest.Object{"ticketTypeId": uuid.NewString(), "csv": "name,email\n"}).Is(404, "TICKET_TYPE_NOT_FOUND")
	s.Call("POST", path, nodetest.Object{"ticketTypeId": types[0], "csv": rows(1)}).Is(401, "UNAUTHORIZED")
}

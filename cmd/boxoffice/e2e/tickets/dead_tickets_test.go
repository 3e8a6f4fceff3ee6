package tickets

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/persisttest"
)

// deadTicket is a ticket that admitted its holder once, with what it admitted by.
type deadTicket struct {
	event, id       string
	order           nodetest.Answer
	qr, short, code string
	awayTo          string
}

// TestDeadTickets kills a ticket in each way there is, and looks for what admitted it at each door
// that shows tickets: none has it. Each door that takes tickets refuses it.
func TestDeadTickets(t *testing.T) {
	t.Parallel()
	persisttest.Program(t, "apt-get install poppler-utils", "pdftotext")
	s := nodetest.Open(t)
	refund := func(o nodetest.Answer, body nodetest.Object) {
		s.Own("POST", "/organizer/orders/"+o.Str("id")+"/refund", nodetest.With(nodetest.Object{"reason": "A gift of the house."}, body)).Is(200, "")
	}
	for name, kill := range map[string]struct {
		tickets int
		paid    bool
		by      func(d *deadTicket)
	}{
		"refunded":       {tickets: 1, by: func(d *deadTicket) { refund(d.order, nil) }},
		"partly":         {tickets: 2, by: func(d *deadTicket) { refund(d.order, nodetest.Object{"ticketIds": []string{d.id}}) }},
		"paid, refunded": {tickets: 1, paid: true, by: func(d *deadTicket) { refund(d.order, nil) }},
		"ended without money": {tickets: 2, paid: true, by: func(d *deadTicket) {
			refund(d.order, nodetest.Object{"ticketIds": []string{d.id}, "amount": 0})
		}},
		"event cancelled": {tickets: 1, by: func(d *deadTicket) {
			s.Own("DELETE", "/organizer/events/"+d.event, nodetest.Object{"reason": "storm"}).Is(200, "")
		}},
		"expired": {tickets: 1, by: func(d *deadTicket) {
			for _, status := range []string{"in_progress", "completed"} {
				s.Own("PUT", "/organizer/events/"+d.event+"/status", nodetest.Object{"status": status}).Is(200, "")
			}
		}},
		"passed on": {tickets: 1, by: func(d *deadTicket) {
			d.awayTo = "joe" + strings.ReplaceAll(d.id, "-", "") + "@example.org"
			began := time.Now()
			s.Call("POST", "/tickets/"+d.id+"/transfer", nodetest.Object{"toEmail": d.awayTo, "token": d.order.Str("accessToken")}).Is(201, "")
			s.Call("POST", "/tickets/transfers/"+s.ClaimToken(d.awayTo, began)+"/claim", nil).Is(200, "")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			price := 0
			if kill.paid {
				price = 10
			}
			event, ids := s.Sell(nil, nodetest.TypeBody(price, 10))
			buyer := "ada-" + strings.Trim(strings.NewReplacer(" ", "-", ",", "").Replace(name), "-") + "@example.org"
			o := s.Call("POST", "/orders", nodetest.OrderBody(buyer, ids[0], kill.tickets)).Is(201, "")
			if kill.paid {
				s.Settle(s.Checkout(o.Str("id"), o.Str("accessToken")), "success")
				s.Verify(o.Str("id"), o.Str("accessToken")).Is(200, "")
			}
			token := o.Str("accessToken")
			live := s.Order(o.Str("id"), token)
			d := &deadTicket{event: event, id: live.Str("tickets.0.id"), order: o, qr: live.Str("tickets.0.qr"), short: live.Str("tickets.0.shortCode"), code: live.Str("tickets.0.code")}
			require.Len(t, strings.Split(d.qr, "."), 4)
			s.Mailed() // the order's own letter, which is written while the ticket lives
			kill.by(d)
			s.Becomes("dead", func() string { // a busy node keeps an event's page for a second
				if s.Order(o.Str("id"), token).Str("tickets.0.code") == d.code {
					return "alive"
				}
				return "dead"
			})
			shown := shownOf(s, d, buyer)
			for door, shown := range shown {
				require.NotContains(t, shown, d.code, door)
				require.NotContains(t, shown, d.short, door)
				if door != "facts" { // they told of the ticket by a code that ended within seconds
					require.NotContains(t, shown, strings.Split(d.qr, ".")[1], door)
				}
			}
			refusedAtDoors(s, d)
		})
	}
}

// shownOf is what each door shows to its readers of an order, by the door's name.
func shownOf(s *nodetest.Shop, d *deadTicket, buyer string) map[string]string {
	s.T.Helper()
	id, token := d.order.Str("id"), "?token="+d.order.Str("accessToken")
	get := func(path string, headers ...string) string {
		require.NoError(s.T, s.AwaitLists(s.T.Context())) // a node makes nobody wait for others' writes
		return s.Raw("GET", path, "", "", headers...).Body
	}
	ada := s.Buyer(buyer)
	began := time.Now()
	shown := map[string]string{
		"page": s.AtRoot().Raw("GET", "/orders/"+id+token, "", "").Body, "order": get("/orders/" + id + token), "payment": get("/payments/" + id + token),
		"buyer's order": get("/orders/"+id, ada.Bearer()...), "wallet": get("/users/me/tickets", ada.Bearer()...), "export": get("/users/me/export", ada.Bearer()...),
		"facts": get("/organizer/facts?limit=100", s.Bearer()...), "calendar": get("/orders/" + id + "/calendar.ics" + token),
		"attendees": get("/organizer/events/"+d.event+"/attendees", s.Bearer()...), "attendees.csv": get("/organizer/events/"+d.event+"/attendees.csv", s.Bearer()...),
		"attendee": get("/organizer/events/"+d.event+"/attendees/"+d.id, s.Bearer()...),
	}
	if d.awayTo == "" {
		shown["organizer's order"] = get("/organizer/orders/"+id, s.Bearer()...)
	}
	shown["tool"], _, _ = s.Tool("get_order", nodetest.Object{"id": id, "token": d.order.Str("accessToken")})
	if r := s.Raw("GET", "/orders/"+id+"/tickets.pdf"+token, "", ""); r.Status == 200 {
		file := filepath.Join(s.T.TempDir(), "tickets.pdf")
		require.NoError(s.T, os.WriteFile(file, []byte(r.Body), 0o600))
		words, err := exec.CommandContext(s.T.Context(), "pdftotext", "-layout", file, "-").Output()
		require.NoError(s.T, err)
		shown["paper"] = string(words)
	}
	if r := s.Raw("POST", "/organizer/orders/"+id+"/resend", "", "", s.Bearer()...); r.Status == 200 {
		m := s.Mail(s.T, buyer, "order_confirmation", began)
		shown["mail"], shown["mail's calendar"] = m.Text+m.HTML, m.Calendar
	}
	return shown
}

// refusedAtDoors shows a dead ticket to every door that takes tickets.
func refusedAtDoors(s *nodetest.Shop, d *deadTicket) {
	s.T.Helper()
	for _, shown := range []string{d.qr, d.short} {
		require.Contains(s.T, s.Scan(d.event, shown, "a").Is(200, "").Str("status"), "denied_", shown)
		batch := nodetest.Object{"eventId": d.event, "scans": []nodetest.Object{{"qrData": shown, "scannedAt": nodetest.Stamp(2 * time.Second), "deviceId": "b"}}}
		require.Contains(s.T, s.Own("POST", "/checkin/batch", batch).Is(200, "").Str("results.0.status"), "denied_", shown)
	}
	manual := s.Own("POST", "/checkin/event/"+d.event+"/manual", nodetest.Object{"ticketCode": d.code})
	require.NotEqual(s.T, "success", manual.Get("data.status"), "%v", manual.Body)
	text, _, _ := s.Tool("scan_ticket", nodetest.Object{"eventId": d.event, "qrData": d.qr, "deviceId": "agent"})
	require.NotContains(s.T, text, "success")

	manifest := func() nodetest.Answer { return s.Own("GET", "/checkin/event/"+d.event+"/manifest", nil).Is(200, "") }
	sum := sha256.Sum256([]byte(manifest().Str("salt") + "|" + strings.Split(d.qr, ".")[1]))
	hash := base64.RawURLEncoding.EncodeToString(sum[:16])
	s.Becomes("dead", func() string {
		for _, row := range manifest().Data("tickets").([]any) {
			if row := row.(nodetest.Object); row["h"] == hash && fmt.Sprint(row["s"]) == "i" {
				return "alive"
			}
		}
		return "dead"
	})
}

package cluster

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
)

// ticketCodes are all that a holder may show of a ticket: the full code, which a person
// types, the door code, and both forms of the QR.
type ticketCodes struct{ full, door, rotating, printed string }

// show shows a code at a node's gate, as a device that has seen none.
func show(s *nodetest.Shop, event, code string, typed bool) string {
	s.T.Helper()
	device := fmt.Sprintf("%p-%s", s, code)
	if typed {
		body := nodetest.Object{"ticketCode": code, "deviceId": device}
		return s.Call("POST", "/checkin/event/"+event+"/manual", body, s.Bearer()...).Is(200, "").Str("status")
	}
	return s.Scan(event, code, device).Is(200, "").Str("status")
}

// showAll shows all codes at all nodes at once, and counts the verdicts.
func showAll(shops []*nodetest.Shop, event string, c ticketCodes) map[string]int {
	var mu sync.Mutex
	var all sync.WaitGroup
	verdicts := make(map[string]int)
	for _, s := range shops {
		for i, code := range []string{c.full, c.door, c.rotating, c.printed} {
			all.Go(func() {
				verdict := show(s, event, code, i == 0)
				mu.Lock()
				defer mu.Unlock()
				verdicts[verdict]++
			})
		}
	}
	all.Wait()
	return verdicts
}

// TestClaimedTicketAtEveryNode passes tickets on at one node after the other: as soon as the
// claim is answered, every form of the old code is denied at every node, and of the new
// forms one admits, once.
func TestClaimedTicketAtEveryNode(t *testing.T) {
	t.Parallel()
	shops := together(t, "one", "two", "three")
	event, ids := shops[0].OnSale(nodetest.TypeBody(0, 100))
	for _, s := range shops {
		s.Token = shops[0].Token
	}
	for i, s := range shops {
		o := s.Call("POST", "/orders", nodetest.OrderBody(fmt.Sprintf("ada-%d@example.org", i), ids[0], 1)).Is(201, "")
		id, err := engine.ParseID(o.Str("id"))
		require.NoError(t, err)
		keys := s.Secrets().Event(id.Event())
		serial, _, ok := keys.FromShort(o.Str("tickets.0.shortCode"))
		require.True(t, ok)
		old := ticketCodes{o.Str("tickets.0.code"), o.Str("tickets.0.shortCode"), o.Str("tickets.0.qr"), keys.Printed(serial, secrets.Version)}

		offer := nodetest.Object{"toEmail": fmt.Sprintf("bob-%d@example.org", i), "token": o.Str("accessToken")}
		shops[(i+1)%3].Call("POST", "/tickets/"+o.Str("tickets.0.id")+"/transfer", offer).Is(201, "")
		link := s.Secrets().TransferToken(id.Event(), serial, 1)
		got := shops[(i+2)%3].Call("POST", "/tickets/transfers/"+link+"/claim", nil).Is(200, "")
		require.Equal(t, map[string]int{"denied_cancelled": 12}, showAll(shops, event, old))

		_, version, ok := keys.FromShort(got.Str("shortCode"))
		require.True(t, ok)
		mine := ticketCodes{got.Str("code"), got.Str("shortCode"), got.Str("qr"), keys.Printed(serial, version)}
		require.Equal(t, map[string]int{"success": 1, "denied_duplicate": 11}, showAll(shops, event, mine))
	}
}

// TestNewTicketAtAnotherNode offers tickets at a node that has never heard of their order,
// as soon as they are sold: what was answered at one node is known at all.
func TestNewTicketAtAnotherNode(t *testing.T) {
	t.Parallel()
	shops := together(t, "one", "two")
	for range 2 {
		_, ids := shops[0].OnSale(nodetest.TypeBody(0, 100))
		for i := range 20 {
			o := shops[i%2].Call("POST", "/orders", nodetest.OrderBody(fmt.Sprintf("ada-%d@example.org", i), ids[0], 1)).Is(201, "")
			offer := nodetest.Object{"toEmail": "bob@example.org", "token": o.Str("accessToken")}
			shops[(i+1)%2].Call("POST", "/tickets/"+o.Str("tickets.0.id")+"/transfer", offer).Is(201, "")
		}
	}
}

package tickets

import (
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

var soldTickets = flag.Int("sold-tickets", 1_500, "of TestManyHolders: tickets of its event, by hundreds")

// hugeOrder is how many tickets an order may have at most.
const hugeOrder = 100

// TestManyHolders reads the lists of an event with many tickets, a page here and a page there,
// and logs how long each takes.
func TestManyHolders(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 1e6 }) // all come from one address
	event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(0, -1), nodetest.Object{"maxPerOrder": hugeOrder, "maxPerCustomer": 5 * hugeOrder}))
	orders, shown := make(chan int), make(chan nodetest.Answer, 10)
	var selling sync.WaitGroup
	for range 8 {
		selling.Go(func() {
			for i := range orders {
				email := fmt.Sprintf("buyer%d@example.org", max(i, 4)) // one has 500 tickets
				o := s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody(email, ids[0], hugeOrder), nodetest.Object{"guestName": fmt.Sprintf("Buyer %d", i)})).Is(201, "")
				if i < 10 {
					shown <- o
				}
			}
		})
	}
	for i := range *soldTickets / hugeOrder {
		orders <- i
	}
	close(orders)
	selling.Wait()
	close(shown)
	var codes []string
	for o := range shown {
		for i := range hugeOrder {
			codes = append(codes, o.Str(fmt.Sprintf("tickets.%d.code", i)))
		}
	}
	sold := fmt.Sprint(*soldTickets / hugeOrder * hugeOrder)
	require.NoError(t, s.Settled(t.Context()))
	buyer := s.Buyer("buyer4@example.org")
	buyer.Becomes("100", func() string {
		return fmt.Sprint(len(buyer.Own("GET", "/users/me/tickets?limit=100", nil).Is(200, "").Data("items").([]any)))
	})

	at := "/organizer/events/" + event
	read := func(by *nodetest.Shop, path string) nodetest.Answer {
		t.Helper()
		const times = 50
		var a nodetest.Answer
		took := make([]time.Duration, times)
		for i := range took {
			began := time.Now()
			a = by.Own("GET", path, nil).Is(200, "")
			took[i] = time.Since(began)
		}
		slices.Sort(took)
		t.Logf("p50 %s, p99 %s: %s", took[times/2].Round(time.Microsecond), took[times*99/100].Round(time.Microsecond), path)
		return a
	}
	s.Becomes(sold, func() string { return s.Own("GET", at+"/analytics", nil).Is(200, "").Str("total.count") })
	read(s, at+"/analytics?metric=sales&interval=hour")
	s.Becomes(sold, func() string {
		return s.Own("GET", "/organizer/analytics/summary?orgId="+s.Org(), nil).Is(200, "").Str("tickets")
	})
	read(s, "/organizer/analytics/summary?orgId="+s.Org())
	for _, filter := range []string{"", "?q=buyer7", "?q=nobody", "?status=checked_in", "?checkedIn=false"} {
		page := read(s, at+"/attendees"+filter)
		if page.Data("nextCursor") != nil {
			read(s, at+"/attendees?"+url.Values{"cursor": {page.Str("nextCursor")}}.Encode())
		}
	}
	for _, sort := range []string{"recent", "oldest", "name"} {
		read(s, "/organizer/customers?sort="+sort)
	}
	read(s, "/organizer/customers?q=buyer7")
	page := read(buyer, "/users/me/tickets?limit=100")
	require.NotNil(t, page.Data("nextCursor"))
	read(buyer, "/users/me/tickets?limit=100&cursor="+page.Str("nextCursor"))
	readManifest(s, event, codes)
}

// readManifest reads what a gate device keeps of an event, admits the tickets of some codes,
// and reads what has changed.
func readManifest(s *nodetest.Shop, event string, codes []string) {
	s.T.Helper()
	path := "/checkin/event/" + event + "/manifest"
	read := func(query string) (a nodetest.Answer) {
		s.T.Helper()
		began := time.Now()
		packed := s.Raw("GET", path+query, "", "", append(s.Bearer(), "Accept-Encoding", "gzip")...)
		took := time.Since(began)
		require.Equal(s.T, 200, packed.Status)
		a = s.Own("GET", path+query, nil).Is(200, "")
		s.T.Logf("%s, %d tickets in %d bytes packed: manifest%s", took.Round(time.Microsecond), len(a.Data("tickets").([]any)), len(packed.Body), query)
		return a
	}
	first := read("")
	require.Len(s.T, first.Data("tickets"), *soldTickets/hugeOrder*hugeOrder)
	read("")
	for some := range slices.Chunk(codes, 500) {
		var scans []nodetest.Object
		for _, code := range some {
			scans = append(scans, queue(code, "door", 0))
		}
		began := time.Now()
		verdicts := statuses(sendBatch(s, event, scans...).Is(200, ""))
		s.T.Logf("%s: a batch of %d", time.Since(began).Round(time.Microsecond), len(some))
		require.Equal(s.T, strings.TrimSpace(strings.Repeat("success ", len(some))), verdicts)
	}
	since := "?since=" + url.QueryEscape(first.Str("cursor"))
	s.Becomes(fmt.Sprint(len(codes)), func() string {
		return fmt.Sprint(len(s.Own("GET", path+since, nil).Is(200, "").Data("tickets").([]any)))
	})
	read(since)
}

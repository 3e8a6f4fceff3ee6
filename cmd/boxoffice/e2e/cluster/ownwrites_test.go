package cluster

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestOwnWritesAtEveryNode: what somebody has written through one node is in the list that they read
// next through another, however far behind the writers of lists are. Others do not wait for it.
func TestOwnWritesAtEveryNode(t *testing.T) {
	t.Parallel()
	shops := together(t, "one", "two")
	event, ids := shops[0].OnSale(nodetest.TypeBody(0, 100))
	mine, others := shops[0].As(shops[0].Key(nil).Str("secret")), shops[0].As(shops[0].Key(nil).Str("secret"))
	body := nodetest.Object{"items": []nodetest.Object{{"ticketTypeId": ids[0], "quantity": 1}}}
	for i := range shops {
		here, there := shops[i], shops[1-i]
		release := here.HoldBack()
		issued := here.Call("POST", "/events/"+event+"/issue", body, mine.Bearer()...).Is(201, "")
		read := make(chan nodetest.Answer, 1)
		go func() { read <- there.Call("GET", "/organizer/orders", nil, mine.Bearer()...) }()
		require.Len(t, there.Call("GET", "/organizer/orders", nil, others.Bearer()...).Is(200, "").Data("items"), i)
		release()
		a := (<-read).Is(200, "")
		require.NotContains(t, a.Body["data"], "stale")
		require.Len(t, a.Data("items"), i+1)
		require.Equal(t, issued.Str("order.id"), a.Str("items.0.id"))
	}
}

// TestOwnWritesUnderRush reads at one node what was written through the other while eight clients order as fast as they
// can: a list either has it or says that it is stale, and is never silently without it. On a busy machine the rush may
// leave an answer no time, so each request is repeated until it is answered, and a write is done once (Idempotency-Key).
func TestOwnWritesUnderRush(t *testing.T) {
	t.Parallel()
	const clients, writes = 8, 8
	shops := together(t, "one", "two")
	event, ids := shops[0].OnSale(nodetest.TypeBody(0, 100_000))
	mine, ada := shops[0].As(shops[0].Key(nil).Str("secret")), shops[0].Buyer("ada@example.org")
	ctx, stop := context.WithCancel(t.Context())
	var rush sync.WaitGroup
	var sold atomic.Int64
	for i := range clients {
		rush.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				guest := fmt.Sprintf("guest%d.%d@example.org", i, n)
				if shops[i%2].Call("POST", "/orders", nodetest.OrderBody(guest, ids[0], 1)).Status == 201 {
					sold.Add(1)
				}
			}
		})
	}
	defer rush.Wait()
	defer stop()
	stale := 0
	sees := func(at *nodetest.Shop, path, id string, by []string) {
		a := at.Patient("GET", path, nil, by...).Is(200, "")
		if a.Data("stale") == true {
			stale++
			return
		}
		require.Contains(t, fmt.Sprint(a.Data("items")), id, path)
	}
	for i := range writes {
		here, there := shops[i%2], shops[1-i%2]
		email := fmt.Sprintf("comp%d@example.org", i)
		issued := here.Patient("POST", "/events/"+event+"/issue", nodetest.Object{
			"items": []nodetest.Object{{"ticketTypeId": ids[0], "quantity": 1}}, "buyer": nodetest.Object{"email": email, "name": "Guest"},
		}, append(mine.Bearer(), "Idempotency-Key", uuid.NewString())...).Is(201, "")
		sees(there, "/organizer/orders?q="+email, issued.Str("order.id"), mine.Bearer())
		sees(there, "/organizer/events/"+event+"/attendees?q="+email, issued.Str("tickets.0.id"), mine.Bearer())
		order := here.Patient("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1),
			append(ada.Bearer(), "Idempotency-Key", uuid.NewString())...).Is(201, "")
		sees(there, "/users/me/tickets?limit=100", order.Str("tickets.0.id"), ada.Bearer())
	}
	t.Logf("%d orders of others meanwhile; %d of %d lists said that they are stale", sold.Load(), stale, 3*writes)
}

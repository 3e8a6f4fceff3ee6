package cluster

import (
	"testing"

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

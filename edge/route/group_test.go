package route_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// A row has from its group what it leaves out, and keeps what it says.
func TestTable(t *testing.T) {
	t.Parallel()
	ops := route.Table(route.Group{
		Prefix: "/api/v1/doors", Tag: "Doors", Auth: route.Member | route.Key, Read: route.EventsRead, Write: route.EventsWrite,
		Tier: route.TierAdmin, Errors: []engine.Code{engine.EventNotFound},
		Rows: []route.Op{
			{Method: "GET", ID: "listDoors"},
			{Method: "POST", Path: "/{id}", ID: "openDoor", Status: 201, Errors: []engine.Code{engine.Conflict}},
			{Method: "PUT", ID: "paintDoor", Tag: "Paint", Scope: route.TicketsWrite, Tier: route.TierStrict, Idempotency: route.ByActor},
		},
	})
	require.Len(t, ops, 3)
	read, write, own := ops[0], ops[1], ops[2]
	require.Equal(t, "/api/v1/doors", read.Path)
	require.Equal(t, route.EventsRead, read.Scope)
	require.Equal(t, 200, read.Status)
	require.Empty(t, read.Idempotency, "a read has none")
	require.Equal(t, []engine.Code{engine.EventNotFound}, read.Errors)

	require.Equal(t, "/api/v1/doors/{id}", write.Path)
	require.Equal(t, route.EventsWrite, write.Scope)
	require.Equal(t, 201, write.Status)
	require.Equal(t, route.Replay, write.Idempotency)
	require.Equal(t, []engine.Code{engine.EventNotFound, engine.Conflict}, write.Errors)

	require.Equal(t, "Paint", own.Tag)
	require.Equal(t, route.TicketsWrite, own.Scope)
	require.Equal(t, route.TierStrict, own.Tier)
	require.Equal(t, route.ByActor, own.Idempotency)
}

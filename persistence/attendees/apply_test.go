package attendees_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/attendees"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// TestCatchUpEnds makes sure that CatchUp ends if the read model lacks the orders of many tickets, which it may while it
// is built again.
func TestCatchUpEnds(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	const tickets = `
INSERT INTO tickets (event_id, type_id, order_id, serial, status) SELECT 1, 1, gen_random_uuid(), n, 0 FROM generate_series(1, 500) n`
	_, err := pool.Exec(t.Context(), tickets)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, attendees.New(pool, nil, nil).CatchUp(ctx, 1))
}

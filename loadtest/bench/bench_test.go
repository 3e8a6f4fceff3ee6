package main

import (
	"bufio"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func TestKeysAreUUIDs(t *testing.T) {
	t.Parallel()
	k := newKeys()
	seen := map[string]bool{}
	for _, n := range []uint64{0, 1, 255, 256, 1 << 40} {
		id, err := uuid.ParseBytes(k.append(nil, n))
		require.NoError(t, err)
		require.EqualValues(t, 4, id.Version())
		require.False(t, seen[id.String()])
		seen[id.String()] = true
	}
}

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20_000)
	in := bufio.NewReaderSize(strings.NewReader(
		"HTTP/1.1 201 Created\r\nServer: a\r\ncontent-LENGTH: 5\r\n\r\nfirst"+
			"HTTP/1.1 409 Conflict\r\nContent-Length: 20000\r\n\r\n"+long+
			"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"+
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), 8192)
	for _, want := range []struct {
		status int
		body   string
	}{{201, "first"}, {409, ""}, {200, ""}} {
		status, body, err := readAnswer(in)
		require.NoError(t, err)
		require.Equal(t, want.status, status)
		require.Equal(t, want.body, string(body))
	}
	_, _, err := readAnswer(in)
	require.ErrorContains(t, err, "without Content-Length")
}

// TestRowlockSellsEachTicketOnce makes sure that the baseline is correct, because a wrong one would
// be no baseline.
func TestRowlockSellsEachTicketOnce(t *testing.T) {
	t.Parallel()
	for variant := range placements {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			r, err := openRowlock(ctx, persisttest.DB(t), variant, 8)
			require.NoError(t, err)
			defer r.pool.Close()
			_, err = r.pool.Exec(ctx, `INSERT INTO rowlock_types VALUES ('t', 25, $1)`, cents)
			require.NoError(t, err)

			place := func(key uuid.UUID) (*api.Order, error) {
				op := route.Op{Timeout: time.Minute}
				c := route.NewCall(ctx, &op, time.Now())
				defer c.End()
				c.IdempotencyKey = key.String()
				return r.place(c, &api.PlaceOrder{GuestEmail: "a@b.c", Items: []api.OrderItem{{TicketTypeID: "t", Quantity: 2}}})
			}
			type placed struct {
				first, again      *api.Order
				refused, refused2 error
			}
			all := make([]placed, 20)
			var buyers sync.WaitGroup
			for i := range all {
				buyers.Go(func() {
					key, p := uuid.New(), &all[i]
					p.first, p.refused = place(key)
					p.again, p.refused2 = place(key)
				})
			}
			buyers.Wait()
			sold, soldOut := map[string]bool{}, 0
			for _, p := range all {
				if p.refused == nil {
					require.NoError(t, p.refused2)
					require.Equal(t, p.first.ID, p.again.ID)
					sold[p.first.ID] = true
					continue
				}
				refusal := &engine.Refusal{}
				require.ErrorAs(t, p.refused, &refusal)
				require.Equal(t, engine.TicketSoldOut, refusal.Code)
				soldOut++
			}
			require.Len(t, sold, 12)
			require.Equal(t, 8, soldOut)
			require.EqualValues(t, 1, count(t, r, "SELECT available FROM rowlock_types"))
			require.EqualValues(t, 12, count(t, r, "SELECT count(*) FROM rowlock_orders"))
		})
	}
}

func count(t *testing.T, r *rowlock, query string) (n int64) {
	t.Helper()
	require.NoError(t, r.pool.QueryRow(t.Context(), query).Scan(&n))
	return n
}

// TestRoomIsVerified lets visitors join through the actor of a node. Their places are those that the
// verifier computes from the leaves in the answers: otherwise the figures are of something wrong.
func TestRoomIsVerified(t *testing.T) {
	t.Parallel()
	at := &roomAt{Visitors: 3000}
	require.NoError(t, measureState(at))
	require.NoError(t, measureJoins(t.Context(), persisttest.DB(t), true, at))
	require.Positive(t, at.Joins)
}

// TestRatio makes sure that figures of rounds are medians, and that ratios are taken within a
// round.
func TestRatio(t *testing.T) {
	t.Parallel()
	at := func(cpu ...float64) (all []ordersAt) {
		for _, c := range cpu {
			all = append(all, ordersAt{ServerCPU: 0.75 * c, PgCPU: 0.25 * c, P99: -c})
		}
		return all
	}
	one, many := at(40, 60, 50), at(50, 63, 55) // 1.25, 1.05, 1.1
	require.InDelta(t, 1.1, ratio(many, one), 1e-9)
	require.InDelta(t, 1.25, ratio(many[:1], one), 1e-9)
	require.Zero(t, ratio(nil, one))
	require.Zero(t, ratio(many, nil))
	require.Equal(t, ordersAt{ServerCPU: 37.5, PgCPU: 12.5, P99: -50}, medianAt(one))
}

package deliveries

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence/publicfacts"
)

// fanMax is about how many deliveries one statement inserts at most. It bounds the memory of a transaction
// that publishes many facts to an organization with many endpoints.
const fanMax = 5_000

// FanOut adds facts to the queues of the endpoints that are subscribed to them, in the order of the
// facts, and wakes a deliverer. It is a publicfacts.Sink: it runs in the transaction that publishes
// the facts, so that each fact is queued exactly once.
func (s *Store) FanOut(ctx context.Context, tx pgx.Tx, facts []publicfacts.Fact) error {
	subscribed, err := findSubscribed(ctx, tx, facts)
	if err != nil || len(subscribed) == 0 {
		return err
	}
	var rows batch
	for i := range facts {
		f := &facts[i]
		for _, e := range subscribed[f.Org] {
			if e.Takes(f.Type) {
				rows.add(e.ID, f)
			}
		}
		if len(rows.endpoints) >= fanMax || i == len(facts)-1 {
			if err := rows.insert(ctx, tx); err != nil {
				return fmt.Errorf("fan facts out to webhooks: %w", err)
			}
		}
	}
	if rows.inserted == 0 {
		return nil
	}
	return s.wakeDeliverer(ctx, tx)
}

// findSubscribed returns the active endpoints of the facts' organizations, by organization. Whether
// an endpoint takes the type of a fact is for the caller to check.
func findSubscribed(ctx context.Context, tx pgx.Tx, facts []publicfacts.Fact) (map[int64][]*Endpoint, error) {
	orgs := make([]int64, len(facts))
	for i := range facts {
		orgs[i] = facts[i].Org
	}
	slices.Sort(orgs)
	rows, _ := tx.Query(ctx, `SELECT `+columns+` FROM webhook_endpoints WHERE org = ANY ($1) AND status = 'active' ORDER BY id`,
		slices.Compact(orgs)) // CollectRows returns its error
	all, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[Endpoint])
	if err != nil {
		return nil, fmt.Errorf("read webhook endpoints: %w", err)
	}
	byOrg := make(map[int64][]*Endpoint)
	for _, e := range all {
		byOrg[e.Org] = append(byOrg[e.Org], e)
	}
	return byOrg, nil
}

// batch is a list of deliveries to insert. It has a slice for each column, because unnest takes
// columns. inserted counts the rows of all inserts so far.
type batch struct {
	endpoints, facts, streams []int64
	ids, types                []string
	sizes                     []int32
	inserted                  int64
}

// add adds one delivery of a fact to the batch. Its size, in bytes, is only used to limit what a
// page loads.
func (b *batch) add(endpoint int64, f *publicfacts.Fact) {
	b.endpoints, b.facts, b.streams = append(b.endpoints, endpoint), append(b.facts, f.Position), append(b.streams, f.Stream)
	b.ids, b.types = append(b.ids, f.ID), append(b.types, f.Type)
	b.sizes = append(b.sizes, int32(min(len(f.Data), 1<<30))) //nolint:gosec // bounded
}

// insert writes the added deliveries and empties the batch. Ids are given in the order of the
// facts, and first attempts are made in the order of ids. A fact that the endpoint already has is left
// out.
func (b *batch) insert(ctx context.Context, tx pgx.Tx) error {
	if len(b.endpoints) == 0 {
		return nil
	}
	tag, err := tx.Exec(ctx, `INSERT INTO webhook_deliveries (endpoint, fact, event_id, type, stream, size)
		SELECT endpoint, fact, id, type, stream, size
		FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::int[]) WITH ORDINALITY
			AS n(endpoint, fact, id, type, stream, size, at) ORDER BY at
		ON CONFLICT (endpoint, event_id) WHERE replay_of IS NULL DO NOTHING`,
		b.endpoints, b.facts, b.ids, b.types, b.streams, b.sizes)
	*b = batch{inserted: b.inserted + tag.RowsAffected()}
	return err
}

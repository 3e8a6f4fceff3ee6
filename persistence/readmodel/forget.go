package readmodel

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
)

// Forget deletes all rows that were made of a stream's facts, except search_words, which events share. When the
// facts are applied again from the first on, they make the same rows, without what the sweep noted in them.
func Forget(ctx context.Context, tx pgx.Tx, ref engine.Ref) error {
	b := &pgx.Batch{}
	switch ref.Kind { //nolint:exhaustive // the others have no rows
	case engine.KindEvent:
		first, next := [16]byte(engine.NewID(ref.ID, make([]byte, 10))), [16]byte(engine.NewID(ref.ID+1, make([]byte, 10)))
		// Payments and refunds are found by their orders, so they go before the orders do.
		b.Queue(`DELETE FROM payments p USING orders o WHERE o.id >= $1 AND o.id < $2 AND p.order_id = o.id`, first, next)
		b.Queue(`DELETE FROM refunds r USING orders o WHERE o.id >= $1 AND o.id < $2 AND r.order_id = o.id`, first, next)
		b.Queue(`DELETE FROM orders WHERE id >= $1 AND id < $2`, first, next)
		b.Queue(`DELETE FROM tickets WHERE event_id = $1`, ref.ID)
		b.Queue(`DELETE FROM ticket_holders WHERE event_id = $1`, ref.ID)
		b.Queue(`DELETE FROM events WHERE number = $1`, ref.ID)
	case engine.KindInventory:
		b.Queue(`DELETE FROM ticket_types WHERE number = $1`, ref.ID)
	case engine.KindPromo:
		b.Queue(`DELETE FROM promo_codes WHERE number = $1`, ref.ID)
	case engine.KindWallet:
		b.Queue(`DELETE FROM wallet_entries WHERE org = $1 AND currency = $2`, ref.Home, ref.ID)
		b.Queue(`DELETE FROM wallets WHERE org = $1 AND currency = $2`, ref.Home, ref.ID)
	}
	if b.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("readmodel: forget %s: %w", ref.Name(), err)
	}
	return nil
}

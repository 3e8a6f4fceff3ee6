package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/promo"
	"boxoffice/persistence/codec"
)

// promoFact queues the statement that applies a fact to a promo code's row. Used counts uses by sold orders,
// less those that refunds gave back.
func (w *Writer) promoFact(ref engine.Ref, f engine.Fact) error {
	const create = `
INSERT INTO promo_codes (number, org, event, created_at, updated_at, disabled, used, record) VALUES ($1, $2, $3, $4, $4, false, 0, $5)`
	const update = `UPDATE promo_codes SET event = $2, updated_at = $3, record = $4 WHERE number = $1`
	switch f := f.(type) {
	case *promo.Created:
		record, err := codec.Marshal(f.Details)
		w.batch.Queue(create, ref.ID, ref.Home, f.Details.Event, time.UnixMilli(f.At), record)
		return err
	case *promo.Updated:
		record, err := codec.Marshal(f.Details)
		w.batch.Queue(update, ref.ID, f.Details.Event, time.UnixMilli(f.At), record)
		return err
	case *promo.DisabledFact:
		w.batch.Queue(`UPDATE promo_codes SET disabled = true, updated_at = $2 WHERE number = $1`, ref.ID, time.UnixMilli(f.At))
	case *promo.Removed:
		w.batch.Queue(`DELETE FROM promo_codes WHERE number = $1`, ref.ID)
	case *keeper.ReturnedFact:
		w.batch.Queue(`UPDATE promo_codes SET used = used - 1 WHERE number = $1`, ref.ID)
	case *keeper.CommittedFact:
		w.batch.Queue(`UPDATE promo_codes SET used = used + 1 WHERE number = $1`, ref.ID)
	}
	return nil
}

// PromoCode is a promo code's record.
type PromoCode struct {
	Ref       engine.Ref
	Details   promo.Details
	CreatedAt int64 // unix milliseconds
	UpdatedAt int64
	Disabled  bool
	Used      int64 // uses by sold orders, less those that refunds gave back
}

// PromoPlace is a promo code's place in a list that begins with the newest.
type PromoPlace struct {
	CreatedAt int64 // unix milliseconds
	Number    int64
}

// PromoCodes lists an organization's promo codes, the newest first. If event is not 0, it lists only those for this
// event. After is the place of the last code of the page before; the zero value asks for the first page.
func (m *Model) PromoCodes(ctx context.Context, org, event int64, after PromoPlace, limit int) ([]PromoCode, error) {
	const find = `
SELECT number, created_at, updated_at, disabled, used, record FROM promo_codes
WHERE org = $1 AND ($2::bigint = 0 OR event = $2) AND ($4::bigint = 0 OR (created_at, number) < ($3, $4))
ORDER BY created_at DESC, number DESC LIMIT $5`
	rows, _ := m.pool.Query(ctx, find, org, event, time.UnixMilli(after.CreatedAt), after.Number, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p PromoCode, err error) {
		var number int64
		var created, updated time.Time
		var record []byte
		if err := row.Scan(&number, &created, &updated, &p.Disabled, &p.Used, &record); err != nil {
			return p, err
		}
		p.Ref, p.CreatedAt, p.UpdatedAt = engine.PromoRef(org, number), created.UnixMilli(), updated.UnixMilli()
		return p, codec.Unmarshal(record, &p.Details)
	})
	if err != nil {
		return nil, fmt.Errorf("promo codes: %w", err)
	}
	return list, nil
}

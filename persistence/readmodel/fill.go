package readmodel

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine/event"
	"boxoffice/persistence/codec"
)

// fillAtOnce is how many events are made searchable in one transaction.
const fillAtOnce = 500

// FillSearch makes searchable the events that a release without the search columns has written. No migration
// can do it, because the words are in the records, which SQL can't read. A node calls it when it starts, after
// the migrations. Several nodes may do so at once: a row that one has written is left alone by the others.
func FillSearch(ctx context.Context, pool *pgxpool.Pool) error {
	const find = `SELECT number, record FROM events WHERE title_words IS NULL ORDER BY number LIMIT $1`
	const fill = `
UPDATE events SET search = $2, words = $3, title_words = $4, city_words = $5, venue_words = $6 WHERE number = $1 AND title_words IS NULL`
	for {
		rows, _ := pool.Query(ctx, find, fillAtOnce) // ForEachRow returns its error
		b := &pgx.Batch{}
		var number int64
		var record []byte
		_, err := pgx.ForEachRow(rows, []any{&number, &record}, func() error {
			d := new(event.Details)
			if codec.Unmarshal(record, d) != nil {
				d = new(event.Details) // a record that can't be read gets empty words, so it is not tried again
			}
			s := searchColumns(d)
			b.Queue(fill, number, s.search, s.words, s.title, s.city, s.venue)
			return nil
		})
		if err == nil && b.Len() > 0 {
			err = pool.SendBatch(ctx, b).Close()
		}
		if err != nil {
			return fmt.Errorf("readmodel: make events searchable: %w", err)
		}
		// A page that is not full was the last one.
		if b.Len() < fillAtOnce {
			return nil
		}
	}
}

package migrate_test

import (
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/migrate"
	"boxoffice/persistence/persisttest"
)

// TestRowsBecomeBatches makes sure that what was journaled with one row for each stream is there
// with one row for each commit, by stream and by writer, before and after it was indexed, and that
// the journal goes on from there.
func TestRowsBecomeBatches(t *testing.T) {
	t.Parallel()
	dsn := persisttest.Empty(t)
	conn := connect(t, dsn)
	require.NoError(t, migrate.UpTo(t.Context(), conn, 15))
	_, err := conn.Exec(t.Context(), `
INSERT INTO writers (node, closed_at) VALUES ('a', now()), ('b', NULL);
INSERT INTO streams (stream_id, name, epoch, writer) VALUES (1, 'event/1/1', 2, 2), (2, 'inventory/1/11', 1, 1);
CREATE TABLE journal_20261121 PARTITION OF journal FOR VALUES FROM ('2026-11-21') TO ('2026-11-22');
CREATE TABLE journal_20261122 PARTITION OF journal FOR VALUES FROM ('2026-11-22') TO ('2026-11-23');
INSERT INTO journal (stream_id, first_seq, last_seq, epoch, writer, batch, day, facts) VALUES
  (2, 1, 2, 1, 1, 1, '2026-11-21', 'onetwo'),
  (1, 1, 1, 1, 1, 1, '2026-11-21', 'first'),
  (2, 3, 3, 1, 1, 2, '2026-11-22', ''),
  (1, 2, 4, 2, 2, 1, '2026-11-22', 'second')`)
	require.NoError(t, err)
	require.NoError(t, migrate.Up(t.Context(), conn))

	pool, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	reader := journal.NewReader(pool)
	event, stock := engine.EventRef(1), engine.InventoryRef(1, 11)
	requireAll := func() {
		t.Helper()
		require.Equal(t, []journal.Record{
			{Stream: 1, First: 1, Last: 1, Epoch: 1, Bytes: []byte("first")}, {Stream: 1, First: 2, Last: 4, Epoch: 2, Bytes: []byte("second")},
		}, load(t, reader, 1, 0))
		require.Equal(t, []journal.Record{
			{Stream: 2, First: 1, Last: 2, Epoch: 1, Bytes: []byte("onetwo")}, {Stream: 2, First: 3, Last: 3, Epoch: 1, Bytes: []byte{}},
		}, load(t, reader, 2, 0))
		require.Len(t, load(t, reader, 1, 3), 1)
		require.Empty(t, load(t, reader, 1, 4))
		var batches []journal.Batch
		for w := range int32(2) {
			for b, err := range reader.ReadWriter(t.Context(), w+1, 0) {
				require.NoError(t, err)
				batches = append(batches, b)
			}
		}
		require.Equal(t, []journal.Batch{
			{Writer: 1, Seq: 1, Records: []journal.Record{
				{Ref: stock, Stream: 2, First: 1, Last: 2, Epoch: 1, Bytes: []byte("onetwo")},
				{Ref: event, Stream: 1, First: 1, Last: 1, Epoch: 1, Bytes: []byte("first")},
			}},
			{Writer: 1, Seq: 2, Records: []journal.Record{{Ref: stock, Stream: 2, First: 3, Last: 3, Epoch: 1, Bytes: []byte{}}}},
			{Writer: 2, Seq: 1, Records: []journal.Record{{Ref: event, Stream: 1, First: 2, Last: 4, Epoch: 2, Bytes: []byte("second")}}},
		}, batches)
		heads := make(map[engine.Ref]int64)
		for s, err := range reader.Streams(t.Context()) {
			require.NoError(t, err)
			heads[s.Ref] = s.Head
		}
		require.Equal(t, map[engine.Ref]int64{event: 4, stock: 3}, heads)
	}
	requireAll()
	writers, err := reader.Writers(t.Context())
	require.NoError(t, err)
	for _, w := range writers {
		require.True(t, w.Closed, "a node of the release before would go on")
	}

	j, err := journal.Open(t.Context(), journal.Config{Pool: pool, Node: "a", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true, Lanes: 1})
	require.NoError(t, err)
	requireAll()
	var tails int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM tails`).Scan(&tails))
	require.Equal(t, 1, tails, "those of closed writers are in the spans")
	require.NoError(t, j.Stop(t.Context()))
}

func load(t *testing.T, j *journal.Reader, stream, after int64) (all []journal.Record) {
	t.Helper()
	for r, err := range j.Load(t.Context(), stream, after) {
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

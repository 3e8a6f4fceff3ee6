// Package retention drops old days of the journal, and with them the last copies of data whose erasure people
// have asked for. It owns the table floors.
//
// A day is dropped when all followers have passed it, no fact of it is set aside, and every stream with facts in
// it has a later snapshot that can be read and has only facts that the journal has (it is founded). That
// snapshot becomes the stream's floor, and the snapshots before it are deleted. Floors are raised one by one,
// and the day is dropped in one transaction that checks all of this again, so that a node that dies at any time
// leaves nothing that can't be loaded.
//
// The followers' positions are in home, the database that has everything but the journal and may have the journal too.
//
// Each shard of a journal has a Keeper. One node of a cluster runs it, until its context ends.
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/persistence"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/snapshot"
)

const every = 10 * time.Minute // pause between two sweeps

// Keeper drops the days of a journal that are older than its retention.
type Keeper struct {
	home      *pgxpool.Pool
	pool      *pgxpool.Pool // database of the journal, or of one shard of it
	snapshots *snapshot.Store
	keep      time.Duration
	followers []string
	log       *slog.Logger
}

// New makes a keeper of the journal in pool, or of one shard of it, whose followers keep their
// positions in home. followers are those that must have passed a day even if they have never begun.
func New(home, pool *pgxpool.Pool, keep time.Duration, log *slog.Logger, followers ...string) *Keeper {
	return &Keeper{home, pool, snapshot.New(pool), keep, followers, log}
}

// Run drops old days until the context ends. With a retention of 0 it keeps all days.
func (k *Keeper) Run(ctx context.Context) {
	if k.keep == 0 {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			err := panics.Catch(k.log, "journal retention", func() error { return k.Sweep(ctx, time.Now()) })
			if err != nil && ctx.Err() == nil {
				k.log.WarnContext(ctx, "a day of the journal is kept", slog.Any("error", err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// Sweep drops the days that are older than the retention, the oldest first, up to a day that has to stay. Its
// error says why that day has to stay, or what has failed.
func (k *Keeper) Sweep(ctx context.Context, now time.Time) error {
	days, err := journal.Days(ctx, k.pool)
	if err != nil {
		return err
	}
	for _, day := range days {
		if !day.Add(24 * time.Hour).Before(now.Add(-k.keep)) {
			return nil
		}
		if err := k.raiseFloors(ctx, day); err != nil {
			return err
		}
		err := journal.DropDay(ctx, k.pool, day, func(ctx context.Context, tx pgx.Tx) error { return k.refuseDrop(ctx, tx, day) })
		if err != nil {
			return err
		}
		k.log.InfoContext(ctx, "a day of the journal was dropped", slog.String("day", day.Format(time.DateOnly)))
	}
	return nil
}

// uncovered selects the streams with facts in a day that are after their floors.
const uncovered = `
SELECT s.stream_id, st.name, s.last FROM (SELECT stream_id, max(last_seq) AS last FROM spans WHERE day = @day GROUP BY stream_id) s
JOIN streams st USING (stream_id) LEFT JOIN floors f USING (stream_id) WHERE coalesce(f.seq, 0) < s.last ORDER BY s.stream_id LIMIT @most`

// maxFloors bounds how many floors one sweep raises for a day. The next sweep raises further ones.
const maxFloors = 10_000

// raiseFloors makes the last snapshots of a day's streams their floors, if those snapshots contain
// the day's facts. It takes at most maxFloors streams, which have no such floor yet.
func (k *Keeper) raiseFloors(ctx context.Context, day time.Time) error {
	rows, _ := k.pool.Query(ctx, uncovered, pgx.NamedArgs{"day": day, "most": maxFloors}) // CollectRows returns its error
	type stream struct {
		ID   int64
		Name string
		Last int64
	}
	streams, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stream])
	if err != nil {
		return fmt.Errorf("retention: streams of a day: %w", err)
	}
	for _, s := range streams {
		if err := k.raiseFloor(ctx, s.ID, s.Name, s.Last); err != nil {
			return fmt.Errorf("retention: %s: %w", s.Name, err)
		}
	}
	return nil
}

// raiseFloor makes a stream's latest snapshot its floor and deletes the snapshots before it, if that snapshot
// contains the fact last and is founded. It returns an error if the snapshot can't be read.
func (k *Keeper) raiseFloor(ctx context.Context, stream int64, name string, last int64) error {
	v, frozen, err := k.snapshots.Load(ctx, stream, snapshot.Latest)
	if err != nil || v.Seq < last {
		return err
	}
	ref, err := engine.ParseRef(name)
	if err != nil {
		return err
	}
	if err := checkFrozen(ref, frozen); err != nil {
		return err
	}
	// A snapshot is founded if no later epoch has written the fact with which it ends. Otherwise
	// its activation had facts that the journal refused.
	const raise = `
INSERT INTO floors (stream_id, epoch, seq)
SELECT $1, $2::int, $3::bigint FROM records_of($1, $3::bigint - 1, $3) r WHERE r.first_seq <= $3 AND r.epoch <= $2
ON CONFLICT (stream_id) DO UPDATE SET epoch = excluded.epoch, seq = excluded.seq WHERE floors.seq < excluded.seq`
	return pgx.BeginFunc(ctx, k.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, raise, stream, v.Epoch, v.Seq)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM snapshots WHERE stream_id = $1 AND (epoch, seq) < ($2, $3)`, stream, v.Epoch, v.Seq)
		return err
	})
}

// checkFrozen returns an error if a snapshot can't be read or breaks an invariant.
func checkFrozen(ref engine.Ref, frozen []byte) error {
	kind, err := all.Kind(ref.Kind)
	if err != nil {
		return err
	}
	v := kind.Frozen()
	if err := codec.Unmarshal(frozen, v); err != nil {
		return err
	}
	state, err := kind.Thaw(ref, v)
	if err != nil {
		return err
	}
	return state.Check()
}

// Held is the reason why a day has to stay.
type Held struct {
	Why string // one of the reasons below
	By  string // name of the follower, stream or other cause that holds the day
}

// Error returns the reason as a text.
func (h *Held) Error() string { return "retention: " + h.Why + ": " + h.By }

// reason is a query that finds a cause for which a day has to stay.
type reason struct{ why, by string }

// ofHome are asked of the database that has the followers' positions. Positions only rise, so a follower that
// has passed a day that is over has passed it for good.
var ofHome = []reason{
	{"a follower has not passed the day", `
SELECT n.name FROM (SELECT DISTINCT name FROM followers UNION SELECT unnest(@followers::text[])) n
CROSS JOIN unnest(@writers::int[], @lasts::bigint[]) AS j(writer, batch)
LEFT JOIN followers f ON f.name = n.name AND f.writer = j.writer WHERE coalesce(f.batch, 0) < j.batch ORDER BY 1 LIMIT 1`},
	{"a fact of the day is set aside", `
SELECT s.follower || ' ' || s.aggregate FROM set_aside s
JOIN unnest(@writers::int[], @firsts::bigint[], @lasts::bigint[]) AS j(writer, first, last) ON j.writer = s.writer AND s.batch BETWEEN j.first AND j.last
WHERE s.done_at IS NULL LIMIT 1`},
}

// ofJournal are the reasons that are looked for in the database with the journal.
var ofJournal = []reason{
	{"the day is not indexed", `
SELECT t.writer::text FROM tails t JOIN journal j ON j.writer = t.writer AND j.batch > t.batch WHERE j.day = @day LIMIT 1`},
	{"a stream has no snapshot of the day's facts", `SELECT u.name FROM (` + uncovered + `) u`},
}

// refuseDrop returns a *Held if a day has to stay, or an error if it can't read. q is the journal's
// database.
func (k *Keeper) refuseDrop(ctx context.Context, q persistence.Querier, day time.Time) error {
	stretches, err := journal.DayStretches(ctx, k.pool, day)
	if err != nil {
		return err
	}
	var writers []int32
	var firsts, lasts []int64
	for _, s := range stretches {
		writers, firsts, lasts = append(writers, s.Writer), append(firsts, s.First), append(lasts, s.Last)
	}
	args := pgx.NamedArgs{"writers": writers, "firsts": firsts, "lasts": lasts, "followers": k.followers}
	if err := findReason(ctx, k.home, ofHome, args); err != nil {
		return err
	}
	return findReason(ctx, q, ofJournal, pgx.NamedArgs{"day": day, "most": 1})
}

// findReason returns the first reason that holds, as a *Held, or nil if none does.
func findReason(ctx context.Context, q persistence.Querier, reasons []reason, args pgx.NamedArgs) error {
	for _, r := range reasons {
		var by string
		err := q.QueryRow(ctx, r.by, args).Scan(&by)
		if err == nil {
			return &Held{r.why, by}
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("retention: %w", err)
		}
	}
	return nil
}

// Standing says how far back the journal goes.
type Standing struct {
	Days   int    `json:"days"`
	Oldest string `json:"oldest"`         // the oldest day
	Held   string `json:"held,omitempty"` // why the oldest day would have to stay
}

// Stand reads how far back the journal in pool goes, or one shard of it, whose followers keep their positions in home.
func Stand(ctx context.Context, home, pool *pgxpool.Pool) (Standing, error) {
	k := &Keeper{home: home, pool: pool}
	days, err := journal.Days(ctx, k.pool)
	if err != nil || len(days) == 0 {
		return Standing{}, err
	}
	s := Standing{Days: len(days), Oldest: days[0].Format(time.DateOnly)}
	err = k.refuseDrop(ctx, pool, days[0])
	if held, ok := errors.AsType[*Held](err); ok {
		s.Held, err = held.Why+": "+held.By, nil
	}
	return s, err
}

package mailqueue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
)

// TestEveryFactIsJudged: a fact of an event mails something, or it is known that
// it does not.
func TestEveryFactIsJudged(t *testing.T) {
	t.Parallel()
	quiet := map[engine.FactType]bool{}
	for _, f := range silent {
		quiet[f.FactType()] = true
	}
	for _, def := range event.Facts {
		require.NotEqual(t, rules[def.Type] != nil, quiet[def.Type], def.Name)
	}
	require.Len(t, event.Facts, len(rules)+len(silent))
}

func TestQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work(w.sent.send)
	id := NewID()
	want := Mail{ID: id, Template: LoginCode, To: "ada@example.org", Name: "Ada", Secret: []byte{0, 1, 255}}
	require.NoError(t, w.queue.Add(t.Context(), want))
	require.NoError(t, w.queue.Add(t.Context(), Mail{Template: Invitation, Name: "a\x00\\u0000\xff", To: "eve@example.org"}))
	w.done()
	require.Len(t, w.sent.all(), 2)
	for _, l := range w.sent.all() {
		require.WithinDuration(t, time.Now(), l.Queued, time.Minute)
		require.True(t, l.end.After(time.Now()))
		if l.Queued, l.end = (time.Time{}), (time.Time{}); l.Template == LoginCode {
			require.Equal(t, want, l)
			continue
		}
		require.Len(t, l.ID, 32)
		require.NotEqual(t, id, l.ID)
		require.Equal(t, "a\ufffd\\ufffd\ufffd", l.Name)
	}
	require.InDelta(t, 1, testutil.ToFloat64(w.queue.sent.WithLabelValues("login_code")), 0)
	require.Equal(t, map[string]int{"completed": 2}, w.states())
}

// TestQueueFull: there is a limit to what waits.
func TestQueueFull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.pool.Exec(t.Context(), `INSERT INTO river_job (state, queue, kind, args, max_attempts) SELECT 'available', $1, 'mail', '{}', 5 FROM generate_series(1, $2::int)`,
		promptQueue, promptMax)
	require.NoError(t, err)
	var refusal *engine.Refusal
	require.ErrorAs(t, w.queue.Add(t.Context(), Mail{Template: LoginCode, To: "ada@example.org"}), &refusal)
	require.Equal(t, engine.Overloaded, refusal.Code)
	require.InDelta(t, promptMax, testutil.ToFloat64(w.queue.queued), 0)
}

// TestOnce: what has a subject is put out once, whoever puts it out and when; and
// not by a transaction that fails.
func TestOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mail := Mail{Template: OrderConfirmation, Subject: "7/1", Order: "x"}
	undone := errors.New("undone")
	require.ErrorIs(t, pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
		require.NoError(t, w.queue.AddIn(t.Context(), tx, mail))
		return undone
	}), undone)
	require.Empty(t, w.put())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
				other := mail
				other.Template = RefundDue
				return w.queue.AddIn(t.Context(), tx, mail, other, mail, Mail{Template: Invitation}, Mail{Template: Invitation})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	count, ids := map[Template]int{}, map[string]bool{}
	for _, l := range w.put() {
		count[l.Template]++
		ids[l.ID] = true
	}
	require.Equal(t, map[Template]int{OrderConfirmation: 1, RefundDue: 1, Invitation: 16}, count)
	require.Len(t, ids, 18)
	w.work(w.sent.send)
	w.done()
	_, err := w.pool.Exec(t.Context(), `DELETE FROM river_job`) // as River does after a while
	require.NoError(t, err)
	w.tx(func(tx pgx.Tx) error { return w.queue.AddIn(t.Context(), tx, mail) })
	require.Empty(t, w.put())
}

// TestAttempts follows a mail of each mail whose every attempt fails: it is
// tried until its life is over, and never after it.
func TestAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for mail, terms := range table {
		tries := 0
		c := &sender{Queue: w.queue, send: func(context.Context, *Mail) (bool, error) {
			tries++
			return false, errLater
		}}
		begun := time.Now()
		job := &river.Job[Mail]{JobRow: &rivertype.JobRow{CreatedAt: begun}, Args: Mail{Template: mail}}
		age := time.Duration(0)
		for {
			job.Attempt++
			job.CreatedAt = begun.Add(-age)
			require.LessOrEqual(t, age, terms.life)
			err := c.Work(t.Context(), job)
			if cancelled, ok := errors.AsType[*river.JobCancelError](err); ok {
				require.ErrorIs(t, cancelled, errLater)
				break
			}
			require.ErrorIs(t, err, errLater)
			pause := time.Until(c.NextRetry(job))
			require.InEpsilon(t, pauses[job.Attempt-1], pause, 0.15, "attempt %d", job.Attempt)
			age += pause
		}
		t.Logf("%s: %d attempts in %v", mail, tries, age.Round(time.Second))
		require.Equal(t, job.Attempt, tries)
		require.GreaterOrEqual(t, tries, 5)
		require.Less(t, tries, len(pauses)+1, "River would end it before we do")
		require.InDelta(t, 1, testutil.ToFloat64(w.queue.dead.WithLabelValues(string(mail))), 0)
		require.InDelta(t, tries-1, testutil.ToFloat64(w.queue.deferred.WithLabelValues(string(mail))), 0)

		job.Attempt, job.CreatedAt = 1, begun.Add(-terms.life-time.Second)
		before := tries
		require.ErrorContains(t, c.Work(t.Context(), job), "too late")
		require.Equal(t, before, tries)
	}
}

// TestMailOfALaterRelease: while two releases run side by side, a node may get a mail that only
// nodes of the later release can write. It leaves that mail to them, for a day.
func TestMailOfALaterRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := &sender{Queue: w.queue, send: func(context.Context, *Mail) (bool, error) {
		t.Error("a mail was written that this node cannot know")
		return false, nil
	}}
	job := &river.Job[Mail]{JobRow: &rivertype.JobRow{Attempt: 1, CreatedAt: time.Now()}, Args: Mail{Template: "ticket_forged"}}
	var snooze *river.JobSnoozeError
	require.ErrorAs(t, c.Work(t.Context(), job), &snooze)
	require.Equal(t, unknownPause, snooze.Duration)

	job.CreatedAt = job.CreatedAt.Add(-unknownLife - time.Second)
	require.ErrorIs(t, c.Work(t.Context(), job), ErrUndeliverable)
	require.InDelta(t, 1, testutil.ToFloat64(w.queue.dead.WithLabelValues("ticket_forged")), 0)
}

// TestFailures: a mail that cannot be delivered is given up, one that may be is
// tried again under the same id, and one that says nothing is done.
func TestFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var tries atomic.Int64
	var ids sync.Map
	w.work(func(_ context.Context, l *Mail) (bool, error) {
		switch l.To {
		case "nobody":
			return false, fmt.Errorf("%w: SMTP 550", ErrUndeliverable)
		case "silence":
			return false, nil
		}
		ids.Store(l.ID, true)
		if tries.Add(1) == 1 {
			return false, errLater
		}
		return true, nil
	})
	for _, to := range []string{"nobody", "silence", "ada"} {
		require.NoError(t, w.queue.Add(t.Context(), Mail{Template: PasswordChanged, To: to}))
	}
	const hurry = `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE state IN ('available', 'retryable') AND cardinality(errors) = 1`
	require.Eventually(t, func() bool {
		tag, err := w.pool.Exec(t.Context(), hurry)
		return err == nil && tag.RowsAffected() == 1
	}, within, 10*time.Millisecond)
	w.done()
	n := 0
	ids.Range(func(any, any) bool { n++; return true })
	require.Equal(t, 1, n)
	require.EqualValues(t, 2, tries.Load())
	require.Equal(t, map[string]int{"completed": 2, "cancelled": 1}, w.states())
	for counter, want := range map[string]float64{
		"sent": testutil.ToFloat64(w.queue.sent.WithLabelValues("password_changed")),
		"dead": testutil.ToFloat64(w.queue.dead.WithLabelValues("password_changed")),
	} {
		require.InDelta(t, 1, want, 0, counter)
	}
}

// TestAudienceWaitsAlone has every worker of a broadcast wait for the mail server: mails that
// follow from orders are sent meanwhile.
func TestAudienceWaitsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mails []Mail
	for range 60 { // more than the workers of a queue
		mails = append(mails, Mail{Template: Broadcast, To: "bob@example.org"})
	}
	w.tx(func(tx pgx.Tx) error { return w.queue.AddIn(t.Context(), tx, mails...) })
	stuck, confirmed := make(chan struct{}), make(chan struct{}, 1)
	defer w.work(func(_ context.Context, l *Mail) (bool, error) {
		if l.Template == Broadcast {
			<-stuck
		} else {
			confirmed <- struct{}{}
		}
		return true, nil
	})()
	defer close(stuck)
	require.Eventually(t, func() bool { return w.states()["running"] >= 50 }, within, 10*time.Millisecond)
	w.tx(func(tx pgx.Tx) error { return w.queue.AddIn(t.Context(), tx, Mail{Template: OrderConfirmation}) })
	select {
	case <-confirmed:
	case <-time.After(within):
		require.Fail(t, "the confirmation waits behind the broadcast")
	}
}

// TestBusy: while the node is busy, mails that can wait go slowly, and those
// that somebody waits for as ever.
func TestBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent []Template
		o := &Queue{log: slog.New(slog.DiscardHandler), busy: func() bool { return true }}
		o.makeMetrics()
		c := &sender{Queue: o, send: func(_ context.Context, l *Mail) (bool, error) {
			sent = append(sent, l.Template)
			return true, nil
		}}
		for mail, want := range map[Template]time.Duration{OrderConfirmation: busyPause, LoginCode: 0} {
			begun := time.Now()
			require.NoError(t, c.Work(t.Context(), &river.Job[Mail]{JobRow: &rivertype.JobRow{CreatedAt: begun, Attempt: 1}, Args: Mail{Template: mail}}))
			require.Equal(t, want, time.Since(begun), mail)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := c.Work(ctx, &river.Job[Mail]{JobRow: &rivertype.JobRow{CreatedAt: time.Now(), Attempt: 1}, Args: Mail{Template: OrderConfirmation}})
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, sent, 2)
	})
}

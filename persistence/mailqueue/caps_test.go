package mailqueue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// mails puts mails out that each have a subject of their own.
func (w *world) addMails(count int) []Mail {
	w.t.Helper()
	all := make([]Mail, count)
	for i := range all {
		all[i] = Mail{Template: OrderConfirmation, Subject: fmt.Sprintf("%s/%d", w.t.Name(), i)}
	}
	w.tx(func(tx pgx.Tx) error { return w.queue.AddIn(w.t.Context(), tx, all...) })
	for i := range all {
		all[i].end = time.Now().Add(24 * time.Hour)
	}
	return all
}

// admitted says how long a mail has to wait.
func (w *world) admitted(l *Mail, u Unpaid) time.Duration {
	w.t.Helper()
	err := w.queue.Admit(w.t.Context(), l, u)
	if c, ok := errors.AsType[*capped](err); ok {
		return c.wait
	}
	require.NoError(w.t, err)
	return 0
}

// organization makes an organization, with the platform's mark or without.
func (w *world) organization(id int64, verified bool) {
	w.t.Helper()
	const add = `INSERT INTO organizations (id, name, slug, verified) OVERRIDING SYSTEM VALUE VALUES ($1::bigint, 'Hall', $1::bigint::text, $2)`
	_, err := w.pool.Exec(w.t.Context(), add, id, verified)
	require.NoError(w.t, err)
}

// TestCapOfNewOrganizations: an organization that has proven no mailbox writes to nobody by itself,
// and what it causes otherwise has one count for the day, whatever has been paid.
func TestCapOfNewOrganizations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.organization(7, false)
	w.organization(8, true)
	list := w.addMails(NewCap + 3)
	for i := range NewCap {
		require.Zero(t, w.admitted(&list[i], Unpaid{Recipient: fmt.Sprintf("%d@example.org", i), Organization: 7}))
	}
	late := &list[NewCap]
	require.Equal(t, provenPause, w.admitted(late, Unpaid{Recipient: "ada@example.org", Organization: 7, Own: true}))
	late.end = time.Now().Add(48 * time.Hour)
	wait := w.admitted(late, Unpaid{Recipient: "ada@example.org", Organization: 7})
	require.Positive(t, wait)
	require.LessOrEqual(t, wait, 24*time.Hour)
	late.end = time.Now()
	require.ErrorIs(t, w.queue.Admit(t.Context(), late, Unpaid{Recipient: "ada@example.org", Organization: 7}), ErrUndeliverable)
	require.Zero(t, w.admitted(&list[NewCap+1], Unpaid{Recipient: "ada@example.org", Organization: 8, Own: true}), "the platform knows this one")
	_, err := w.queue.AdmitNow(t.Context(), Unpaid{Recipient: "eve@example.org", Organization: 7, Own: true})
	require.ErrorIs(t, err, ErrUnproven)
	wait, err = w.queue.AdmitNow(t.Context(), Unpaid{Recipient: "eve@example.org", Organization: 7})
	require.NoError(t, err)
	require.Positive(t, wait)
}

// TestCaps: two queues, as of two nodes, let as many mails go as a cap has, and give
// each of the others a moment of its own. A mail is counted once.
func TestCaps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.organization(7, true)
	other := *w
	other.queue = w.open()
	const more = 5
	list := w.addMails(RecipientCap + more + 1)
	var wg sync.WaitGroup
	waits := make([]time.Duration, RecipientCap+more)
	for i := range waits {
		at := [2]*world{w, &other}[i%2]
		wg.Go(func() { waits[i] = at.admitted(&list[i], Unpaid{Recipient: "ada@example.org", Organization: 7}) })
	}
	wg.Wait()
	step, places := CapWindow/RecipientCap, map[int]bool{}
	for i, wait := range waits {
		if wait > 0 {
			places[int((wait+step/2)/step)] = true
		}
		require.InDelta(t, wait.Seconds(), w.admitted(&list[i], Unpaid{Recipient: "ADA@example.org"}).Seconds(), 10, "another attempt is not counted")
	}
	require.Equal(t, map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true}, places)
	require.Zero(t, w.admitted(&list[RecipientCap+more], Unpaid{Recipient: "eve@example.org", Organization: 7}), "another address, with room for the organization")

	t.Log("a mail whose moment comes is sent, and one that would wait for too long is given up and takes no place")
	_, err := w.pool.Exec(t.Context(), `UPDATE mails SET slot = now() WHERE slot > now()`)
	require.NoError(t, err)
	for i := range waits {
		require.Zero(t, w.admitted(&list[i], Unpaid{Recipient: "ada@example.org"}))
	}
	last := w.addMails(1)[0]
	last.ID, last.end = NewID(), time.Now().Add(step)
	before := w.freeAt()
	require.ErrorIs(t, w.queue.Admit(t.Context(), &last, Unpaid{Recipient: "ada@example.org"}), ErrUndeliverable)
	require.Equal(t, before, w.freeAt())

	t.Log("what is free again is forgotten")
	require.NoError(t, w.queue.Prune(t.Context()))
	require.Len(t, w.freeAt(), 3)
	_, err = w.pool.Exec(t.Context(), `UPDATE mail_caps SET free_at = now() - interval '1 second'`)
	require.NoError(t, err)
	require.NoError(t, w.queue.Prune(t.Context()))
	require.Empty(t, w.freeAt())
}

// freeAt is what the caps have counted.
func (w *world) freeAt() []time.Time {
	w.t.Helper()
	rows, _ := w.pool.Query(w.t.Context(), `SELECT free_at FROM mail_caps ORDER BY subject`) // CollectRows returns its error
	all, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	require.NoError(w.t, err)
	return all
}

// TestOwnShare: what strangers have sent to an address does not hold up what its owner has asked
// for, and there is an end to that too.
func TestOwnShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := w.addMails(RecipientCap + 1 + OwnShare)
	for i := range RecipientCap {
		require.Zero(t, w.admitted(&list[i], Unpaid{Recipient: "ada@example.org"}))
	}
	for i := range OwnShare {
		require.Zero(t, w.admitted(&list[RecipientCap+i], Unpaid{Recipient: "ada@example.org", Asked: true}))
	}
	require.Positive(t, w.admitted(&list[RecipientCap+OwnShare], Unpaid{Recipient: "ada@example.org", Asked: true}))
}

// TestCapsOfAnOrganization: mails to many addresses are counted together.
func TestCapsOfAnOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.organization(7, true)
	list := w.addMails(2)
	_, err := w.pool.Exec(t.Context(), `INSERT INTO mail_caps (subject, free_at)
		VALUES (substr(sha256('organization/7'), 1, 16), now() + $1::interval)`, CapWindow)
	require.NoError(t, err)
	require.Positive(t, w.admitted(&list[0], Unpaid{Recipient: "ada@example.org", Organization: 7}))
	require.Zero(t, w.admitted(&list[1], Unpaid{Recipient: "eve@example.org", Organization: 8}))
}

// TestCappedMailWaits: the job of a mail beyond a cap is put off without using up
// an attempt, and the mail goes out once at its moment.
func TestCappedMailWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.pool.Exec(t.Context(), `INSERT INTO mail_caps (subject, free_at)
		VALUES (substr(sha256('recipient/ada@example.org'), 1, 16), now() + $1::interval)`, CapWindow)
	require.NoError(t, err)
	w.created()
	w.happen(w.bought("ada@example.org")...)
	w.work(func(ctx context.Context, l *Mail) (bool, error) {
		if err := w.queue.Admit(ctx, l, Unpaid{Recipient: "ada@example.org"}); err != nil {
			return false, err
		}
		return w.sent.send(ctx, l)
	})
	require.Eventually(t, func() bool {
		var n int
		err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE kind = 'mail' AND state = 'scheduled' AND attempt = 0
			AND scheduled_at BETWEEN now() + interval '2 minutes' AND now() + interval '4 minutes'`).Scan(&n)
		return err == nil && n == 1
	}, within, 5*time.Millisecond)
	require.Empty(t, w.sent.all())
	_, err = w.pool.Exec(t.Context(), `UPDATE mails SET slot = now() WHERE slot IS NOT NULL`)
	require.NoError(t, err)
	w.soon()
	w.done()
	require.Len(t, w.sent.all(), 1)
}

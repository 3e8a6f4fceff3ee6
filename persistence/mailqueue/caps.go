package mailqueue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Mails that nobody pays for are capped, so that nobody can flood others through us. Both caps are
// multiplied by Config.Scale, and count on all nodes together.
const (
	// RecipientCap is how many such mails one address is sent in a CapWindow.
	RecipientCap = 20
	// OrganizationCap is how many such mails an organization causes in a CapWindow.
	OrganizationCap = 3_000
	// CapWindow is how long it takes until a cap that is used up is free again.
	CapWindow = time.Hour
)

// Unpaid says for whom a mail that nobody pays for is counted.
type Unpaid struct {
	Recipient    string // e-mail address
	Organization int64  // 0: none
}

// Admit counts a mail that has a Subject, only once for all of its attempts. It returns nil if the
// mail may be sent now. A mail beyond a cap gets the next free moment and must wait for it: Send
// returns Admit's error. If that moment comes after the end of the mail's life, the error wraps
// ErrUndeliverable.
func (o *Queue) Admit(ctx context.Context, l *Mail, u Unpaid) error {
	id, err := hex.DecodeString(l.ID)
	if err != nil {
		return fmt.Errorf("%w: id of a mail: %w", ErrUndeliverable, err)
	}
	var wait time.Duration
	err = pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		counted := false
		const before = `SELECT slot IS NOT NULL, coalesce(slot - now(), '0') FROM mails WHERE id = $1 FOR NO KEY UPDATE`
		if err := tx.QueryRow(ctx, before, id).Scan(&counted, &wait); err != nil && !errors.Is(err, pgx.ErrNoRows) || counted {
			return err
		}
		if wait, err = o.reserve(ctx, tx, u); err != nil {
			return err
		}
		if time.Now().Add(wait).After(l.end) {
			return errFlood // the reservation is rolled back
		}
		_, err := tx.Exec(ctx, `UPDATE mails SET slot = now() + $2::interval WHERE id = $1`, id, wait)
		return err
	})
	switch {
	case errors.Is(err, errFlood):
		return fmt.Errorf("%w: %w", ErrUndeliverable, err)
	case err != nil:
		return fmt.Errorf("mailqueue: count a mail: %w", err)
	case wait > 0:
		return &capped{wait}
	}
	return nil
}

// AdmitNow counts a mail that somebody sends at once. A mail beyond a cap is not counted, and must
// not be sent before wait is over.
func (o *Queue) AdmitNow(ctx context.Context, u Unpaid) (wait time.Duration, err error) {
	err = pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) (err error) {
		if wait, err = o.reserve(ctx, tx, u); err == nil && wait > 0 {
			err = errFlood // the reservation is rolled back
		}
		return err
	})
	if err != nil && !errors.Is(err, errFlood) {
		return 0, fmt.Errorf("mailqueue: count a mail: %w", err)
	}
	return wait, nil
}

var errFlood = errors.New("mailqueue: too many mails that nobody paid for")

// capped is the error of a mail that must wait because of the caps.
type capped struct{ wait time.Duration }

func (c *capped) Error() string { return errFlood.Error() }

// reserve takes the next place in each cap for which a mail counts, and returns how long it is
// until the later place. All transactions take the recipient's place first, so that they cannot
// deadlock.
func (o *Queue) reserve(ctx context.Context, tx pgx.Tx, u Unpaid) (wait time.Duration, err error) {
	// free_at moves on by one step for each mail that was counted. If it is more than a window from
	// now, the mail comes too early by the difference.
	const take = `
INSERT INTO mail_caps AS c (subject, free_at) VALUES ($1, now() + $2::interval)
ON CONFLICT (subject) DO UPDATE SET free_at = greatest(c.free_at, now()) + $2::interval
RETURNING greatest(free_at - $3::interval - now(), '0')`
	for _, c := range []struct {
		subject string
		most    int
		counts  bool
	}{
		{"recipient/" + strings.ToLower(u.Recipient), RecipientCap, true},
		{"organization/" + strconv.FormatInt(u.Organization, 10), OrganizationCap, u.Organization != 0},
	} {
		if !c.counts {
			continue
		}
		step := CapWindow / time.Duration(max(1, math.Ceil(float64(c.most)*o.scale)))
		hash, early := sha256.Sum256([]byte(c.subject)), time.Duration(0)
		if err := tx.QueryRow(ctx, take, hash[:16], step, CapWindow).Scan(&early); err != nil {
			return 0, fmt.Errorf("mailqueue: reserve in a cap: %w", err)
		}
		wait = max(wait, early)
	}
	return wait, nil
}

// Prune forgets the counts that no longer matter to a cap.
func (o *Queue) Prune(ctx context.Context) error {
	if _, err := o.pool.Exec(ctx, `DELETE FROM mail_caps WHERE free_at < now()`); err != nil {
		return fmt.Errorf("mailqueue: forget counts: %w", err)
	}
	return nil
}

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

	"boxoffice/persistence/accounts"
)

// Mails that nobody pays for are capped, so that nobody can flood others through us. The caps are
// multiplied by Config.Scale, and count on all nodes together.
const (
	// RecipientCap is how many such mails one address is sent in a CapWindow.
	RecipientCap = 20
	// OwnShare is how many more that may be if the recipient has asked for them: what strangers have
	// sent to an address must not hold up what its owner waits for.
	OwnShare = 5
	// OrganizationCap is how many such mails an organization causes in a CapWindow.
	OrganizationCap = 3_000
	// CapWindow is how long it takes until a cap that is used up is free again.
	CapWindow = time.Hour
	// NewCap is how many such mails an organization causes in a day of UTC until somebody has paid
	// an order of it. A registration costs nothing, and the mails leave under our name.
	NewCap = 100
	// AskedCap is how many mails people are sent about such an organization in a day because somebody has
	// entered their address. The organization may be that somebody, and the mails have its words.
	AskedCap = 1_000
)

// provenPause is after how long a mail of an organization that has not proven its mailbox is looked
// at again.
const provenPause = 10 * time.Minute

// Unpaid says for whom a mail that nobody pays for is counted.
type Unpaid struct {
	Recipient    string // the e-mail address that the mail goes to
	Asked        bool   // the recipient has caused the mail, and has shown a proof of the address
	Organization int64  // the number of the organization that causes the mail, by itself or by what it gives away; 0: none does
	// Own reports whether the organization itself writes, rather than somebody who deals with it.
	// Until it has proven its mailbox, it writes to nobody.
	Own bool
	// About is the organization that the mail is about, if somebody has entered the recipient's address to
	// follow it, or to wait for what it sells; 0: nobody has.
	About int64
}

// ErrUnproven says that an organization must prove its mailbox before it writes to people.
var ErrUnproven = errors.New("mailqueue: the organization has not proven its mailbox")

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
		if wait, err = o.reserveCaps(ctx, tx, u); err != nil {
			return err // the reservation is rolled back
		}
		if time.Now().Add(wait).After(l.end) {
			return errFlood // the reservation is rolled back
		}
		_, err := tx.Exec(ctx, `UPDATE mails SET slot = now() + $2::interval WHERE id = $1`, id, wait)
		return err
	})
	if later, ok := errors.AsType[*capped](err); ok && !time.Now().Add(later.wait).After(l.end) {
		return later
	}
	switch {
	case errors.Is(err, errFlood), errors.Is(err, ErrUnproven):
		return fmt.Errorf("%w: %w", ErrUndeliverable, err)
	case err != nil:
		return fmt.Errorf("mailqueue: count a mail: %w", err)
	case wait > 0:
		return &capped{errFlood, wait}
	}
	return nil
}

// AdmitNow counts a mail that somebody sends at once. A mail beyond a cap is not counted, and must
// not be sent before wait is over. The error may be ErrUnproven.
func (o *Queue) AdmitNow(ctx context.Context, u Unpaid) (wait time.Duration, err error) {
	err = pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) (err error) {
		if wait, err = o.reserveCaps(ctx, tx, u); err == nil && wait > 0 {
			err = errFlood // the reservation is rolled back
		}
		return err
	})
	if later, ok := errors.AsType[*capped](err); ok && errors.Is(err, errFlood) {
		return later.wait, nil
	}
	if err != nil && !errors.Is(err, errFlood) {
		return 0, fmt.Errorf("mailqueue: count a mail: %w", err)
	}
	return wait, nil
}

var errFlood = errors.New("mailqueue: too many mails that nobody paid for")

// capped is the error of a mail that must wait.
type capped struct {
	error // errFlood or ErrUnproven, whichever makes the mail wait

	wait time.Duration
}

// Unwrap lets errors.Is find out whether the cap or the missing proof is the reason.
func (c *capped) Unwrap() error { return c.error }

// reserveCaps takes the next place in each cap for which a mail counts, and returns how long it is
// until the later place. It decides for all mails that organizations cause. All transactions take
// the recipient's place first and the new organization's last, so that they cannot deadlock.
func (o *Queue) reserveCaps(ctx context.Context, tx pgx.Tx, u Unpaid) (wait time.Duration, err error) {
	// free_at moves on by one step for each mail that was counted. If it is more than a window from
	// now, the mail comes too early by the difference.
	const take = `
INSERT INTO mail_caps AS c (subject, free_at) VALUES ($1, now() + $2::interval)
ON CONFLICT (subject) DO UPDATE SET free_at = greatest(c.free_at, now()) + $2::interval
RETURNING greatest(free_at - $3::interval - now(), '0')`
	own := 0
	if u.Asked {
		own = OwnShare
	}
	for _, c := range []struct {
		subject    string
		most, more int
		counts     bool
	}{
		{"recipient/" + strings.ToLower(u.Recipient), RecipientCap, own, true},
		{"organization/" + strconv.FormatInt(u.Organization, 10), OrganizationCap, 0, u.Organization != 0},
	} {
		if !c.counts {
			continue
		}
		// A mail moves free_at by a step, so that as many steps as the cap has places make a window. The room of a
		// recipient who asked is larger by as many steps as there are more places.
		step := CapWindow / time.Duration(max(1, math.Ceil(float64(c.most)*o.scale)))
		hash, early := sha256.Sum256([]byte(c.subject)), time.Duration(0)
		room := CapWindow + time.Duration(math.Ceil(float64(c.more)*o.scale))*step
		if err := tx.QueryRow(ctx, take, hash[:16], step, room).Scan(&early); err != nil {
			return 0, fmt.Errorf("mailqueue: reserve in a cap: %w", err)
		}
		wait = max(wait, early)
	}
	switch {
	case u.Organization != 0:
		return wait, o.reserveOfNew(ctx, tx, "new", u.Organization, u.Own, NewCap)
	case u.About != 0:
		return wait, o.reserveOfNew(ctx, tx, "asked", u.About, false, AskedCap)
	}
	return wait, nil
}

// reserveOfNew takes a place among the mails of a kind that an organization may cause in a day while nobody has
// paid it. If there is no place left, the error says how long the mail must wait.
func (o *Queue) reserveOfNew(ctx context.Context, tx pgx.Tx, kind string, org int64, own bool, most int) error {
	trust, err := accounts.ReadTrust(ctx, tx, org)
	switch {
	case err != nil:
		return fmt.Errorf("mailqueue: %w", err)
	case own && !trust.Proven:
		return &capped{ErrUnproven, provenPause}
	case trust.Proven && trust.Paid:
		return nil
	}
	// Each day has a row of its own. A mail moves free_at on from the end of the day by one step;
	// when that comes to a whole day, no more mails leave today.
	const take = `
INSERT INTO mail_caps AS c (subject, free_at) VALUES ($1, $2::timestamptz + $3::interval)
ON CONFLICT (subject) DO UPDATE SET free_at = c.free_at + $3::interval
RETURNING free_at - $2`
	const day = 24 * time.Hour
	ends := time.Now().UTC().Truncate(day).Add(day)
	step, taken := day/time.Duration(math.Ceil(float64(most)*o.scale)), time.Duration(0)
	hash := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", kind, org, ends.Format(time.DateOnly)))
	if err := tx.QueryRow(ctx, take, hash[:16], ends, step).Scan(&taken); err != nil {
		return fmt.Errorf("mailqueue: reserve of a new organization: %w", err)
	}
	if taken > day {
		return &capped{errFlood, time.Until(ends)}
	}
	return nil
}

// MayLink reports whether an organization's texts may have links in mails to people who have not
// asked for them: somebody has paid an order of it.
func (o *Queue) MayLink(ctx context.Context, org int64) (bool, error) {
	trust, err := accounts.ReadTrust(ctx, o.pool, org)
	return trust.Proven && trust.Paid, err
}

// Prune forgets the counts that no longer matter to a cap.
func (o *Queue) Prune(ctx context.Context) error {
	if _, err := o.pool.Exec(ctx, `DELETE FROM mail_caps WHERE free_at < now()`); err != nil {
		return fmt.Errorf("mailqueue: forget counts: %w", err)
	}
	return nil
}

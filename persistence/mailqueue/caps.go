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

// These caps are for mails that nobody pays for, so that nobody can flood strangers through us. All
// caps are multiplied by Config.Scale, and count the mails of all nodes together.
const (
	// RecipientCap is how many such mails one address is sent in a CapWindow.
	RecipientCap = 20
	// OwnShare is how many mails more than RecipientCap an address may be sent if its owner has
	// asked for them. Without it, mails that strangers caused could use up the cap and hold up the
	// mail that the owner waits for.
	OwnShare = 5
	// OrganizationCap is how many such mails an organization causes in a CapWindow.
	OrganizationCap = 3_000
	// CapWindow is how long it takes until a cap that is used up is completely free again. Places
	// become free one by one during that time.
	CapWindow = time.Hour
	// NewCap is how many such mails an organization causes in a day of UTC until its mailbox is proven and
	// somebody has paid an order of it. A registration costs nothing, and the mails leave under our name.
	NewCap = 100
	// AskedCap is how many mails in a day of UTC may leave about such an organization because
	// somebody has entered an address to follow it or to wait for its tickets. The organization
	// itself could be the one that enters addresses, and the mails contain its words.
	AskedCap = 1_000
)

// provenPause is how long a mail waits if its organization has not proven its mailbox. Then the
// mail is tried again, and leaves if the proof has come.
const provenPause = 10 * time.Minute

// Unpaid says against which caps a mail that nobody pays for counts.
type Unpaid struct {
	Recipient    string // the e-mail address that the mail goes to
	Asked        bool   // the recipient has caused the mail, and has shown a proof of the address
	Organization int64  // the number of the organization that causes the mail, by itself or by what it gives away; 0: none does
	// Own reports whether the organization itself writes, rather than somebody who deals with it.
	// An organization must prove its own mailbox first: until then, its mails leave for nobody.
	Own bool
	// About is the organization that the mail is about, if somebody has entered the recipient's address to
	// follow it, or to wait for what it sells; 0: nobody has.
	About int64
}

// ErrUnproven says that an organization must prove its mailbox before it writes to people. It is not the error of a
// cap that is used up, so that a caller can tell the organization what to do.
var ErrUnproven = errors.New("mailqueue: the organization has not proven its mailbox")

// Admit counts a mail that has a Subject, once for all attempts to send it. It returns nil if the
// mail may be sent now. A mail beyond a cap is given the next free moment and must wait for it:
// Send returns Admit's error, and the worker then puts the mail off until that moment. If the
// moment comes after the end of the mail's life, the error wraps ErrUndeliverable, and the mail
// counts against no cap.
func (o *Queue) Admit(ctx context.Context, l *Mail, u Unpaid) error {
	id, err := hex.DecodeString(l.ID)
	if err != nil {
		return fmt.Errorf("%w: id of a mail: %w", ErrUndeliverable, err)
	}
	var wait time.Duration
	err = pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		counted := false
		// An earlier attempt may have counted the mail and stored its moment in slot. The lock on
		// the row keeps a second worker from counting it at the same time. A mail without a row
		// in mails is counted on each attempt.
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
	// reserveCaps itself asks the mail to wait, for a day or for a proof. The wait is stored
	// nowhere: the next attempt asks again.
	if later, ok := errors.AsType[*capped](err); ok && !time.Now().Add(later.wait).After(l.end) {
		return later
	}
	switch {
	// No attempt during the mail's life could succeed, so the worker must give the mail up.
	case errors.Is(err, errFlood), errors.Is(err, ErrUnproven):
		return fmt.Errorf("%w: %w", ErrUndeliverable, err)
	case err != nil:
		return fmt.Errorf("mailqueue: count a mail: %w", err)
	case wait > 0:
		return &capped{errFlood, wait}
	}
	return nil
}

// AdmitNow counts a mail that its caller sends at once instead of queueing it. If the mail is
// beyond a cap, it is not counted, and the caller must not send it before wait is over. The error
// may be ErrUnproven.
func (o *Queue) AdmitNow(ctx context.Context, u Unpaid) (wait time.Duration, err error) {
	err = pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) (err error) {
		if wait, err = o.reserveCaps(ctx, tx, u); err == nil && wait > 0 {
			err = errFlood // the reservation is rolled back
		}
		return err
	})
	// An organization that is new must wait until tomorrow. An unproven one is not told to wait,
	// but returned as an error: waiting alone does not help it.
	if later, ok := errors.AsType[*capped](err); ok && errors.Is(err, errFlood) {
		return later.wait, nil
	}
	if err != nil && !errors.Is(err, errFlood) {
		return 0, fmt.Errorf("mailqueue: count a mail: %w", err)
	}
	return wait, nil
}

// errFlood rolls back a reservation that has no use, and is the reason in the log of a mail that
// waits for a cap.
var errFlood = errors.New("mailqueue: too many mails that nobody paid for")

// capped is the error of a mail that must wait. The worker recognizes it and puts the mail off
// without counting the attempt as a failure.
type capped struct {
	error // errFlood or ErrUnproven, whichever makes the mail wait

	wait time.Duration
}

// Unwrap lets errors.Is tell the two reasons apart: a cap that is used up, or a missing proof.
func (c *capped) Unwrap() error { return c.error }

// reserveCaps takes the next place in each cap against which a mail counts. wait is the time until the later of
// the recipient's place and the organization's is free. The cap of a new organization gives no such time: if no
// place is left, or if the organization has to prove its mailbox first, the error is a *capped, and the caller
// rolls back (reserveOfNew). Every transaction takes the place of the recipient first, then the organization's,
// and last the one of the new organization that writes or that the mail is about: two transactions that lock the
// same rows in the same order can't deadlock.
func (o *Queue) reserveCaps(ctx context.Context, tx pgx.Tx, u Unpaid) (wait time.Duration, err error) {
	// Each cap is a row with one time, free_at, which moves on by one step for each mail that was
	// counted. A cap of n mails has a step of a window divided by n. If free_at lies more than one
	// window in the future, the last window is full, and the mail is too early by the difference.
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
		// The step makes as many mails as the cap allows fill exactly one window. The room of a
		// recipient who asked for the mail is longer than a window by one step for each
		// additional mail.
		step := CapWindow / time.Duration(max(1, math.Ceil(float64(c.most)*o.scale)))
		// Subjects contain addresses, so the table stores only their hash. Half of a SHA-256 is
		// enough to keep them apart, and has the size of a uuid.
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

// reserveOfNew takes one of the places that an organization has in a day, as long as it has not proven its
// mailbox and been paid for an order. kind tells apart the cap of the mails that it causes and the cap of the
// mails that others ask for about it. If no place is left, the error is a capped with the time until the day
// ends. If own is set and the mailbox is not proven, it is a capped with ErrUnproven.
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
	// Each day of UTC has a row of its own, which starts at the end of that day. A mail moves
	// free_at on by one step, a day divided by the cap. When the steps add up to more than a day,
	// no more mails leave today.
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

// MayLink reports whether an organization's texts may contain links in mails to people who have not
// asked for them. That takes a proven mailbox and an order that somebody has paid.
func (o *Queue) MayLink(ctx context.Context, org int64) (bool, error) {
	trust, err := accounts.ReadTrust(ctx, o.pool, org)
	return trust.Proven && trust.Paid, err
}

// Prune deletes the rows whose free_at has passed. The row of a cap then says the same as no row,
// because the next mail begins at the present time in either case. The row of a day is not read
// again after that day.
func (o *Queue) Prune(ctx context.Context) error {
	if _, err := o.pool.Exec(ctx, `DELETE FROM mail_caps WHERE free_at < now()`); err != nil {
		return fmt.Errorf("mailqueue: forget counts: %w", err)
	}
	return nil
}

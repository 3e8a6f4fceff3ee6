package mailqueue

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// Anybody can enter somebody else's address to follow an organization, to wait for tickets, or to
// be mailed a place in a waiting room. These limits keep such requests from pestering the owner of
// the address. An address that follows already is not asked at all.
const (
	followPause  = 24 * time.Hour      // the shortest time between two mails to an address about one organization
	waitPause    = 5 * time.Minute     // the shortest time between two mails about one ticket type, or about one waiting room
	suppressedIn = 30 * 24 * time.Hour // the shortest time between two mails about anything to an address that has unsubscribed
)

// AskToFollow queues the mail with the link that makes an address follow an organization. It queues
// nothing if the address follows already, if mails to it bounce or were called spam, or if it was asked lately. The
// caller doesn't learn which of these it was: otherwise a stranger could find out whom an address
// follows. org is the organization's number, and email is in lower case.
func (o *Queue) AskToFollow(ctx context.Context, org int64, email, name, language string) error {
	err := pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		const read = `SELECT EXISTS (SELECT FROM org_followers f WHERE f.org = $1 AND f.email = $2 AND f.following)`
		var follows bool
		if err := tx.QueryRow(ctx, read, org, email).Scan(&follows); err != nil || follows {
			return err
		}
		subject := "follow/" + strconv.FormatInt(org, 10) + "/" + email
		return o.queueAsking(ctx, tx, Mail{Template: Following, To: email, Name: name, Language: language, Org: org}, subject, followPause)
	})
	if err != nil {
		return fmt.Errorf("mailqueue: ask to follow organization %d: %w", org, err)
	}
	return nil
}

// AskToWait queues a WaitlistConfirm with the link that puts its reader in line. It queues nothing if mails to the
// address bounce or were called spam, or if it was asked about the same ticket type lately. The caller doesn't
// learn which. about names the ticket type.
func (o *Queue) AskToWait(ctx context.Context, l Mail, about string) error {
	err := pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		return o.queueAsking(ctx, tx, l, "wait/"+about+"/"+l.To, waitPause)
	})
	if err != nil {
		return fmt.Errorf("mailqueue: ask to wait for %s: %w", about, err)
	}
	return nil
}

// TellPlace queues a QueueConfirm or a QueuePlace, with a link to a place in an event's waiting
// room. It queues nothing if mails to the address bounce or were called spam, or if it was mailed such a link lately.
// The caller doesn't learn which.
func (o *Queue) TellPlace(ctx context.Context, l Mail) error {
	err := pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		return o.queueAsking(ctx, tx, l, "room/"+strconv.FormatInt(l.Event, 10)+"/"+l.To, waitPause)
	})
	if err != nil {
		return fmt.Errorf("mailqueue: link to a place in the room of event %d: %w", l.Event, err)
	}
	return nil
}

// queueAsking queues a mail that somebody asked for in its reader's name, unless a mail about the
// same subject was queued within the pause. l.Org is the organization that the mail is about. A
// reader who has unsubscribed from that organization gets such a mail only once in suppressedIn,
// whatever it is about. To an address whose mails bounce, or that has called one spam, nothing is queued.
func (o *Queue) queueAsking(ctx context.Context, tx pgx.Tx, l Mail, subject string, pause time.Duration) error {
	// Rows of organization 0 suppress the mails of all organizations, because mails to the address
	// bounce or were called spam.
	const read = `SELECT coalesce(bool_or(org = 0), false), coalesce(bool_or(org = $1), false) FROM mail_suppressions WHERE email = $2 AND org IN (0, $1)`
	var bounces, suppressed bool
	if err := tx.QueryRow(ctx, read, l.Org, l.To).Scan(&bounces, &suppressed); err != nil || bounces {
		return err
	}
	if suppressed {
		subject, pause = "follow/"+l.To, suppressedIn
	}
	// The row of a subject in mail_caps holds the time until which no further mail about the
	// subject is sent. The update happens only after that time, so no returned row means that the
	// pause has not passed. Of two requests at the same time one waits for the other's row, and
	// only one queues a mail.
	const take = `
INSERT INTO mail_caps AS c (subject, free_at) VALUES ($1, now() + $2::interval)
ON CONFLICT (subject) DO UPDATE SET free_at = excluded.free_at WHERE c.free_at <= now() RETURNING true`
	hash, taken := sha256.Sum256([]byte(subject)), false
	err := tx.QueryRow(ctx, take, hash[:16], pause).Scan(&taken)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return o.AddIn(ctx, tx, l)
}

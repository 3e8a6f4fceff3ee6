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

// Anybody may ask in anybody's name to follow an organization. These bound how often the address
// is asked whether it wants to: an address that follows already is not asked at all.
const (
	askPause     = 24 * time.Hour      // between two mails about one organization
	suppressedIn = 30 * 24 * time.Hour // between two mails to an address that has unsubscribed, about any of them
)

// AskToFollow queues the mail with the link that makes an address follow an organization, unless
// the address follows, mails to it bounce, or it was asked lately. The caller does not learn which.
func (o *Queue) AskToFollow(ctx context.Context, org int64, email, name string) error {
	err := pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		const read = `
SELECT EXISTS (SELECT FROM org_followers f WHERE f.org = $1 AND f.email = $2 AND f.following)
    OR EXISTS (SELECT FROM mail_suppressions m WHERE m.org = 0 AND m.email = $2),
  EXISTS (SELECT FROM mail_suppressions m WHERE m.org = $1 AND m.email = $2)`
		var silent, suppressed bool
		if err := tx.QueryRow(ctx, read, org, email).Scan(&silent, &suppressed); err != nil || silent {
			return err
		}
		subject, pause := "follow/"+strconv.FormatInt(org, 10)+"/"+email, askPause
		if suppressed {
			subject, pause = "follow/"+email, suppressedIn
		}
		// A row of mail_caps says until when nothing more is sent.
		const take = `
INSERT INTO mail_caps AS c (subject, free_at) VALUES ($1, now() + $2::interval)
ON CONFLICT (subject) DO UPDATE SET free_at = excluded.free_at WHERE c.free_at <= now() RETURNING true`
		hash, taken := sha256.Sum256([]byte(subject)), false
		if err := tx.QueryRow(ctx, take, hash[:16], pause).Scan(&taken); err != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		}
		return o.AddIn(ctx, tx, Mail{Template: Following, To: email, Name: name, Org: org})
	})
	if err != nil {
		return fmt.Errorf("mailqueue: ask to follow organization %d: %w", org, err)
	}
	return nil
}

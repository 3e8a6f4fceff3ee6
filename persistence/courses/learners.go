package courses

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine/course"
	"boxoffice/persistence"
)

// Certificate states that the holder of a ticket has completed a course.
type Certificate struct {
	Number       string
	ID           string
	Event        int64
	Holder       string // e-mail in lower case
	Ticket       uint32 // serial of the ticket with which it was earned
	Name         string // the holder's name, or Holder if no name was known (NameCertificate)
	Title        string // the course's title
	Organization string
	Template     string
	IssuedAt     time.Time
}

// The order of the columns is the order of the fields of Certificate.
const selectCertificate = `SELECT number, id::text, event, holder, ticket, name, title, organization, template, issued_at FROM course_certificates `

// Certificate returns a certificate by its number, or nil if there is none.
func (s *Store) Certificate(ctx context.Context, number string) (*Certificate, error) {
	return findCertificate(ctx, s.pool, `WHERE number = $1`, number)
}

// Earned returns the certificate that a holder has for an event, or nil if none was issued.
func (s *Store) Earned(ctx context.Context, event int64, holder string) (*Certificate, error) {
	return findCertificate(ctx, s.pool, `WHERE holder = $1 AND event = $2`, holder, event)
}

// OfTicket returns the certificate that a ticket has earned, or nil. A ticket earns one certificate. An earlier
// release could issue several for one ticket. OfTicket then returns the one that was issued first, and only that
// one is valid.
func (s *Store) OfTicket(ctx context.Context, event int64, ticket uint32) (*Certificate, error) {
	return findCertificate(ctx, s.pool, `WHERE event = $1 AND ticket = $2 ORDER BY issued_at, number LIMIT 1`, event, ticket)
}

// NameCertificate puts a name on a certificate that was issued without one. Such a certificate has its holder's
// address as its name; a certificate that has a name keeps it.
func (s *Store) NameCertificate(ctx context.Context, number, name string) error {
	_, err := s.pool.Exec(ctx, `UPDATE course_certificates SET name = $2 WHERE number = $1 AND name = holder`, number, name)
	return err
}

// findCertificate returns the certificate that the where clause finds, or nil if it finds none. At most one
// certificate may match.
func findCertificate(ctx context.Context, q persistence.Querier, where string, args ...any) (*Certificate, error) {
	rows, _ := q.Query(ctx, selectCertificate+where, args...) // CollectExactlyOneRow returns its error
	c, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[Certificate])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	return c, nil
}

// Progress returns how far a holder has come in an event's course. A holder without any step has an empty progress.
func (s *Store) Progress(ctx context.Context, event int64, holder string) (*course.Progress, error) {
	return scanProgress(s.pool.QueryRow(ctx, `SELECT progress FROM course_learners WHERE holder = $1 AND event = $2`, holder, event))
}

// scanProgress reads a progress from a row with its document. No row means that the holder has not taken a step yet.
func scanProgress(row pgx.Row) (*course.Progress, error) {
	p := new(course.Progress)
	var document []byte
	err := row.Scan(&document)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(document, p)
	}
	if err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	return p, nil
}

// Begun reports whether a holder has ever taken a step in an event's course.
func (s *Store) Begun(ctx context.Context, event int64, holder string) (begun bool, err error) {
	const find = `SELECT EXISTS (SELECT FROM course_learners WHERE holder = $1 AND event = $2)`
	if err := s.pool.QueryRow(ctx, find, holder, event).Scan(&begun); err != nil {
		return false, fmt.Errorf("look for progress: %w", err)
	}
	return begun, nil
}

// Learn carries out a step of a holder in an event's course. step gets the holder's progress and changes it.
// step returns the certificate that the holder has earned by then, or nil. If step returns an error, nothing is
// written. Only one certificate is issued to a holder for an event, and only one for a ticket. Learn returns
// the new progress, and the certificate that the holder has now, or nil.
func (s *Store) Learn(ctx context.Context, event int64, holder string, step func(*course.Progress) (*Certificate, error)) (p *course.Progress, c *Certificate, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// The row must exist before it can be locked. The lock lets one step of a holder run at a time.
		const begin = `INSERT INTO course_learners (event, holder, progress) VALUES ($1, $2, '{}') ON CONFLICT DO NOTHING`
		if _, err := tx.Exec(ctx, begin, event, holder); err != nil {
			return err
		}
		const read = `SELECT progress FROM course_learners WHERE holder = $1 AND event = $2 FOR UPDATE`
		if p, err = scanProgress(tx.QueryRow(ctx, read, holder, event)); err != nil {
			return err
		}
		earned, err := step(p)
		if err != nil {
			return err
		}
		document, err := json.Marshal(p)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE course_learners SET progress = $3 WHERE holder = $1 AND event = $2`, holder, event, document); err != nil {
			return err
		}
		if earned != nil {
			// A ticket may have had two holders, one after the other, and both may complete the course at the same
			// time. The lock on the ticket makes the second one see the certificate of the first.
			const wait = `SELECT pg_advisory_xact_lock(hashtextextended('certificate ' || $1::bigint || ' ' || $2::bigint, 0))`
			if _, err := tx.Exec(ctx, wait, event, earned.Ticket); err != nil {
				return err
			}
			const issue = `INSERT INTO course_certificates (number, event, holder, ticket, name, title, organization, template)
SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE NOT EXISTS (SELECT FROM course_certificates WHERE event = $2 AND ticket = $4)
ON CONFLICT (holder, event) DO NOTHING`
			if _, err := tx.Exec(ctx, issue, earned.Number, event, holder, earned.Ticket, earned.Name, earned.Title, earned.Organization, earned.Template); err != nil {
				return err
			}
		}
		// The certificate may be one that was issued at an earlier step, so it is read even if this step earned none.
		c, err = findCertificate(ctx, tx, `WHERE holder = $1 AND event = $2`, holder, event)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("learn: %w", err)
	}
	return p, c, nil
}

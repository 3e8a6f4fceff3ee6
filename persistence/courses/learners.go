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

// Certificate says that somebody has completed a course.
type Certificate struct {
	Number       string
	ID           string
	Event        int64
	Holder       string // e-mail in lower case
	Ticket       uint32 // serial of the ticket with which it was earned
	Name         string // the holder's name
	Title        string // the course's title
	Organization string
	Template     string
	IssuedAt     time.Time
}

const selectCertificate = `SELECT number, id::text, event, holder, ticket, name, title, organization, template, issued_at FROM course_certificates `

// Certificate returns a certificate by its number, or nil if there is none.
func (s *Store) Certificate(ctx context.Context, number string) (*Certificate, error) {
	return findCertificate(ctx, s.pool, `WHERE number = $1`, number)
}

// Earned returns the certificate that a holder has for an event, or nil if none was issued.
func (s *Store) Earned(ctx context.Context, event int64, holder string) (*Certificate, error) {
	return findCertificate(ctx, s.pool, `WHERE holder = $1 AND event = $2`, holder, event)
}

// OfTicket returns the certificate that a ticket has earned, or nil: one purchase, one certificate. Of
// several, which a release before has issued, it is the first, and the others are not valid.
func (s *Store) OfTicket(ctx context.Context, event int64, ticket uint32) (*Certificate, error) {
	return findCertificate(ctx, s.pool, `WHERE event = $1 AND ticket = $2 ORDER BY issued_at, number LIMIT 1`, event, ticket)
}

// NameCertificate puts a name on a certificate that has its holder's address in its place.
func (s *Store) NameCertificate(ctx context.Context, number, name string) error {
	_, err := s.pool.Exec(ctx, `UPDATE course_certificates SET name = $2 WHERE number = $1 AND name = holder`, number, name)
	return err
}

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

// Progress returns how far a holder has come in an event's course.
func (s *Store) Progress(ctx context.Context, event int64, holder string) (*course.Progress, error) {
	return scanProgress(s.pool.QueryRow(ctx, `SELECT progress FROM course_learners WHERE holder = $1 AND event = $2`, holder, event))
}

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

// Learn carries out a step of a holder, one step at a time. step gets the holder's progress, and
// returns the certificate that the step earns, which is issued only once to a holder and once for a ticket, or nil; if it returns an
// error, nothing changes. Learn returns the certificate that the holder has then, or nil.
func (s *Store) Learn(ctx context.Context, event int64, holder string, step func(*course.Progress) (*Certificate, error)) (p *course.Progress, c *Certificate, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
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
			// Two who hold a ticket one after the other may take their last steps at once.
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
		c, err = findCertificate(ctx, tx, `WHERE holder = $1 AND event = $2`, holder, event)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("learn: %w", err)
	}
	return p, c, nil
}

package community

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"boxoffice/persistence"
	"boxoffice/persistence/publicfacts"
)

// These are the statuses of a report (docs/rules.md, People).
const (
	ReportSubmitted   = "submitted"
	ReportUnderReview = "under_review"
	ReportEscalated   = "escalated"
	ReportResolved    = "resolved"
	ReportDismissed   = "dismissed"
)

// ErrState means that the row's status does not allow the change.
var ErrState = errors.New("community: the status does not allow it")

// Report is a complaint.
type Report struct {
	ID           uuid.UUID
	Number       int64 // number of the report, higher for later ones
	Reporter     int64 // number of the user who reports
	Email        string
	Org          int64
	Event        *int64
	Platform     bool // whether it goes to the platform, without the organization being told
	Category     string
	Description  string
	EvidenceURLs []string
	Status       string
	Resolution   string
	Note         string
	CreatedAt    time.Time
	ClosedAt     *time.Time
}

const (
	// reportStatus is a report's status at the moment. An organization's report that is open for a week is escalated.
	// No timer writes that: the status is computed whenever a report is read.
	reportStatus = `CASE WHEN NOT platform AND status IN ('submitted', 'under_review') AND created_at < now() - interval '7 days'
THEN 'escalated' ELSE status END`

	reportColumns = `id, number, reporter, (SELECT email FROM users u WHERE u.id = reporter), org, event, platform, category, description,
evidence_urls, ` + reportStatus + ` AS status, resolution, note, created_at, closed_at`

	// escalated is true for a report that the platform has to answer: it was made to the platform, somebody escalated
	// it, or it has been open for a week.
	escalated = `(platform OR escalated_at IS NOT NULL OR ` + reportStatus + ` = 'escalated')`
)

// readReport runs a query that returns one report with reportColumns, and returns ErrNotFound if it returns none.
func readReport(ctx context.Context, q persistence.Querier, query string, args ...any) (*Report, error) {
	rows, _ := q.Query(ctx, query, args...) // CollectExactlyOneRow returns its error
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[Report])
	return r, requireRow(err)
}

// TellReport makes the public fact about an organization's report.
type TellReport func(*Report) (publicfacts.Own, error)

// tellReport publishes a fact about a report to its organization. A report to the platform must stay unknown to the
// organization, so nothing is published about it.
func (s *Store) tellReport(ctx context.Context, tx pgx.Tx, r *Report, tell TellReport) error {
	if r.Platform {
		return nil
	}
	told, err := tell(r)
	if err != nil {
		return err
	}
	return s.facts.Tell(ctx, tx, told)
}

// AddReport adds a report and returns it as stored. Unless the report is made to the platform, AddReport also
// publishes a fact about it. If the id is stored already, a client has repeated its request: AddReport returns the
// stored report and publishes nothing.
func (s *Store) AddReport(ctx context.Context, r *Report, tell TellReport) (*Report, error) {
	const insert = `
INSERT INTO reports (id, reporter, org, event, platform, category, description, evidence_urls) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (id) DO NOTHING RETURNING ` + reportColumns
	var added *Report
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		added, err = readReport(ctx, tx, insert, r.ID, r.Reporter, r.Org, r.Event, r.Platform, r.Category, r.Description, r.EvidenceURLs)
		if errors.Is(err, ErrNotFound) {
			added, err = readReport(ctx, tx, `SELECT `+reportColumns+` FROM reports WHERE id = $1`, r.ID)
			return err
		}
		if err != nil {
			return err
		}
		return s.tellReport(ctx, tx, added, tell)
	})
	if err != nil {
		return nil, fmt.Errorf("add report: %w", err)
	}
	return added, nil
}

// Report finds a report, or returns ErrNotFound.
func (s *Store) Report(ctx context.Context, id uuid.UUID) (*Report, error) {
	r, err := readReport(ctx, s.pool, `SELECT `+reportColumns+` FROM reports WHERE id = $1`, id)
	if err != nil {
		return nil, fmt.Errorf("report %s: %w", id, err)
	}
	return r, nil
}

// ReportsOf lists the reports that an organization may see, the newest first. before is the page's cursor: only
// reports with a lower number are listed. A status other than "" lists only its reports.
func (s *Store) ReportsOf(ctx context.Context, org int64, status string, before int64, limit int) ([]Report, error) {
	const find = `SELECT ` + reportColumns + ` FROM reports
WHERE org = $1 AND NOT platform AND number < $2 AND $3 IN ('', ` + reportStatus + `) ORDER BY number DESC LIMIT $4`
	return s.listReports(ctx, find, org, before, status, limit)
}

// ReportsBy lists the reports that a user has made, the newest first, with numbers below before.
func (s *Store) ReportsBy(ctx context.Context, reporter, before int64, limit int) ([]Report, error) {
	const find = `SELECT ` + reportColumns + ` FROM reports WHERE reporter = $1 AND number < $2 ORDER BY number DESC LIMIT $3`
	return s.listReports(ctx, find, reporter, before, limit)
}

// EscalatedReports lists the reports that the platform has to answer, or had to before they were closed. Its other
// arguments are those that ReportsOf has.
func (s *Store) EscalatedReports(ctx context.Context, status string, before int64, limit int) ([]Report, error) {
	const find = `SELECT ` + reportColumns + ` FROM reports
WHERE ` + escalated + ` AND number < $1 AND $2 IN ('', ` + reportStatus + `) ORDER BY number DESC LIMIT $3`
	return s.listReports(ctx, find, before, status, limit)
}

// listReports runs a query that returns reportColumns.
func (s *Store) listReports(ctx context.Context, find string, args ...any) ([]Report, error) {
	rows, _ := s.pool.Query(ctx, find, args...) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Report])
	if err != nil {
		return nil, fmt.Errorf("reports: %w", err)
	}
	return list, nil
}

// CloseReport ends a report, either as its organization or as the platform. Unless the report was made to the
// platform, it also publishes a fact about that. It returns ErrState if the report is closed already, or if the
// other side must close it: the platform closes escalated reports, and the organization all others.
func (s *Store) CloseReport(ctx context.Context, id uuid.UUID, byPlatform bool, status, resolution, note string, tell TellReport) (*Report, error) {
	const end = `
UPDATE reports SET status = $3, resolution = $4, note = $5, closed_at = now(),
escalated_at = CASE WHEN $2 THEN coalesce(escalated_at, now()) END
WHERE id = $1 AND closed_at IS NULL AND ` + escalated + ` = $2 RETURNING ` + reportColumns
	var closed *Report
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if closed, err = moveReport(ctx, tx, end, id, byPlatform, status, resolution, note); err != nil {
			return err
		}
		return s.tellReport(ctx, tx, closed, tell)
	})
	return closed, err
}

// EscalateReport hands an organization's report to the platform. It returns ErrState if the report is closed or
// escalated already.
func (s *Store) EscalateReport(ctx context.Context, id uuid.UUID) (*Report, error) {
	const escalate = `
UPDATE reports SET status = 'escalated', escalated_at = now()
WHERE id = $1 AND closed_at IS NULL AND NOT ` + escalated + ` RETURNING ` + reportColumns
	return moveReport(ctx, s.pool, escalate, id)
}

// moveReport runs an update that returns the changed report, with the report's id as its first argument. The update's
// conditions are about the status, so an update that finds no row means ErrState.
func moveReport(ctx context.Context, q persistence.Querier, move string, id uuid.UUID, args ...any) (*Report, error) {
	r, err := readReport(ctx, q, move, append([]any{id}, args...)...)
	if errors.Is(err, ErrNotFound) {
		err = ErrState
	}
	if err != nil {
		return nil, fmt.Errorf("move report %s: %w", id, err)
	}
	return r, nil
}

package community

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"boxoffice/engine/event"
)

// Review is what the holder of a ticket says about its event.
type Review struct {
	ID         uuid.UUID
	Number     int64 // number of the review, higher for later ones
	Org        int64
	Event      int64
	Ticket     uint32
	Rating     int
	Body       string
	AuthorName string
	Reply      string // the organizer's answer; "" if there is none
	Hidden     bool   // whether the platform has hidden it
	CreatedAt  time.Time
}

// The order of the columns is the order of the fields of Review.
const reviewColumns = `id, number, org, event, ticket, rating, body, author_name, reply, hidden, created_at`

// review runs a query that returns one review with reviewColumns, and returns ErrNotFound if it returns none.
func (s *Store) review(ctx context.Context, query string, args ...any) (*Review, error) {
	rows, _ := s.pool.Query(ctx, query, args...) // CollectExactlyOneRow returns its error
	r, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[Review])
	return r, requireRow(err)
}

// AddReview adds a review and returns the stored review. If a client repeats a request, the review with the request's
// id is returned. AddReview returns ErrExists if the ticket has a review with another id.
func (s *Store) AddReview(ctx context.Context, r *Review) (*Review, error) {
	const insert = `
INSERT INTO reviews (id, org, event, ticket, rating, body, author_name) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING RETURNING ` + reviewColumns
	added, err := s.review(ctx, insert, r.ID, r.Org, r.Event, r.Ticket, r.Rating, r.Body, r.AuthorName)
	// The insert did nothing: either this id is stored, or the ticket has another review.
	if errors.Is(err, ErrNotFound) {
		added, err = s.review(ctx, `SELECT `+reviewColumns+` FROM reviews WHERE id = $1`, r.ID)
		if errors.Is(err, ErrNotFound) {
			return nil, ErrExists
		}
	}
	if err != nil {
		return nil, fmt.Errorf("add review: %w", err)
	}
	return added, nil
}

// Review finds a review, or returns ErrNotFound.
func (s *Store) Review(ctx context.Context, id uuid.UUID) (*Review, error) {
	r, err := s.review(ctx, `SELECT `+reviewColumns+` FROM reviews WHERE id = $1`, id)
	if err != nil {
		return nil, fmt.Errorf("review %s: %w", id, err)
	}
	return r, nil
}

// ReplyToReview sets the organizer's answer, and returns the review, or ErrNotFound.
func (s *Store) ReplyToReview(ctx context.Context, id uuid.UUID, reply string) (*Review, error) {
	r, err := s.review(ctx, `UPDATE reviews SET reply = $2 WHERE id = $1 RETURNING `+reviewColumns, id, reply)
	if err != nil {
		return nil, fmt.Errorf("reply to review %s: %w", id, err)
	}
	return r, nil
}

// HideReview hides a review from everybody, or shows it again. It returns the review, or ErrNotFound.
func (s *Store) HideReview(ctx context.Context, id uuid.UUID, hidden bool) (*Review, error) {
	r, err := s.review(ctx, `UPDATE reviews SET hidden = $2 WHERE id = $1 RETURNING `+reviewColumns, id, hidden)
	if err != nil {
		return nil, fmt.Errorf("hide review %s: %w", id, err)
	}
	return r, nil
}

// Reviews lists an event's reviews that are not hidden, the newest first. before is the page's cursor: only reviews
// with a lower number are listed.
func (s *Store) Reviews(ctx context.Context, event, before int64, limit int) ([]Review, error) {
	const find = `SELECT ` + reviewColumns + ` FROM reviews WHERE event = $1 AND number < $2 AND NOT hidden ORDER BY number DESC LIMIT $3`
	rows, _ := s.pool.Query(ctx, find, event, before, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Review])
	if err != nil {
		return nil, fmt.Errorf("reviews of event %d: %w", event, err)
	}
	return list, nil
}

// OfEvent is a review together with the title and the slug of its event, for a list over several events.
type OfEvent struct {
	Review
	Title, Slug string
}

// publicReviews are the reviews of an organization's public events that are not hidden. $2 is event.Shown: an event
// that is a draft again is not shown, so its reviews aren't either.
const publicReviews = ` FROM reviews r JOIN events e ON e.number = r.event
WHERE r.org = $1 AND NOT r.hidden AND e.visibility = 'public' AND e.status = ANY($2) `

// OrganizationReviews lists those of an organization's reviews that publicReviews has, the newest first.
func (s *Store) OrganizationReviews(ctx context.Context, org int64, limit int) ([]OfEvent, error) {
	const find = `SELECT r.id, r.number, r.org, r.event, r.ticket, r.rating, r.body, r.author_name, r.reply, r.hidden, r.created_at, e.title, e.slug` +
		publicReviews + `ORDER BY r.number DESC LIMIT $3`
	rows, _ := s.pool.Query(ctx, find, org, event.Shown, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[OfEvent])
	if err != nil {
		return nil, fmt.Errorf("reviews of organization %d: %w", org, err)
	}
	return list, nil
}

// OrganizationRatings returns how many reviews publicReviews has for an organization, and their mean rating,
// rounded to two decimals. The mean is nil if there is no such review.
func (s *Store) OrganizationRatings(ctx context.Context, org int64) (n int, mean *float64, err error) {
	const count = `SELECT count(*), round(avg(r.rating), 2)::float8` + publicReviews
	if err := s.pool.QueryRow(ctx, count, org, event.Shown).Scan(&n, &mean); err != nil {
		return 0, nil, fmt.Errorf("ratings of organization %d: %w", org, err)
	}
	return n, mean, nil
}

// Ratings returns how often an event was given each rating: counts[0] is for rating 1, and counts[4] for rating 5.
// Hidden reviews do not count.
func (s *Store) Ratings(ctx context.Context, event int64) (counts [5]int, err error) {
	const count = `SELECT rating, count(*) FROM reviews WHERE event = $1 AND NOT hidden GROUP BY rating`
	rows, _ := s.pool.Query(ctx, count, event) // ForEachRow returns its error
	var rating, n int
	_, err = pgx.ForEachRow(rows, []any{&rating, &n}, func() error {
		counts[rating-1] = n
		return nil
	})
	if err != nil {
		return counts, fmt.Errorf("ratings of event %d: %w", event, err)
	}
	return counts, nil
}

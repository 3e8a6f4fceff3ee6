package program

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Session is one entry of an event's schedule.
type Session struct {
	ID            uuid.UUID
	Event         int64
	Title         string
	Start, End    time.Time
	Day           int // day of the event, from 1
	Description   string
	SpeakerName   string
	SpeakerBio    string
	SpeakerAvatar string // a URL
	Location      string
	SortOrder     int // within the day
}

// The order of the columns is the order of the fields of Session, and of the values.
const sessionColumns = `id, event, title, start_at, end_at, day, description, speaker_name, speaker_bio, speaker_avatar, location, sort_order`

const selectSessions = `SELECT ` + sessionColumns + ` FROM schedule_sessions WHERE event = $1 ORDER BY day, sort_order, start_at, id`

// values returns the session's fields as the arguments of insert and update, in the order of sessionColumns.
func (n *Session) values() []any {
	return []any{
		n.ID, n.Event, n.Title, n.Start, n.End, n.Day, n.Description, n.SpeakerName, n.SpeakerBio, n.SpeakerAvatar, n.Location, n.SortOrder,
	}
}

// Sessions lists an event's schedule, sorted by day and then in the organizer's order.
func (s *Store) Sessions(ctx context.Context, event int64) ([]Session, error) {
	rows, _ := s.pool.Query(ctx, selectSessions, event) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Session])
	if err != nil {
		return nil, fmt.Errorf("sessions of event %d: %w", event, err)
	}
	return list, nil
}

// AddSession adds a session, or returns ErrTooMany.
func (s *Store) AddSession(ctx context.Context, n *Session) error {
	const insert = `INSERT INTO schedule_sessions (` + sessionColumns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING`
	if err := s.insert(ctx, "schedule_sessions", n.Event, n.ID, insert, n.values()...); err != nil {
		return fmt.Errorf("add session: %w", err)
	}
	return nil
}

// EditSession changes a session of an event. It returns ErrNotFound, or the error of change, in
// which case nothing has changed.
func (s *Store) EditSession(ctx context.Context, event int64, id uuid.UUID, change func(*Session) error) (*Session, error) {
	const find = `SELECT ` + sessionColumns + ` FROM schedule_sessions WHERE event = $1 AND id = $2 FOR UPDATE`
	const write = `
UPDATE schedule_sessions SET title = $3, start_at = $4, end_at = $5, day = $6, description = $7, speaker_name = $8,
  speaker_bio = $9, speaker_avatar = $10, location = $11, sort_order = $12
WHERE id = $1 AND event = $2`
	n, err := edit(ctx, s, find, write, event, id, change, (*Session).values)
	if err != nil {
		return nil, fmt.Errorf("edit session: %w", err)
	}
	return n, nil
}

// RemoveSession removes a session of an event, or returns ErrNotFound.
func (s *Store) RemoveSession(ctx context.Context, event int64, id uuid.UUID) error {
	tag, err := s.pool.Exec(ctx, `DELETE FROM schedule_sessions WHERE event = $1 AND id = $2`, event, id)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("remove session: %w", err)
	}
	return nil
}

// Package rooms keeps two plain tables: the events that have a waiting room, and the time stamps that an
// outside witness has given for the statements of their draws. Nodes read the first to know for which orders
// they ask for an admission. The state of a room is its actor's (engine/queue). The edge calls this package,
// which has no goroutine.
package rooms

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store reads and writes the tables.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Room is an event that has or had a waiting room.
type Room struct {
	Event  int64
	Opened int64 // how often the event's room was opened
}

// MaxPerOrg is how many rooms that have not ended an organization may have: each is looked after every second.
// If two are opened at the same moment, there may be one more.
const MaxPerOrg = 50

// ErrTooMany says that an organization has as many rooms as it may have.
var ErrTooMany = errors.New("rooms: the organization has too many")

// Open notes that an organization's event has a room. The caller must call it before the actor opens the room,
// so that no room is overlooked. The error is ErrTooMany if the organization may have no other.
func (s *Store) Open(ctx context.Context, org, event int64) error {
	const write = `
		INSERT INTO rooms (event, org)
		SELECT $1, $2 WHERE (SELECT count(*) FROM rooms WHERE org = $2 AND active AND event <> $1) < $3
		ON CONFLICT (event) DO UPDATE SET org = $2, opened = rooms.opened + 1, active = true`
	tag, err := s.pool.Exec(ctx, write, event, org, MaxPerOrg)
	if err != nil {
		return fmt.Errorf("room of event %d: %w", event, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrTooMany
	}
	return nil
}

// Find returns the room of an event that has or had one.
func (s *Store) Find(ctx context.Context, event int64) (r Room, found bool, err error) {
	err = s.pool.QueryRow(ctx, `SELECT event, opened FROM rooms WHERE event = $1`, event).Scan(&r.Event, &r.Opened)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("room of event %d: %w", event, err)
	}
	return r, true, nil
}

// Close notes that a room has ended, unless it was opened again since it was read.
func (s *Store) Close(ctx context.Context, r Room) error {
	if _, err := s.pool.Exec(ctx, `UPDATE rooms SET active = false WHERE event = $1 AND opened = $2`, r.Event, r.Opened); err != nil {
		return fmt.Errorf("room of event %d: %w", r.Event, err)
	}
	return nil
}

// List returns the rooms that have not ended.
func (s *Store) List(ctx context.Context) ([]Room, error) {
	rows, _ := s.pool.Query(ctx, `SELECT event, opened FROM rooms WHERE active ORDER BY event`) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Room])
	if err != nil {
		return nil, fmt.Errorf("rooms: %w", err)
	}
	return list, nil
}

// AddToken keeps the signed time stamp that an outside witness has given for the statement of a draw. The first
// token stays.
func (s *Store) AddToken(ctx context.Context, event int64, draw uint32, token []byte) error {
	const write = `INSERT INTO witnessed (event, draw, token) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	if _, err := s.pool.Exec(ctx, write, event, int64(draw), token); err != nil {
		return fmt.Errorf("witness of event %d: %w", event, err)
	}
	return nil
}

// FindToken returns the signed time stamp that an outside witness has given for the statement of a draw, or nil.
func (s *Store) FindToken(ctx context.Context, event int64, draw uint32) (token []byte, err error) {
	err = s.pool.QueryRow(ctx, `SELECT token FROM witnessed WHERE event = $1 AND draw = $2`, event, int64(draw)).Scan(&token)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("witness of event %d: %w", event, err)
	}
	return token, nil
}

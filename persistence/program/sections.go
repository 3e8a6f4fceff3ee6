package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Section is a part of the room that ticket types may name. Its capacity is only information;
// nothing is counted against it.
type Section struct {
	ID          uuid.UUID
	Event       int64
	Name        string
	Capacity    int
	Description string
	SortOrder   int
	Map         []byte // JSON: coordinates, as the organizer's editor wrote them; nil for none
}

// The order of the columns is the order of the fields of Section, and of the values.
const sectionColumns = `id, event, name, capacity, description, sort_order, map`

const selectSections = `SELECT ` + sectionColumns + ` FROM sections WHERE event = $1 ORDER BY sort_order, name, id`

// values returns the section's fields as the arguments of insert and update, in the order of sectionColumns.
func (n *Section) values() []any {
	return []any{n.ID, n.Event, n.Name, n.Capacity, n.Description, n.SortOrder, n.Map}
}

// Sections lists an event's sections in the organizer's order.
func (s *Store) Sections(ctx context.Context, event int64) ([]Section, error) {
	rows, _ := s.pool.Query(ctx, selectSections, event) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Section])
	if err != nil {
		return nil, fmt.Errorf("sections of event %d: %w", event, err)
	}
	return list, nil
}

// AddSection adds a section, or returns ErrTooMany.
func (s *Store) AddSection(ctx context.Context, n *Section) error {
	const insert = `INSERT INTO sections (` + sectionColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING`
	if err := s.insert(ctx, "sections", n.Event, n.ID, insert, n.values()...); err != nil {
		return fmt.Errorf("add section: %w", err)
	}
	return nil
}

// EditSection changes a section of an event. It returns ErrNotFound, or the error of change, in
// which case nothing has changed.
func (s *Store) EditSection(ctx context.Context, event int64, id uuid.UUID, change func(*Section) error) (*Section, error) {
	const find = `SELECT ` + sectionColumns + ` FROM sections WHERE event = $1 AND id = $2 FOR UPDATE`
	const write = `UPDATE sections SET name = $3, capacity = $4, description = $5, sort_order = $6, map = $7 WHERE id = $1 AND event = $2`
	n, err := edit(ctx, s, find, write, event, id, change, (*Section).values)
	if err != nil {
		return nil, fmt.Errorf("edit section: %w", err)
	}
	return n, nil
}

// ClaimSection records that a request is about to let a ticket type name a section of the event. From then on
// RemoveSection refuses to remove the section. The claim is needed because the type's record is in the event's
// journal, and no transaction spans the journal and this table. The caller must call SettleSection once the request
// has ended. ClaimSection returns ErrNotFound if there is no such section.
func (s *Store) ClaimSection(ctx context.Context, event int64, id uuid.UUID, ticketType int64) error {
	const claim = `
INSERT INTO section_uses (section, ticket_type) SELECT id, $3 FROM sections WHERE event = $1 AND id = $2 FOR KEY SHARE
ON CONFLICT (section, ticket_type) DO UPDATE SET since = now(), pending = section_uses.pending + 1`
	tag, err := s.pool.Exec(ctx, claim, event, id, ticketType)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("claim section: %w", err)
	}
	return nil
}

// SettleSection records that the request that claimed a section has ended. Once no claim is pending, only the ticket
// type's record decides if the type names the section.
func (s *Store) SettleSection(ctx context.Context, id uuid.UUID, ticketType int64) error {
	const settle = `UPDATE section_uses SET pending = pending - 1 WHERE section = $1 AND ticket_type = $2`
	if _, err := s.pool.Exec(ctx, settle, id, ticketType); err != nil {
		return fmt.Errorf("settle section: %w", err)
	}
	return nil
}

// Use is a ticket type that names a section, or to which a request was about to give the section (ClaimSection).
type Use struct {
	TicketType int64
	Since      time.Time // time of the last ClaimSection
	Pending    int       // calls of ClaimSection without their SettleSection
}

// Uses lists the ticket types that may name a section.
func (s *Store) Uses(ctx context.Context, id uuid.UUID) ([]Use, error) {
	rows, _ := s.pool.Query(ctx, `SELECT ticket_type, since, pending FROM section_uses WHERE section = $1 ORDER BY ticket_type`, id) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Use])
	if err != nil {
		return nil, fmt.Errorf("uses of section %s: %w", id, err)
	}
	return list, nil
}

// RemoveSection removes a section of an event. ended are uses from Uses that the caller has found to be over:
// the ticket type's record does not name the section, and no claim of the type is under way. They are removed
// first, but only if they were not claimed again: since is the time of the last claim. RemoveSection returns
// ErrNotFound, or ErrInUse if another use remains and the foreign key refuses the removal.
func (s *Store) RemoveSection(ctx context.Context, event int64, id uuid.UUID, ended []Use) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		for _, u := range ended {
			const forget = `DELETE FROM section_uses WHERE section = $1 AND ticket_type = $2 AND since = $3`
			if _, err := tx.Exec(ctx, forget, id, u.TicketType, u.Since); err != nil {
				return err
			}
		}
		tag, err := tx.Exec(ctx, `DELETE FROM sections WHERE event = $1 AND id = $2`, event, id)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrNotFound
		}
		return err
	})
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == foreignKeyViolation {
		err = ErrInUse
	}
	if err != nil {
		return fmt.Errorf("remove section: %w", err)
	}
	return nil
}

package venues

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"boxoffice/persistence"
)

// selected selects maps, each with its versions.
const selected = `SELECT m.id, m.public_id, coalesce(m.org, 0), m.name, m.seats, m.created_at, m.updated_at, v.numbers, v.seats, v.published
	FROM venue_maps m CROSS JOIN LATERAL (
		SELECT array_agg(version ORDER BY version DESC) AS numbers, array_agg(seats ORDER BY version DESC) AS seats,
			array_agg(published_at ORDER BY version DESC) AS published
		FROM venue_map_versions WHERE map = m.id) v `

// Create adds a map to an organization, or returns ErrTooMany. A command may be repeated for a day: it then
// returns the map that the command has made, or nil if that map is another organization's.
func (s *Store) Create(ctx context.Context, command [16]byte, org int64, d Draft) (*Map, error) {
	var m *Map
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if err := refuseIfFull(ctx, tx, command, org); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO venue_maps (command, org, name, seats, draft) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (command) DO NOTHING`, command, org, d.Name, d.Seats, d.Document); err != nil {
			return err
		}
		m, err = findMap(ctx, tx, selected+`WHERE m.command = $1 AND m.org = $2`, command, org)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create venue map: %w", err)
	}
	return m, nil
}

// refuseIfFull makes sure that the organization may have one more map. It locks the organization's row
// until the transaction ends, so that only one create at a time counts maps.
func refuseIfFull(ctx context.Context, tx pgx.Tx, command [16]byte, org int64) error {
	if _, err := tx.Exec(ctx, `SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE`, org); err != nil {
		return err
	}
	// A command that is older than a day counts as a new one, so its map must not be returned for it.
	if _, err := tx.Exec(ctx, `UPDATE venue_maps SET command = NULL
		WHERE command = $1 AND created_at < now() - interval '24 hours'`, command); err != nil {
		return err
	}
	var others int
	err := tx.QueryRow(ctx, `SELECT count(*) FROM venue_maps WHERE org = $1 AND command IS DISTINCT FROM $2`, org, command).Scan(&others)
	if err == nil && others >= MaxPerOrg {
		return ErrTooMany
	}
	return err
}

// Save replaces the draft of an organization's map and returns the map, or nil if there is none. Published
// versions stay as they are. If the new draft is the same as the old one, UpdatedAt stays too.
func (s *Store) Save(ctx context.Context, org int64, id uuid.UUID, d Draft) (*Map, error) {
	tag, err := s.pool.Exec(ctx, `UPDATE venue_maps SET name = $3, seats = $4, draft = $5,
		updated_at = CASE WHEN (name, seats, draft::text) IS DISTINCT FROM ($3, $4, $5::json::text) THEN now() ELSE updated_at END
		WHERE public_id = $1 AND org = $2`, id, org, d.Name, d.Seats, d.Document)
	if err != nil {
		return nil, fmt.Errorf("save venue map: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return nil, nil //nolint:nilnil // no map is an answer
	}
	return s.Get(ctx, id)
}

// Get returns a map of any organization, or nil.
func (s *Store) Get(ctx context.Context, id uuid.UUID) (*Map, error) {
	return findMap(ctx, s.pool, selected+`WHERE m.public_id = $1`, id)
}

// These are the states by which maps can be listed.
const (
	Published = "published" // the map has a version that events can use
	Drafts    = "draft"     // the map has no version yet
	All       = "all"
)

// Filter says which maps to list, and where the list begins.
type Filter struct {
	Search string // stands in the name, in any case; "" fits every name
	Status string // Published, Drafts or All
	Before int64  // the Map.ID of the last map of the previous page; 0: the first page
	Limit  int
}

// List returns a page of an organization's maps and of the maps that are shared with everybody, the
// newest first.
func (s *Store) List(ctx context.Context, org int64, f Filter) ([]*Map, error) {
	like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(f.Search) + "%"
	rows, _ := s.pool.Query(ctx, selected+`WHERE (m.org = $1 OR m.org IS NULL) AND m.name COLLATE "und-x-icu" ILIKE $2
		AND ($3 = 'all' OR (v.numbers IS NOT NULL) = ($3 = 'published')) AND ($4 = 0 OR m.id < $4)
		ORDER BY m.id DESC LIMIT $5`, org, like, f.Status, f.Before, f.Limit) // CollectRows returns its error
	maps, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("list venue maps: %w", err)
	}
	return maps, nil
}

// Document returns the document of a version of a map, or of the draft if version is 0. It returns
// nil if there is no such map or version.
func (s *Store) Document(ctx context.Context, id uuid.UUID, version int32) ([]byte, error) {
	var document []byte
	err := s.pool.QueryRow(ctx, `SELECT CASE WHEN $2 = 0 THEN m.draft ELSE v.document END
		FROM venue_maps m LEFT JOIN venue_map_versions v ON v.map = m.id AND v.version = $2
		WHERE m.public_id = $1`, id, version).Scan(&document)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("document of a venue map: %w", err)
	}
	return document, nil
}

// findMap returns the map that a statement returns, or nil.
func findMap(ctx context.Context, q persistence.Querier, sql string, args ...any) (*Map, error) {
	rows, _ := q.Query(ctx, sql, args...) // CollectOneRow returns its error
	m, err := pgx.CollectOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no map is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("venue map: %w", err)
	}
	return m, nil
}

// scan reads a row of selected. The arrays of a map without versions are NULL, which leaves the map none.
func scan(row pgx.CollectableRow) (*Map, error) {
	m := new(Map)
	var numbers, seats []int32
	var published []time.Time
	err := row.Scan(&m.ID, &m.PublicID, &m.Org, &m.Name, &m.Seats, &m.CreatedAt, &m.UpdatedAt, &numbers, &seats, &published)
	for i := range numbers {
		m.Versions = append(m.Versions, Version{numbers[i], int(seats[i]), published[i]})
	}
	return m, err
}

package venues

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"boxoffice/engine/seatmap"
	"boxoffice/persistence/codec"
)

// Publish makes the next version of an organization's map from its draft, and returns it, or nil if there is no
// such map. If the newest version was made from the same draft, it is returned instead, and so is a version
// that the same command made within the last day. The error wraps ErrTooManyVersions if the map has as many
// versions as it may, and the error of expand if expand refuses the draft. The map is locked while expand runs.
func (s *Store) Publish(ctx context.Context, command [16]byte, org int64, id uuid.UUID, expand Expand) (*Version, error) {
	var v *Version
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		v, err = publish(ctx, tx, command, id, org, expand)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("publish venue map: %w", err)
	}
	return v, nil
}

// Share publishes a map that all organizations may use, and returns it. If they share a map with that name
// already, that map gets the new draft, and a new version unless its newest one has the same draft.
func (s *Store) Share(ctx context.Context, d Draft, expand Expand) (*Map, error) {
	var m *Map
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		var id uuid.UUID
		if err := tx.QueryRow(ctx, `INSERT INTO venue_maps (name, seats, draft) VALUES ($1, $2, $3)
			ON CONFLICT (name) WHERE org IS NULL DO UPDATE SET seats = excluded.seats, draft = excluded.draft, updated_at = now()
			RETURNING public_id`, d.Name, d.Seats, d.Document).Scan(&id); err != nil {
			return err
		}
		if _, err := publish(ctx, tx, uuid.New(), id, 0, expand); err != nil {
			return err
		}
		m, err = findMap(ctx, tx, selected+`WHERE m.public_id = $1`, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("share venue map: %w", err)
	}
	return m, nil
}

// publish makes a version of a map's draft within a transaction, unless published finds that the command or the
// draft has one; then it returns that. It returns nil if there is no such map, and ErrTooManyVersions after
// MaxVersions. org is 0 for a map that all organizations share. Its lock on the map's row makes two publications
// wait for each other, so that version numbers have no gap and no number is used twice.
func publish(ctx context.Context, tx pgx.Tx, command [16]byte, id uuid.UUID, org int64, expand Expand) (*Version, error) {
	var number int64
	var draft []byte
	err := tx.QueryRow(ctx, `SELECT id, draft FROM venue_maps WHERE public_id = $1 AND coalesce(org, 0) = $2 FOR UPDATE`, id, org).
		Scan(&number, &draft)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no map is an answer
	}
	if err != nil {
		return nil, err
	}
	last, done, err := published(ctx, tx, number, command, draft)
	if err != nil || done {
		return last, err
	}
	if last.Number >= MaxVersions {
		return nil, ErrTooManyVersions
	}
	layout, elements, err := expand(draft)
	if err != nil {
		return nil, err
	}
	layout.Map, layout.Version = id, last.Number+1
	packed, err := codec.Marshal(layout)
	if err != nil {
		return nil, err
	}
	v := &Version{Number: layout.Version, Seats: layout.Len()}
	err = tx.QueryRow(ctx, `INSERT INTO venue_map_versions (map, version, command, seats, layout, elements, document)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING published_at`, number, v.Number, command, v.Seats, packed, elements, draft).Scan(&v.PublishedAt)
	return v, err
}

// published returns the version that already answers a command, with done set: the one that the command has made
// within a day, or the newest one if it is of the same draft. Otherwise it returns the newest one, which has number
// 0 if there is none.
func published(ctx context.Context, tx pgx.Tx, number int64, command [16]byte, draft []byte) (v *Version, done bool, err error) {
	v = new(Version)
	err = tx.QueryRow(ctx, `SELECT version, seats, published_at, again OR document::text = $3 FROM (
			SELECT *, command = $2 AND published_at > now() - interval '24 hours' AS again
			FROM venue_map_versions WHERE map = $1 ORDER BY again DESC, version DESC LIMIT 1) v`,
		number, command, string(draft)).Scan(&v.Number, &v.Seats, &v.PublishedAt, &done)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return v, done, err
}

// Layout returns the layout and the other elements of a version of a map of any organization: of
// the newest version if version is 0. It returns nil if there is no such map or version.
func (s *Store) Layout(ctx context.Context, id uuid.UUID, version int32) (layout *seatmap.Layout, elements []byte, err error) {
	var packed []byte
	err = s.pool.QueryRow(ctx, `SELECT v.layout, v.elements FROM venue_maps m JOIN venue_map_versions v ON v.map = m.id
		WHERE m.public_id = $1 AND ($2 = 0 OR v.version = $2) ORDER BY v.version DESC LIMIT 1`, id, version).Scan(&packed, &elements)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("layout of a venue map: %w", err)
	}
	layout = new(seatmap.Layout)
	if err := codec.Unmarshal(packed, layout); err != nil {
		return nil, nil, fmt.Errorf("layout of a venue map: %w", err)
	}
	return layout, elements, nil
}

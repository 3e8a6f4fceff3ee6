package apikeys

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/persistence"
)

// columns are in the order of the fields of Key, because rows are read by position.
const columns = `id, org, public_id, name, environment, scopes, ip_allowlist, secret_hash, status,
	expires_at, last_used_at, strict_per_minute, created_by, created_at, updated_at, events, gate`

// Draw draws a key for an environment, live or test, and returns what is stored of it. It is called
// again if another key already has the public id.
type Draw func(environment string) (publicID string, hash [sha256.Size]byte)

// publicIDs is the constraint that makes public ids unique.
const publicIDs = "api_keys_public_id_key"

// Create draws an active key with k's Org, Name, Environment, Scopes, Allowlist, ExpiresAt, CreatedBy, Events and
// Gate, or returns ErrTooMany.
//
// A command may be repeated for a day. Its key then gets the Name, Environment, Scopes, Allowlist and ExpiresAt
// of the repeated request, and a new secret, because only the hash of the old one is stored. Create returns
// ErrRevoked if the command's key was revoked, or belongs to another organization.
func (s *Store) Create(ctx context.Context, command [16]byte, k *Key, draw Draw) (*Key, error) {
	var made *Key
	err := persistence.Redraw(func() (err error) {
		publicID, hash := draw(k.Environment)
		made, err = s.insert(ctx, command, k, publicID, hash)
		return err
	}, publicIDs)
	if errors.Is(err, pgx.ErrNoRows) { // the command's key was revoked, or is another organization's
		return nil, ErrRevoked
	}
	if err != nil {
		return nil, fmt.Errorf("create api key: %w", err)
	}
	return made, nil
}

// insert stores the key that was drawn, or writes it into the row that the same command has made
// before.
func (s *Store) insert(ctx context.Context, command [16]byte, k *Key, publicID string, hash [sha256.Size]byte) (made *Key, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		made, err = insertKey(ctx, tx, command, k, publicID, hash)
		return err
	})
	return made, err
}

// insertKey adds the row of a key. A command that comes again writes over the row that it made. insertKey
// returns pgx.ErrNoRows if that row belongs to another organization, or if its key was revoked.
func insertKey(ctx context.Context, tx pgx.Tx, command [16]byte, k *Key, publicID string, hash [sha256.Size]byte) (*Key, error) {
	if err := refuseIfFull(ctx, tx, command, k.Org); err != nil {
		return nil, err
	}
	rows, _ := tx.Query(ctx, `INSERT INTO api_keys AS k
			(command, org, public_id, name, environment, scopes, ip_allowlist, secret_hash, expires_at, created_by, events, gate)
		VALUES ($1, $2, $3, $4, $5, $6, coalesce($7::cidr[], '{}'), $8, $9, $10, $11, $12)
		ON CONFLICT (command) DO UPDATE SET public_id = excluded.public_id, name = excluded.name,
			environment = excluded.environment, scopes = excluded.scopes, ip_allowlist = excluded.ip_allowlist,
			secret_hash = excluded.secret_hash, expires_at = excluded.expires_at, updated_at = now()
		WHERE k.org = excluded.org AND k.status <> 'revoked'
		RETURNING `+columns,
		command, k.Org, publicID, k.Name, k.Environment, k.Scopes, k.Allowlist, hash[:], k.ExpiresAt, k.CreatedBy, k.Events, k.Gate) // CollectExactlyOneRow returns its error
	return pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[Key])
}

// refuseIfFull makes sure that the organization may have one more key. It locks the organization's row
// until the transaction ends, so that only one create at a time counts keys.
func refuseIfFull(ctx context.Context, tx pgx.Tx, command [16]byte, org int64) error {
	if _, err := tx.Exec(ctx, `SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE`, org); err != nil {
		return err
	}
	// A command that is older than a day counts as a new one, so its key must not be written over.
	if _, err := tx.Exec(ctx, `UPDATE api_keys SET command = NULL
		WHERE command = $1 AND created_at < now() - interval '24 hours'`, command); err != nil {
		return err
	}
	var others int
	err := tx.QueryRow(ctx, `SELECT count(*) FROM api_keys
		WHERE org = $1 AND status <> 'revoked' AND command IS DISTINCT FROM $2`, org, command).Scan(&others)
	if err == nil && others >= MaxPerOrg {
		return ErrTooMany
	}
	return err
}

// List returns a page of an organization's keys, the newest first and including revoked ones: those
// with ids below before, or the newest if before is 0.
func (s *Store) List(ctx context.Context, org, before int64, limit int) ([]*Key, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+columns+` FROM api_keys
		WHERE org = $1 AND ($2 = 0 OR id < $2) ORDER BY id DESC LIMIT $3`, org, before, limit) // CollectRows returns its error
	keys, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[Key])
	if err != nil {
		return nil, fmt.Errorf("list api keys: %w", err)
	}
	return keys, nil
}

// ListUnrevoked returns all of an organization's keys that are not revoked, the newest first: MaxPerOrg at most.
func (s *Store) ListUnrevoked(ctx context.Context, org int64) ([]*Key, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+columns+` FROM api_keys
		WHERE org = $1 AND status <> 'revoked' ORDER BY id DESC`, org) // CollectRows returns its error
	keys, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[Key])
	if err != nil {
		return nil, fmt.Errorf("list api keys: %w", err)
	}
	return keys, nil
}

// Get returns an organization's key, or nil.
func (s *Store) Get(ctx context.Context, org, id int64) (*Key, error) {
	return findKey(ctx, s.pool, `SELECT `+columns+` FROM api_keys WHERE id = $1 AND org = $2`, id, org)
}

// ByPublicID returns the key with a public id, or nil.
func (s *Store) ByPublicID(ctx context.Context, publicID string) (*Key, error) {
	return findKey(ctx, s.pool, `SELECT `+columns+` FROM api_keys WHERE public_id = $1`, publicID)
}

// Update changes an organization's key and returns the changed key. It returns nil if there is none, ErrRevoked
// if it is revoked, and the error of change if that fails. change may set PublicID, Name, Scopes, Allowlist,
// SecretHash, Status and ExpiresAt, and must do nothing else, because the key's row is locked. UpdatedAt stays
// if nothing changes.
func (s *Store) Update(ctx context.Context, org, id int64, change func(*Key) error) (*Key, error) {
	var k *Key
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		k, err = findKey(ctx, tx, `SELECT `+columns+` FROM api_keys WHERE id = $1 AND org = $2 FOR UPDATE`, id, org)
		if err != nil || k == nil {
			return err
		}
		if k.Status == Revoked {
			return ErrRevoked
		}
		if err := change(k); err != nil {
			return err
		}
		k, err = findKey(ctx, tx, `UPDATE api_keys SET public_id = $2, name = $3, scopes = $4, ip_allowlist = coalesce($5::cidr[], '{}'),
			secret_hash = $6, status = $7, expires_at = $8,
			updated_at = CASE WHEN (public_id, name, scopes, ip_allowlist, secret_hash, status, expires_at)
				IS DISTINCT FROM ($2, $3, $4, coalesce($5::cidr[], '{}'), $6, $7, $8) THEN now() ELSE updated_at END
			WHERE id = $1 RETURNING `+columns,
			id, k.PublicID, k.Name, k.Scopes, k.Allowlist, k.SecretHash, k.Status, k.ExpiresAt)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("update api key: %w", err)
	}
	return k, nil
}

// Rotate draws another secret and public id for an organization's key; the old ones no longer work.
// It returns what Update returns.
func (s *Store) Rotate(ctx context.Context, org, id int64, draw Draw) (k *Key, err error) {
	err = persistence.Redraw(func() (err error) {
		k, err = s.Update(ctx, org, id, func(k *Key) error {
			publicID, hash := draw(k.Environment)
			k.PublicID, k.SecretHash = publicID, hash[:]
			return nil
		})
		return err
	}, publicIDs)
	return k, err
}

// Revoke ends an organization's key for good and returns it, or nil if there is none. A revoked key
// stays as it is.
func (s *Store) Revoke(ctx context.Context, org, id int64) (*Key, error) {
	k, err := s.Update(ctx, org, id, func(k *Key) error {
		k.Status = Revoked
		return nil
	})
	if errors.Is(err, ErrRevoked) {
		return s.Get(ctx, org, id)
	}
	return k, err
}

// SetStrictLimit sets how many strict writes a minute a key of any organization may make; nil means the tier's own
// limit. It returns the key, or nil if there is none.
func (s *Store) SetStrictLimit(ctx context.Context, id int64, perMinute *int) (*Key, error) {
	return findKey(ctx, s.pool, `UPDATE api_keys SET strict_per_minute = $2,
			updated_at = CASE WHEN strict_per_minute IS DISTINCT FROM $2 THEN now() ELSE updated_at END
		WHERE id = $1 RETURNING `+columns, id, perMinute)
}

// Touch notes when keys were last used. A time before the noted one changes nothing.
func (s *Store) Touch(ctx context.Context, used map[int64]time.Time) error {
	ids, times := make([]int64, 0, len(used)), make([]time.Time, 0, len(used))
	for id, at := range used {
		ids, times = append(ids, id), append(times, at)
	}
	// The rows are locked in the order of ids, so that two nodes never deadlock.
	_, err := s.pool.Exec(ctx, `WITH used AS MATERIALIZED (
			SELECT k.id, u.at FROM api_keys k JOIN unnest($1::bigint[], $2::timestamptz[]) AS u (id, at) ON u.id = k.id
			ORDER BY k.id FOR UPDATE OF k)
		UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, used.at) FROM used WHERE k.id = used.id`, ids, times)
	if err != nil {
		return fmt.Errorf("touch api keys: %w", err)
	}
	return nil
}

// findKey returns the key that a statement returns, or nil.
func findKey(ctx context.Context, q persistence.Querier, sql string, args ...any) (*Key, error) {
	rows, _ := q.Query(ctx, sql, args...) // CollectOneRow returns its error
	k, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Key])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no key is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("api key: %w", err)
	}
	return k, nil
}

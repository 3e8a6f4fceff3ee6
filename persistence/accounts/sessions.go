package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Lifetimes of sessions (docs/rules.md, Credentials).
const (
	sessionIdle  = 30 * 24 * time.Hour // from the last refresh
	sessionLife  = 90 * 24 * time.Hour
	refreshGrace = 30 * time.Second // in which a client that lost the answer may ask again
	sessionsMax  = 100              // shown
)

// sessionLives is the condition on a session s that it still stands.
const sessionLives = `s.revoked_at IS NULL AND s.idle_expires_at > now() AND s.expires_at > now()`

// What stands in the way of a sign-in.
var (
	// ErrPasswordChanged says that the password is no longer the one that
	// was checked.
	ErrPasswordChanged = errors.New("accounts: the password has been changed")
	// ErrSessionOver says that a refresh token opens no session, or none any
	// more.
	ErrSessionOver = errors.New("accounts: the session is over")
)

// SignIn is what is known of somebody who has proven to be a user.
type SignIn struct {
	User          int64
	PasswordHash  string // that was matched; empty if no password was used
	EmailProven   bool   // whoever signs in has the mailbox; so has who knows the password of a proven account
	ClientAddress string
	UserAgent     string
}

// Session is one that stands.
type Session struct {
	ID            uuid.UUID
	ClientAddress string // of the last refresh
	UserAgent     string
	CreatedAt     time.Time
	LastUsedAt    time.Time // of the last refresh
	ExpiresAt     time.Time // unless it is used before
}

// OpenSession opens a session, whose refresh token is of the first generation.
// ErrPasswordChanged means that a reset came in between.
func (s *Store) OpenSession(ctx context.Context, in SignIn) (uuid.UUID, error) {
	return openSession(ctx, s.pool, in)
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// FirstGeneration is that of a new session's refresh token.
const FirstGeneration = 1

func openSession(ctx context.Context, q querier, in SignIn) (id uuid.UUID, err error) {
	// The lock makes this wait for a reset that is under way, and a reset
	// for this: no session is opened with a password that is no more.
	err = q.QueryRow(ctx, `WITH u AS (SELECT id, email_verified FROM users WHERE id = $1 AND ($2 = '' OR password_hash = $2) FOR SHARE)
		INSERT INTO sessions (usr, generation, email_proven, idle_expires_at, expires_at, client_address, user_agent)
		SELECT id, $3, $4 OR $2 <> '' AND email_verified, now() + $5::interval, now() + $6::interval, $7, $8 FROM u RETURNING id`,
		in.User, in.PasswordHash, FirstGeneration, in.EmailProven, sessionIdle, sessionLife, in.ClientAddress, in.UserAgent).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return id, ErrPasswordChanged
	}
	if err != nil {
		return id, fmt.Errorf("open session: %w", err)
	}
	return id, nil
}

// Refresh uses up the refresh token of a generation: it returns the session's
// user and the generation of the token that follows. The token used last gives
// the same successor once more for refreshGrace, since its answer may have been
// lost and the successor is unused. Any other that was used before has been
// stolen, from the client or by it: the session is revoked. All that fails is
// ErrSessionOver.
func (s *Store) Refresh(ctx context.Context, id uuid.UUID, generation uint32, client, agent string) (user int64, next uint32, err error) {
	next = generation + 1
	err = s.pool.QueryRow(ctx, `UPDATE sessions s SET generation = $3, rotated_at = now(), last_used_at = now(),
			idle_expires_at = now() + $4::interval, client_address = $5, user_agent = $6
		WHERE id = $1 AND generation = $2 AND `+sessionLives+` RETURNING usr`,
		id, generation, next, sessionIdle, client, agent).Scan(&user)
	if err == nil {
		return user, next, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, fmt.Errorf("refresh: %w", err)
	}
	var again bool
	err = s.pool.QueryRow(ctx, `SELECT usr, generation = $2 AND rotated_at > now() - $3::interval FROM sessions s WHERE id = $1 AND `+sessionLives,
		id, next, refreshGrace).Scan(&user, &again)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, 0, ErrSessionOver
	case err != nil:
		return 0, 0, fmt.Errorf("refresh: %w", err)
	case again:
		return user, next, nil
	}
	if err := s.Revoke(ctx, id); err != nil {
		return 0, 0, err
	}
	return 0, 0, ErrSessionOver
}

// Revoke ends a session, if it has not ended.
func (s *Store) Revoke(ctx context.Context, id uuid.UUID) error {
	if _, err := s.pool.Exec(ctx, `UPDATE sessions SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL`, id); err != nil {
		return fmt.Errorf("revoke session: %w", err)
	}
	return nil
}

// SignOut ends all of a user's sessions, and the sign-ins that wait for their
// second factor.
func (s *Store) SignOut(ctx context.Context, user int64) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return signOut(ctx, tx, user) })
	if err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	return nil
}

// signOut locks in the order users, challenges, sessions, as all here do. A
// sign-in that is under way is waited for, and ended too.
func signOut(ctx context.Context, tx pgx.Tx, user int64) error {
	for _, sql := range []string{
		`SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE`,
		`DELETE FROM challenges WHERE usr = $1`,
		`UPDATE sessions SET revoked_at = now() WHERE usr = $1 AND revoked_at IS NULL`,
	} {
		if _, err := tx.Exec(ctx, sql, user); err != nil {
			return err
		}
	}
	return nil
}

// Sessions are the user's that stand, the last used first.
func (s *Store) Sessions(ctx context.Context, user int64) ([]Session, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id, client_address, user_agent, created_at, last_used_at, least(idle_expires_at, expires_at)
		FROM sessions s WHERE usr = $1 AND `+sessionLives+` ORDER BY last_used_at DESC, id LIMIT $2`, user, sessionsMax) // CollectRows returns its error
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Session])
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	return out, nil
}

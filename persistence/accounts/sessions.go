package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"boxoffice/persistence"
)

// Lifetimes of sessions (docs/rules.md, Credentials).
const (
	sessionIdle  = 30 * 24 * time.Hour // a session ends if it was not refreshed for this long
	sessionLife  = 90 * 24 * time.Hour // a session ends after this time, however often it was refreshed
	refreshGrace = 30 * time.Second    // how long a client whose answer was lost may ask for it again
	sessionsMax  = 100                 // how many sessions are listed at most
)

// sessionLives is the condition that a session s has not ended.
const sessionLives = `s.revoked_at IS NULL AND s.idle_expires_at > now() AND s.expires_at > now()`

// These are the reasons why a session is not opened, or gets no new tokens.
var (
	// ErrPasswordChanged says that the password that was checked has been replaced.
	ErrPasswordChanged = errors.New("accounts: the password has been changed")
	// ErrSessionOver says that a refresh token has no session, or that its session has ended.
	ErrSessionOver = errors.New("accounts: the session is over")
)

// SignIn is what is known about somebody who has proven to be a user.
type SignIn struct {
	User          int64
	PasswordHash  string // the stored hash that the password fitted; empty if no password was used
	EmailProven   bool   // the person has proven the mailbox without the password; a password proves it too if the account is proven
	ClientAddress string
	UserAgent     string
}

// Session is a session that has not ended.
type Session struct {
	ID            uuid.UUID
	ClientAddress string // the client's address at the last refresh, or at the sign-in before the first
	UserAgent     string
	CreatedAt     time.Time
	LastUsedAt    time.Time // the time of the last refresh, or of the sign-in before the first
	ExpiresAt     time.Time // when the session ends if it is not refreshed before
}

// OpenSession opens a session, whose refresh token is of the first generation. It returns ErrPasswordChanged if
// the password has changed since the caller checked it.
func (s *Store) OpenSession(ctx context.Context, in SignIn) (uuid.UUID, error) {
	return openSession(ctx, s.pool, in)
}

// FirstGeneration is the generation of a new session's refresh token.
const FirstGeneration = 1

// openSession does the work of OpenSession, also in a caller's transaction. It notes whether the mailbox is proven:
// by the sign-in itself, or by a password of an account that is proven.
func openSession(ctx context.Context, q persistence.Querier, in SignIn) (id uuid.UUID, err error) {
	// The lock makes this wait for a reset that is under way, and a reset wait for this, so that no
	// session is opened with a replaced password.
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

// Refresh uses up the refresh token of a generation. It returns the session's user and the generation of the
// next token. The answer with the next token may be lost. So the token that was used last gives the same next
// token again within refreshGrace, as long as the next token is unused. Any other used token means that two
// parties have the token, and one of them has stolen it, so the session is revoked. Refresh returns
// ErrSessionOver for a token that it refuses.
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

// SignOut ends all of a user's sessions, and the sign-ins that wait for a second factor.
func (s *Store) SignOut(ctx context.Context, user int64) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return signOut(ctx, tx, user) })
	if err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	return nil
}

// signOut ends a user's sessions and sign-ins. It locks users, challenges and sessions in this order, as all
// functions here do, so it waits for a sign-in that is under way, and ends that too.
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

// Sessions returns at most sessionsMax of the user's sessions that have not ended, the last used first.
func (s *Store) Sessions(ctx context.Context, user int64) ([]Session, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id, client_address, user_agent, created_at, last_used_at, least(idle_expires_at, expires_at)
		FROM sessions s WHERE usr = $1 AND `+sessionLives+` ORDER BY last_used_at DESC, id LIMIT $2`, user, sessionsMax) // CollectRows returns its error
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Session])
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	return out, nil
}

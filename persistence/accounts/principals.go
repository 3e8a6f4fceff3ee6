package accounts

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Standing is what a user with a session may do now.
type Standing struct {
	Alive         bool // the session is the user's, is not revoked and has not ended
	Email         string
	EmailProven   bool // the person who opened the session has the mailbox of Email
	PlatformAdmin bool
	Orgs          []int64  // the user's organizations by number, in order; without the ones by invitation unless EmailProven
	Roles         []string // the user's role in the organization at the same place in Orgs
}

// Principal returns the standing of a user with a session. For an unknown user or session it
// returns a Standing that is not Alive.
func (s *Store) Principal(ctx context.Context, user int64, session string) (*Standing, error) {
	id, err := uuid.Parse(session)
	if err != nil {
		return new(Standing), nil
	}
	rows, _ := s.pool.Query(ctx, `SELECT true, u.email, s.email_proven, u.platform_admin,
			array(SELECT org FROM members WHERE usr = u.id AND (s.email_proven OR NOT invited) ORDER BY org),
			array(SELECT role FROM members WHERE usr = u.id AND (s.email_proven OR NOT invited) ORDER BY org)
		FROM users u JOIN sessions s ON s.usr = u.id
		WHERE u.id = $1 AND s.id = $2 AND `+sessionLives, user, id) // CollectOneRow returns its error
	st, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Standing])
	if errors.Is(err, pgx.ErrNoRows) {
		return new(Standing), nil
	}
	if err != nil {
		return nil, fmt.Errorf("principal: %w", err)
	}
	return st, nil
}

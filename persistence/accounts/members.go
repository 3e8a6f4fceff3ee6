package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// owner is the role that only an owner may give or take away. Each organization has at least one
// owner.
const owner = "owner"

// These are the reasons why a change of an organization's members is refused.
var (
	ErrMember    = errors.New("accounts: the user is a member already")
	ErrNotAdmin  = errors.New("accounts: only an owner or an admin manages members")
	ErrNotOwner  = errors.New("accounts: only an owner makes, changes or removes an owner")
	ErrLastOwner = errors.New("accounts: an organization keeps an owner")
)

// Member is a user in an organization.
type Member struct {
	User     int64
	PublicID string
	Email    string
	Name     string // may be empty
	Role     string // owner, admin or member
	JoinedAt time.Time
}

// memberColumns show an invited member under the name that was given with the invitation. Otherwise
// any organizer could invite an address to find out its owner's name.
const memberColumns = `m.usr, u.public_id::text, u.email,
	CASE WHEN m.invited THEN m.name ELSE trim(u.first_name || ' ' || u.last_name) END, m.role, m.joined_at`

// Members returns at most limit of an organization's members, ordered by account. They come after
// the user with the number after; 0 begins with the first.
func (s *Store) Members(ctx context.Context, org, after int64, limit int) ([]Member, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+memberColumns+` FROM members m JOIN users u ON u.id = m.usr
		WHERE m.org = $1 AND m.usr > $2 ORDER BY m.usr LIMIT $3`, org, after, limit) // CollectRows returns its error
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Member])
	if err != nil {
		return nil, fmt.Errorf("members: %w", err)
	}
	return out, nil
}

// Owners returns an organization's owners, ordered by account.
func (s *Store) Owners(ctx context.Context, org int64) ([]Member, error) {
	rows, _ := s.pool.Query(ctx, `SELECT `+memberColumns+` FROM members m JOIN users u ON u.id = m.usr
		WHERE m.org = $1 AND m.role = 'owner' ORDER BY m.usr`, org) // CollectRows returns its error
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Member])
	if err != nil {
		return nil, fmt.Errorf("owners: %w", err)
	}
	return out, nil
}

// NewMember says who is to become a member of an organization.
type NewMember struct {
	Command [16]byte // a repeat of the command finds the member that it has made
	Email   string   // the address in lower case, whether or not it has an account
	Name    string   // may be empty; also the account's name if the e-mail is new
	Role    string
}

// AddMember makes the account of an e-mail address a member of the organization. If there is no account, it
// first makes one without a password, whose owner signs in with a mailed code. actor is the user who asks. It
// returns ErrMember, ErrNotAdmin or ErrNotOwner if it refuses. A repeated command gets the member that the
// first one has made.
func (s *Store) AddMember(ctx context.Context, org, actor int64, n NewMember) (*Member, error) {
	return s.manageMembers(ctx, org, actor, func(tx pgx.Tx, actorRole string) (*Member, error) {
		if n.Role == owner && actorRole != owner {
			return nil, ErrNotOwner
		}
		u, err := ensureUser(ctx, tx, n.Email, n.Name)
		if err != nil {
			return nil, err
		}
		tag, err := tx.Exec(ctx, `INSERT INTO members AS m (org, usr, role, invited, name, command) VALUES ($1, $2, $3, true, $4, $5)
			ON CONFLICT (usr, org) DO UPDATE SET command = excluded.command WHERE m.command = excluded.command`,
			org, u.ID, n.Role, n.Name, n.Command)
		if err != nil {
			return nil, err
		}
		if tag.RowsAffected() == 0 {
			return nil, ErrMember
		}
		return findMember(ctx, tx, org, u.PublicID)
	})
}

// SetRole changes the role of the member with a public id. It returns nil if there is no such
// member, and ErrNotAdmin, ErrNotOwner or ErrLastOwner if it refuses.
func (s *Store) SetRole(ctx context.Context, org, actor int64, user, role string) (*Member, error) {
	return s.changeMember(ctx, org, actor, user, role, `UPDATE members SET role = $3 WHERE org = $1 AND usr = $2`, role)
}

// RemoveMember removes the member with a public id from the organization, and returns that member.
// It refuses as SetRole does.
func (s *Store) RemoveMember(ctx context.Context, org, actor int64, user string) (*Member, error) {
	return s.changeMember(ctx, org, actor, user, "", `DELETE FROM members WHERE org = $1 AND usr = $2`)
}

// changeMember runs a statement that gives a member another role, or removes the member if role is "". It
// refuses a change of an owner, or to an owner, by anybody but an owner, and what would leave the organization
// without an owner.
func (s *Store) changeMember(ctx context.Context, org, actor int64, user, role, sql string, args ...any) (*Member, error) {
	return s.manageMembers(ctx, org, actor, func(tx pgx.Tx, actorRole string) (*Member, error) {
		m, err := findMember(ctx, tx, org, user)
		if err != nil || m == nil {
			return nil, err
		}
		if (m.Role == owner || role == owner) && actorRole != owner {
			return nil, ErrNotOwner
		}
		// The organization's row is locked (manageMembers), so no other owner can leave between
		// this count and the change.
		if m.Role == owner && role != owner {
			var others int
			if err := tx.QueryRow(ctx, `SELECT count(*) FROM members WHERE org = $1 AND role = 'owner' AND usr <> $2`,
				org, m.User).Scan(&others); err != nil {
				return nil, err
			}
			if others == 0 {
				return nil, ErrLastOwner
			}
		}
		if _, err := tx.Exec(ctx, sql, append([]any{org, m.User}, args...)...); err != nil {
			return nil, err
		}
		if role != "" {
			m.Role = role
		}
		return m, nil
	})
}

// manageMembers runs a change of an organization's members, and tells it the role of the user who
// asks. Changes of one organization wait for one another. If two owners remove each other at once,
// the second one is therefore no owner any more when its change is checked.
func (s *Store) manageMembers(ctx context.Context, org, actor int64, do func(tx pgx.Tx, actorRole string) (*Member, error)) (*Member, error) {
	var m *Member
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if _, err := tx.Exec(ctx, `SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE`, org); err != nil {
			return err
		}
		var role string
		err = tx.QueryRow(ctx, `SELECT role FROM members WHERE org = $1 AND usr = $2`, org, actor).Scan(&role)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if role != owner && role != "admin" {
			return ErrNotAdmin
		}
		m, err = do(tx, role)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("manage members: %w", err)
	}
	return m, nil
}

// findMember returns the member with a public id, or nil if there is none.
func findMember(ctx context.Context, tx pgx.Tx, org int64, user string) (*Member, error) {
	rows, _ := tx.Query(ctx, `SELECT `+memberColumns+` FROM members m JOIN users u ON u.id = m.usr
		WHERE m.org = $1 AND u.public_id = $2`, org, user) // CollectOneRow returns its error
	m, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Member])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no member is an answer
	}
	return m, err
}

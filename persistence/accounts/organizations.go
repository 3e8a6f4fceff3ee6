package accounts

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Organization is a party that sells tickets.
type Organization struct {
	ID       int64
	PublicID string
	Name     string
	Slug     string // the unique name of the organization in addresses of pages
}

// Profile is an organization with what it says about itself.
type Profile struct {
	Organization
	Description  string
	Website      string
	ContactEmail string
	ContactPhone string
	LogoURL      string
	Type         string
	Verified     bool
	Status       string   // active or suspended
	SocialLinks  []byte   // a JSON object, which this package does not look into
	PageTheme    []byte   // a JSON object, which this package does not look into
	EmbedOrigins []string // the web origins whose pages may show the organization's events
	CreatedAt    time.Time
}

// Membership is a user's role in one organization: owner, admin or member.
type Membership struct {
	Org  Organization
	Role string
}

// drawTail draws the end of a slug, which tells apart organizations with the same name. Among 100
// million of them, two have the same tail with a probability of 3e-4; then another tail is drawn.
func drawTail() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// slug returns a name in the form that addresses of pages contain, followed by the tail that makes
// it unique.
func slug(name, tail string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		default:
			return '-'
		}
	}, strings.ToLower(name))
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '-' }), "-")
	// A name without any ASCII letter or digit leaves nothing, so the slug is then the tail alone.
	return strings.TrimPrefix(s[:min(len(s), 60)]+"-"+tail, "-")
}

// Memberships returns the user's organizations, the oldest first. Those that the user was invited
// to are included only if the user's mailbox is proven: the invitation was for the owner of the
// address.
func (s *Store) Memberships(ctx context.Context, user int64) ([]Membership, error) {
	rows, _ := s.pool.Query(ctx, `SELECT o.id, o.public_id::text, o.name, o.slug, m.role
		FROM members m JOIN organizations o ON o.id = m.org JOIN users u ON u.id = m.usr
		WHERE m.usr = $1 AND (u.email_verified OR NOT m.invited) ORDER BY o.id`, user) // CollectRows returns its error
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Membership, err error) {
		err = row.Scan(&m.Org.ID, &m.Org.PublicID, &m.Org.Name, &m.Org.Slug, &m.Role)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("memberships: %w", err)
	}
	return out, nil
}

// Organization returns the organization with a number, or nil if there is none.
func (s *Store) Organization(ctx context.Context, id int64) (*Organization, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id, public_id::text, name, slug FROM organizations WHERE id = $1`, id) // CollectOneRow returns its error
	o, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Organization])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no organization is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("organization: %w", err)
	}
	return o, nil
}

// OrganizationNamed finds an organization by its number, its public id or its slug. It
// returns nil if there is none.
func (s *Store) OrganizationNamed(ctx context.Context, name string) (*Organization, error) {
	const find = `SELECT id, public_id::text, name, slug FROM organizations WHERE id = $1 OR public_id = $2 OR slug = $3`
	number, _ := strconv.ParseUint(name, 10, 63) // 0, which no organization has, if it is not a number
	var public *uuid.UUID
	if id, err := uuid.Parse(name); err == nil {
		public = &id
	}
	rows, _ := s.pool.Query(ctx, find, int64(number), public, name) //nolint:gosec // it has 63 bits; CollectOneRow returns its error
	o, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Organization])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no organization is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("organization: %w", err)
	}
	return o, nil
}

// SlugsOf returns the slugs of the given organizations that are active, in the order of the alphabet.
func (s *Store) SlugsOf(ctx context.Context, ids []int64) ([]string, error) {
	rows, _ := s.pool.Query(ctx, `SELECT slug FROM organizations WHERE id = ANY($1) AND status = 'active' ORDER BY slug`, ids) // CollectRows returns its error
	slugs, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("slugs of organizations: %w", err)
	}
	return slugs, nil
}

const selectProfile = `SELECT id, public_id::text, name, slug, description, website, contact_email, contact_phone,
	logo_url, type, verified, status, social_links, page_theme, embed_origins, created_at FROM organizations WHERE id = $1`

// EditProfile changes what an organization says about itself. change gets the profile and may set its Name,
// Description, Website, ContactEmail, ContactPhone, LogoURL, SocialLinks, PageTheme and EmbedOrigins; nothing
// else is written. EditProfile returns nil if there is no such organization.
func (s *Store) EditProfile(ctx context.Context, id int64, change func(*Profile)) (*Profile, error) {
	const write = `UPDATE organizations SET name = $2, description = $3, website = $4, contact_email = $5, contact_phone = $6,
		logo_url = $7, social_links = $8, page_theme = $9, embed_origins = $10 WHERE id = $1`
	var p *Profile
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, selectProfile+` FOR NO KEY UPDATE`, id) // CollectOneRow returns its error
		found, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Profile])
		if err != nil {
			return err
		}
		p = found
		change(p)
		_, err = tx.Exec(ctx, write, id, p.Name, p.Description, p.Website, p.ContactEmail, p.ContactPhone, p.LogoURL, p.SocialLinks, p.PageTheme, p.EmbedOrigins)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no organization is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("edit an organization's profile: %w", err)
	}
	return p, nil
}

// Profile returns an organization with its profile, or nil if there is none.
func (s *Store) Profile(ctx context.Context, id int64) (*Profile, error) {
	rows, _ := s.pool.Query(ctx, selectProfile, id) // CollectOneRow returns its error
	p, err := pgx.CollectOneRow(rows, pgx.RowToAddrOfStructByPos[Profile])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // no organization is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("organization's profile: %w", err)
	}
	return p, nil
}

package accounts_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/accounts"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func TestRegister(t *testing.T) {
	t.Parallel()
	s := accounts.New(persisttest.Migrated(t))
	r := accounts.Registration{Email: "ada@example.org", PasswordHash: "x", FirstName: "Ada", Organization: "Ada & Söhne"}
	u, err := s.Register(t.Context(), r)
	require.NoError(t, err)
	got, err := s.UserByEmail(t.Context(), "ada@example.org")
	require.NoError(t, err)
	require.Equal(t, u, got)
	member, err := s.Memberships(t.Context(), u.ID)
	require.NoError(t, err)
	require.Len(t, member, 1)
	require.Equal(t, "owner", member[0].Role)
	org, err := s.Organization(t.Context(), member[0].Org.ID)
	require.NoError(t, err)
	require.Equal(t, &member[0].Org, org)

	_, err = s.Register(t.Context(), r)
	require.ErrorIs(t, err, accounts.ErrEmailTaken)
	none, err := s.UserByEmail(t.Context(), "nobody@example.org")
	require.NoError(t, err)
	require.Nil(t, none)
	byID, err := s.User(t.Context(), u.ID)
	require.NoError(t, err)
	require.Equal(t, u, byID)
	none, err = s.User(t.Context(), u.ID+1)
	require.NoError(t, err)
	require.Nil(t, none)
}

// TestSlugsThatCollide registers organizations of the same name for which the same tail is drawn:
// the second one gets another slug. If every draw is the same, registration fails after a few
// tries, and leaves no account behind.
func TestSlugsThatCollide(t *testing.T) {
	t.Parallel()
	tails, draws := []string{"aa", "aa", "aa", "bb", "bb"}, 0
	s := accounts.NewDrawing(persisttest.Migrated(t), func() string {
		draws++
		return tails[min(draws, len(tails))-1]
	})
	slugOf := func(email string) string {
		u, err := s.Register(t.Context(), accounts.Registration{Email: email, Organization: "Hall"})
		require.NoError(t, err)
		member, err := s.Memberships(t.Context(), u.ID)
		require.NoError(t, err)
		return member[0].Org.Slug
	}
	require.Equal(t, "hall-aa", slugOf("ada@example.org"))
	require.Equal(t, "hall-bb", slugOf("bob@example.org"))
	require.Equal(t, 4, draws)

	_, err := s.Register(t.Context(), accounts.Registration{Email: "ada@example.org", Organization: "Other"})
	require.ErrorIs(t, err, accounts.ErrEmailTaken)
	require.Equal(t, 5, draws, "no draw helps against that")

	_, err = s.Register(t.Context(), accounts.Registration{Email: "eve@example.org", Organization: "Hall"})
	require.ErrorContains(t, err, "organizations_slug_key")
	require.Equal(t, 9, draws, "the tries are bounded")
	none, err := s.UserByEmail(t.Context(), "eve@example.org")
	require.NoError(t, err)
	require.Nil(t, none)
}

// TestEnsureAdmin makes sure that nodes that start at once make one administrator, even from an
// existing account, and that the person who had that account loses it.
func TestEnsureAdmin(t *testing.T) {
	t.Parallel()
	b := open(t)
	squatter := b.user("admin@example.org")
	session, err := b.OpenSession(t.Context(), accounts.SignIn{User: squatter.ID})
	require.NoError(t, err)
	secret := b.twoFactor(squatter.ID)
	b.exec(`UPDATE users SET email_verified = false`) // as the previous release left it
	for _, email := range []string{"admin@example.org", "new@example.org"} {
		together(t, 4, func(int) error { return b.EnsureAdmin(t.Context(), email, "configured") })
		u, err := b.UserByEmail(t.Context(), email)
		require.NoError(t, err)
		require.True(t, u.PlatformAdmin)
		require.True(t, u.EmailVerified)
		require.False(t, u.TwoFactor)
		require.Equal(t, "configured", u.PasswordHash)
	}
	st, err := b.Principal(t.Context(), squatter.ID, session.String())
	require.NoError(t, err)
	require.False(t, st.Alive)
	_, err = b.PassChallenge(t.Context(), [32]byte{}, accounts.Factor{Recovery: secret}, accounts.SignIn{User: squatter.ID})
	require.ErrorIs(t, err, accounts.ErrCodeInvalid)

	t.Log("the password that the administrator has set since stays")
	require.NoError(t, b.EnsureAdmin(t.Context(), "admin@example.org", "configured again"))
	u, err := b.UserByEmail(t.Context(), "admin@example.org")
	require.NoError(t, err)
	require.Equal(t, "configured", u.PasswordHash)
}

func TestPrincipal(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	session, err := b.OpenSession(t.Context(), accounts.SignIn{User: u.ID, EmailProven: true})
	require.NoError(t, err)
	member, err := b.Memberships(t.Context(), u.ID)
	require.NoError(t, err)
	st, err := b.Principal(t.Context(), u.ID, session.String())
	require.NoError(t, err)
	require.Equal(t, &accounts.Standing{
		Alive: true, Email: "ada@example.org", EmailProven: true, Orgs: []int64{member[0].Org.ID}, Roles: []string{"owner"},
	}, st)
	other := b.user("bob@example.org")
	for _, c := range []struct {
		user    int64
		session string
	}{{other.ID, session.String()}, {u.ID + 100, session.String()}, {u.ID, "x"}, {u.ID, ""}, {u.ID, "00000000-0000-4000-8000-000000000000"}} {
		st, err := b.Principal(t.Context(), c.user, c.session)
		require.NoError(t, err)
		require.False(t, st.Alive)
	}
	for _, over := range []string{"revoked_at = now()", "idle_expires_at = now()", "expires_at = now()"} {
		session, err := b.OpenSession(t.Context(), accounts.SignIn{User: u.ID})
		require.NoError(t, err)
		b.exec(`UPDATE sessions SET `+over+` WHERE id = $1`, session)
		st, err := b.Principal(t.Context(), u.ID, session.String())
		require.NoError(t, err)
		require.False(t, st.Alive, over)
	}
}

// TestChanges makes sure that every change of a credential is noted, under the name by which nodes
// know it, and that nothing else is.
func TestChanges(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	subject := fmt.Sprintf("user/%d", u.ID)
	seen := map[int64]bool{}
	notes := func() (fresh []string) {
		all, err := b.Changes(t.Context(), time.Minute)
		require.NoError(t, err)
		for _, c := range all {
			if !seen[c.ID] {
				seen[c.ID] = true
				fresh = append(fresh, c.Subject)
			}
		}
		return fresh
	}
	require.Equal(t, []string{subject}, notes(), "a registration's membership")
	session, err := b.OpenSession(t.Context(), accounts.SignIn{User: u.ID})
	require.NoError(t, err)
	_, _, err = b.Refresh(t.Context(), session, accounts.FirstGeneration, "", "")
	require.NoError(t, err)
	b.confirm(u)
	require.Equal(t, []string{subject}, notes())
	require.NoError(t, b.Enroll(t.Context(), u.ID, []byte("sealed")))
	b.exec(`UPDATE users SET first_name = 'Ada', password_hash = password_hash`)
	require.Empty(t, notes())

	require.NoError(t, b.Revoke(t.Context(), session))
	require.NoError(t, b.Revoke(t.Context(), session))
	require.Equal(t, []string{"session/" + session.String()}, notes())
	require.NoError(t, b.Activate(t.Context(), u.ID, []byte("sealed"), 1, nil))
	require.Equal(t, []string{subject}, notes())
	b.exec(`UPDATE users SET password_hash = 'other'`)
	require.Equal(t, []string{subject}, notes())
	b.exec(`UPDATE users SET platform_admin = true`)
	require.Equal(t, []string{subject}, notes())
	b.exec(`UPDATE members SET role = 'member'`)
	require.Equal(t, []string{subject}, notes())
	b.exec(`DELETE FROM members`)
	require.Equal(t, []string{subject}, notes())
	_, err = b.RotateSigningKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"signing"}, notes())

	b.exec(`UPDATE credential_changes SET at = at - interval '9 minutes'`)
	require.NoError(t, b.PruneChanges(t.Context()))
	all, err := b.Changes(t.Context(), 10*time.Minute)
	require.NoError(t, err)
	require.Len(t, all, len(seen))
	none, err := b.Changes(t.Context(), 8*time.Minute)
	require.NoError(t, err)
	require.Empty(t, none)
	b.exec(`UPDATE credential_changes SET at = at - interval '2 minutes'`)
	require.NoError(t, b.PruneChanges(t.Context()))
	all, err = b.Changes(t.Context(), time.Hour)
	require.NoError(t, err)
	require.Empty(t, all)
}

func TestSigningKeys(t *testing.T) {
	t.Parallel()
	b := open(t)
	n, err := b.SigningKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = b.RotateSigningKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
	n, err = b.SigningKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

func TestPrune(t *testing.T) {
	t.Parallel()
	b := open(t)
	u := b.user("ada@example.org")
	_, err := b.RequestCode(t.Context(), code("", "mac"))
	require.NoError(t, err)
	_, err = b.RequestReset(t.Context(), "ada@example.org", [32]byte{1}, time.Now())
	require.NoError(t, err)
	require.NoError(t, b.OpenChallenge(t.Context(), [32]byte{1}, accounts.SignIn{User: u.ID}))
	_, err = b.OpenSession(t.Context(), accounts.SignIn{User: u.ID})
	require.NoError(t, err)
	left := func() (n [4]int) {
		for i, table := range []string{"open_codes", "password_resets", "challenges", "sessions"} {
			require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n[i]))
		}
		return n
	}
	require.NoError(t, b.Prune(t.Context()))
	require.Equal(t, [4]int{1, 1, 1, 1}, left())
	for _, table := range []string{"open_codes", "password_resets", "challenges", "sessions"} {
		b.exec("UPDATE " + table + " SET expires_at = now() - interval '1 hour'")
	}
	require.NoError(t, b.Prune(t.Context()))
	require.Equal(t, [4]int{1, 1, 0, 1}, left(), "the sends of the last hour still count")
	for _, table := range []string{"open_codes", "password_resets", "sessions"} {
		b.exec("UPDATE " + table + " SET expires_at = now() - interval '8 days'")
	}
	require.NoError(t, b.Prune(t.Context()))
	require.Equal(t, [4]int{}, left())
}

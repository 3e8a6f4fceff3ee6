package accounts_test

import (
	"sync"
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

	one, err := s.CreateSession(t.Context(), u.ID, [32]byte{1}, time.Now().Add(time.Hour))
	require.NoError(t, err)
	two, err := s.CreateSession(t.Context(), u.ID, [32]byte{2}, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.NotEqual(t, one, two)
}

func TestLeasedNumbersAreUnique(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := make(map[int64]bool)
	for range 4 {
		l := accounts.NewLease(pool, "event_numbers")
		wg.Go(func() {
			for range 50 {
				n, err := l.Next(t.Context())
				mu.Lock()
				require.NoError(t, err)
				require.False(t, seen[n], "number %d twice", n)
				seen[n] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, seen, 200)
}

package apikeys_test

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/apikeys"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// world is a database with a user and the user's organization.
type world struct {
	*apikeys.Store
	t    *testing.T
	pool *pgxpool.Pool
	org  int64
	user int64
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, pool: persisttest.Migrated(t)}
	w.Store = apikeys.New(w.pool)
	require.NoError(t, w.pool.QueryRow(t.Context(), `INSERT INTO users (email, password_hash, first_name, last_name, phone)
		VALUES ('ada@example.org', '', '', '', '') RETURNING id`).Scan(&w.user))
	w.org = w.organization()
	return w
}

func (w *world) organization() (org int64) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(),
		`INSERT INTO organizations (name, slug) VALUES ('x', $1) RETURNING id`, rand.Text()).Scan(&org))
	return org
}

// draft returns a key to be made.
func (w *world) draft() *apikeys.Key {
	return &apikeys.Key{Org: w.org, Name: "Box office", Environment: "test", CreatedBy: w.user}
}

// drawn draws a key with a random secret.
func drawn(string) (publicID string, hash [sha256.Size]byte) {
	secret := rand.Text()
	return secret[:8], sha256.Sum256([]byte(secret))
}

// drawing draws keys with the given public ids, one after the other, and repeats the last.
func drawing(publicIDs ...string) apikeys.Draw {
	return func(string) (publicID string, hash [sha256.Size]byte) {
		publicID = publicIDs[0]
		publicIDs = publicIDs[min(1, len(publicIDs)-1):]
		return publicID, sha256.Sum256([]byte(publicID))
	}
}

func (w *world) create() *apikeys.Key {
	w.t.Helper()
	k, err := w.Create(w.t.Context(), uuid.New(), w.draft(), drawn)
	require.NoError(w.t, err)
	return k
}

// noted returns how many changes of the key have been noted for the nodes.
func (w *world) noted(id int64) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(),
		`SELECT count(*) FROM credential_changes WHERE subject = 'key/' || $1::bigint`, id).Scan(&n))
	return n
}

func TestCreate(t *testing.T) {
	t.Parallel()
	w := open(t)
	end := time.Now().Add(time.Hour).Truncate(time.Microsecond).UTC()
	for name, c := range map[string]struct {
		scopes []string
		allow  []netip.Prefix
	}{
		"full access":    {nil, nil},
		"none":           {[]string{}, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		"some and a box": {[]string{"events:read", "checkin:write"}, []netip.Prefix{netip.MustParsePrefix("2001:db8::1/128"), netip.MustParsePrefix("192.0.2.7/32")}},
	} {
		in := w.draft()
		in.Name, in.Scopes, in.Allowlist, in.ExpiresAt = name, c.scopes, c.allow, &end
		publicID, hash := drawn(in.Environment)
		k, err := w.Create(t.Context(), uuid.New(), in, func(string) (string, [sha256.Size]byte) { return publicID, hash })
		require.NoError(t, err)
		require.Positive(t, k.ID)
		require.Equal(t, apikeys.Active, k.Status)
		require.Equal(t, c.scopes, k.Scopes, "nil and none are told apart")
		require.ElementsMatch(t, c.allow, k.Allowlist)
		require.True(t, end.Equal(*k.ExpiresAt))
		require.Equal(t, publicID, k.PublicID)
		require.True(t, k.Proves(hash))
		require.Nil(t, k.LastUsedAt)
		require.Nil(t, k.StrictPerMinute)
		got, err := w.Get(t.Context(), w.org, k.ID)
		require.NoError(t, err)
		require.Equal(t, k, got)
		got, err = w.ByPublicID(t.Context(), k.PublicID)
		require.NoError(t, err)
		require.Equal(t, k, got)
		got, err = w.Get(t.Context(), w.organization(), k.ID)
		require.NoError(t, err)
		require.Nil(t, got, "another organization has no such key")
	}
	got, err := w.ByPublicID(t.Context(), "nothing!")
	require.NoError(t, err)
	require.Nil(t, got)
}

// TestCreateAgain makes sure that a repeated command makes no second key.
func TestCreateAgain(t *testing.T) {
	t.Parallel()
	w := open(t)
	command := uuid.New()
	first, err := w.Create(t.Context(), command, w.draft(), drawn)
	require.NoError(t, err)
	again := w.draft()
	again.Name = "Again"
	second, err := w.Create(t.Context(), command, again, drawing("again678"))
	require.NoError(t, err)
	require.Equal(t, first.ID, second.ID)
	require.Equal(t, "Again", second.Name)
	require.True(t, second.Proves(sha256.Sum256([]byte("again678"))))
	gone, err := w.ByPublicID(t.Context(), first.PublicID)
	require.NoError(t, err)
	require.Nil(t, gone, "the secret that nobody was told is dead")
	require.Equal(t, 1, w.noted(first.ID))

	_, err = w.Revoke(t.Context(), w.org, first.ID)
	require.NoError(t, err)
	_, err = w.Create(t.Context(), command, w.draft(), drawn)
	require.ErrorIs(t, err, apikeys.ErrRevoked)

	_, err = w.pool.Exec(t.Context(), `UPDATE api_keys SET created_at = now() - interval '25 hours'`)
	require.NoError(t, err)
	third, err := w.Create(t.Context(), command, w.draft(), drawn)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, third.ID, "after a day it is another command")
}

// TestPublicIDsThatCollide creates and rotates keys for which the public id of another key is
// drawn: they get the next public id that is drawn, and its secret. If every draw is the same, they
// fail after a few tries and change nothing.
func TestPublicIDsThatCollide(t *testing.T) {
	t.Parallel()
	w := open(t)
	first, err := w.Create(t.Context(), uuid.New(), w.draft(), drawing("first678"))
	require.NoError(t, err)
	command := uuid.New()
	second, err := w.Create(t.Context(), command, w.draft(), drawing("first678", "first678", "second78"))
	require.NoError(t, err)
	require.Equal(t, "second78", second.PublicID)
	require.True(t, second.Proves(sha256.Sum256([]byte("second78"))))
	again, err := w.Create(t.Context(), command, w.draft(), drawing("first678", "third678"))
	require.NoError(t, err)
	require.Equal(t, second.ID, again.ID, "the command's repeat")
	require.Equal(t, "third678", again.PublicID)
	rotated, err := w.Rotate(t.Context(), w.org, second.ID, drawing("first678", "fourth78"))
	require.NoError(t, err)
	require.Equal(t, "fourth78", rotated.PublicID)
	require.True(t, rotated.Proves(sha256.Sum256([]byte("fourth78"))))

	draws := 0
	same := func(string) (publicID string, hash [sha256.Size]byte) {
		draws++
		return "first678", hash
	}
	_, err = w.Create(t.Context(), uuid.New(), w.draft(), same)
	require.ErrorContains(t, err, "api_keys_public_id_key")
	_, err = w.Rotate(t.Context(), w.org, second.ID, same)
	require.ErrorContains(t, err, "api_keys_public_id_key")
	require.Equal(t, 8, draws, "the tries are bounded")
	keys, err := w.List(t.Context(), w.org, 0, 10)
	require.NoError(t, err)
	require.Equal(t, []*apikeys.Key{rotated, first}, keys)
}

func TestTooManyKeys(t *testing.T) {
	t.Parallel()
	w := open(t)
	for range apikeys.MaxPerOrg - 1 {
		w.create()
	}
	t.Log("the last one, by several at once")
	var wg sync.WaitGroup
	var made, refused atomic.Int32
	for range 5 {
		wg.Go(func() {
			switch _, err := w.Create(t.Context(), uuid.New(), w.draft(), drawn); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, apikeys.ErrTooMany):
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, []int32{1, 4}, []int32{made.Load(), refused.Load()})

	keys, err := w.List(t.Context(), w.org, 0, 1)
	require.NoError(t, err)
	_, err = w.Revoke(t.Context(), w.org, keys[0].ID)
	require.NoError(t, err)
	w.create()
	other := w.draft()
	other.Org = w.organization()
	_, err = w.Create(t.Context(), uuid.New(), other, drawn)
	require.NoError(t, err, "others have keys of their own")
}

func TestList(t *testing.T) {
	t.Parallel()
	w := open(t)
	var want, got []int64
	for range 5 {
		want = append([]int64{w.create().ID}, want...)
	}
	_, err := w.Revoke(t.Context(), w.org, want[2])
	require.NoError(t, err)
	for before := int64(0); ; before = got[len(got)-1] {
		keys, err := w.List(t.Context(), w.org, before, 2)
		require.NoError(t, err)
		if len(keys) == 0 {
			break
		}
		for _, k := range keys {
			got = append(got, k.ID)
		}
	}
	require.Equal(t, want, got)
	none, err := w.List(t.Context(), w.organization(), 0, 10)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	w := open(t)
	k := w.create()
	end := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	got, err := w.Update(t.Context(), w.org, k.ID, func(k *apikeys.Key) error {
		k.Name, k.Status, k.ExpiresAt = "Gate", apikeys.Paused, &end
		k.Scopes, k.Allowlist = []string{}, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "Gate", got.Name)
	require.Equal(t, apikeys.Paused, got.Status)
	require.Equal(t, []string{}, got.Scopes)
	require.True(t, got.UpdatedAt.After(k.UpdatedAt))
	require.Equal(t, 1, w.noted(k.ID))

	broken := errors.New("no")
	_, err = w.Update(t.Context(), w.org, k.ID, func(k *apikeys.Key) error {
		k.Name = "Broken"
		return broken
	})
	require.ErrorIs(t, err, broken)
	same, err := w.Get(t.Context(), w.org, k.ID)
	require.NoError(t, err)
	require.Equal(t, got, same)

	unchanged := func(*apikeys.Key) error { return nil }
	got, err = w.Update(t.Context(), w.organization(), k.ID, unchanged)
	require.NoError(t, err)
	require.Nil(t, got)

	hash := sha256.Sum256([]byte("newpubli"))
	rotated, err := w.Rotate(t.Context(), w.org, k.ID, drawing("newpubli"))
	require.NoError(t, err)
	require.Equal(t, k.ID, rotated.ID)
	require.True(t, rotated.Proves(hash))
	old, err := w.ByPublicID(t.Context(), k.PublicID)
	require.NoError(t, err)
	require.Nil(t, old)
	require.Equal(t, 2, w.noted(k.ID))

	for range 2 {
		gone, err := w.Revoke(t.Context(), w.org, k.ID)
		require.NoError(t, err)
		require.Equal(t, apikeys.Revoked, gone.Status)
	}
	require.Equal(t, 3, w.noted(k.ID), "the second time there is nothing to tell")
	_, err = w.Update(t.Context(), w.org, k.ID, unchanged)
	require.ErrorIs(t, err, apikeys.ErrRevoked)
	_, err = w.Rotate(t.Context(), w.org, k.ID, drawing("another1"))
	require.ErrorIs(t, err, apikeys.ErrRevoked)
	nothing, err := w.Revoke(t.Context(), w.org, 999)
	require.NoError(t, err)
	require.Nil(t, nothing)
}

func TestTouchAndLimit(t *testing.T) {
	t.Parallel()
	w := open(t)
	one, two := w.create(), w.create()
	now := time.Now().Truncate(time.Microsecond)
	require.NoError(t, w.Touch(t.Context(), map[int64]time.Time{one.ID: now, two.ID: now, 999: now}))
	require.NoError(t, w.Touch(t.Context(), map[int64]time.Time{one.ID: now.Add(-time.Hour), two.ID: now.Add(time.Minute)}))
	require.NoError(t, w.Touch(t.Context(), nil))
	for id, want := range map[int64]time.Time{one.ID: now, two.ID: now.Add(time.Minute)} {
		k, err := w.Get(t.Context(), w.org, id)
		require.NoError(t, err)
		require.True(t, want.Equal(*k.LastUsedAt))
		require.Zero(t, w.noted(id), "use is no change")
	}
	limit := 5_000
	k, err := w.SetStrictLimit(t.Context(), one.ID, &limit)
	require.NoError(t, err)
	require.Equal(t, &limit, k.StrictPerMinute)
	require.Equal(t, 1, w.noted(one.ID))
	k, err = w.SetStrictLimit(t.Context(), one.ID, nil)
	require.NoError(t, err)
	require.Nil(t, k.StrictPerMinute)
	k, err = w.SetStrictLimit(t.Context(), 999, &limit)
	require.NoError(t, err)
	require.Nil(t, k)
}

// TestDeletedKeyIsTold makes sure that the nodes are also told of a key that is deleted by hand.
func TestDeletedKeyIsTold(t *testing.T) {
	t.Parallel()
	w := open(t)
	k := w.create()
	require.NoError(t, pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `DELETE FROM api_keys WHERE id = $1`, k.ID)
		return err
	}))
	require.Equal(t, 1, w.noted(k.ID))
}

func TestKey(t *testing.T) {
	t.Parallel()
	now := time.Now()
	later := now.Add(time.Second)
	k := &apikeys.Key{Status: apikeys.Active, ExpiresAt: &later}
	require.True(t, k.Live(now))
	require.False(t, k.Live(later))
	require.True(t, (&apikeys.Key{Status: apikeys.Active}).Live(now))
	require.False(t, (&apikeys.Key{Status: apikeys.Paused}).Live(now))
	require.False(t, (&apikeys.Key{Status: apikeys.Revoked}).Live(now))

	hash := sha256.Sum256([]byte(strings.Repeat("x", 59)))
	require.True(t, (&apikeys.Key{SecretHash: hash[:]}).Proves(hash))
	require.False(t, (&apikeys.Key{SecretHash: hash[:31]}).Proves(hash))
	require.False(t, new(apikeys.Key).Proves(hash))
}

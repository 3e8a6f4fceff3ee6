package secrets_test

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
)

func TestRefreshTokens(t *testing.T) {
	t.Parallel()
	master := func(key string) *secrets.Master {
		m, err := secrets.New([]byte(strings.Repeat(key, secrets.KeySize)))
		require.NoError(t, err)
		return m
	}
	m, session := master("a"), [16]byte{1, 2, 15: 9}
	for _, g := range []uint32{0, 1, 2, math.MaxUint32} {
		token := m.RefreshToken(session, g)
		got, generation, ok := m.ParseRefresh(token)
		require.True(t, ok)
		require.Equal(t, session, got)
		require.Equal(t, g, generation)
	}

	token := m.RefreshToken(session, 7)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	require.NoError(t, err)
	for i := range raw {
		raw[i] ^= 1
		_, _, ok := m.ParseRefresh(base64.RawURLEncoding.EncodeToString(raw))
		require.False(t, ok, "byte %d changed", i)
		raw[i] ^= 1
	}
	last := token[:len(token)-1]
	for _, bad := range []string{"", last, token + "A", "=" + token[1:], strings.Repeat("A", len(token)), master("b").RefreshToken(session, 7)} {
		_, _, ok := m.ParseRefresh(bad)
		require.False(t, ok, bad)
	}
	same := 0 // spellings of one token: the encoding's spare bits must be as we write them
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		if _, _, ok := m.ParseRefresh(last + string(c)); ok {
			same++
		}
	}
	require.Equal(t, 1, same)
}

func TestLoginCodesAreBoundToTheirAddress(t *testing.T) {
	t.Parallel()
	m, err := secrets.New([]byte(strings.Repeat("k", secrets.KeySize)))
	require.NoError(t, err)
	want := m.LoginCode("ada@example.org", "123456")
	require.Equal(t, want, m.LoginCode("ada@example.org", "123456"))
	require.NotEqual(t, want, m.LoginCode("bob@example.org", "123456"))
	require.NotEqual(t, want, m.LoginCode("ada@example.org", "123457"))
	require.NotEqual(t, m.LoginCode("a", "bc"), m.LoginCode("ab", "c"))
}

package secrets_test

import (
	"crypto/sha256"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
)

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^vt_(live|test)_[0-9A-Za-z]{51}$`)
	seen := make(map[string]bool)
	var heads, tails [256]int
	for range 2_000 {
		for _, env := range []string{"live", "test"} {
			key, public, hash := secrets.NewAPIKey(env)
			require.Regexp(t, shape, key)
			require.Equal(t, sha256.Sum256([]byte(key)), hash)
			require.True(t, strings.HasPrefix(key, secrets.APIKeyPrefix(env, public)))
			require.False(t, seen[public])
			seen[public] = true
			gotEnv, gotPublic, ok := secrets.ParseAPIKey(key)
			require.True(t, ok)
			require.Equal(t, []string{env, public}, []string{gotEnv, gotPublic})
			n, ok := new(big.Int).SetString(key[16:], 62)
			require.True(t, ok)
			require.LessOrEqual(t, n.BitLen(), 256, "the secret is a number of 256 bits")
			heads[public[0]]++
			tails[key[len(key)-1]]++
		}
	}
	// 4,000 draws of 62: about 65 each, and 14 or 116 is six deviations away.
	for c := range 256 {
		if strings.ContainsRune("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", rune(c)) {
			require.InDelta(t, 65, heads[c], 51, "%c", c)
			require.InDelta(t, 65, tails[c], 51, "%c", c)
		}
	}
}

func TestParseAPIKeyRefuses(t *testing.T) {
	t.Parallel()
	key, _, _ := secrets.NewAPIKey("test")
	for _, bad := range []string{
		"", "vt_test_", key[:len(key)-1], key + "0", " " + key, key + "\n", "VT_TEST_" + key[8:], "vt_prod_" + key[8:],
		"vt_test_" + strings.Repeat("-", 51), key[:20] + "é" + key[22:], key[:58] + "_", key[8:],
	} {
		_, _, ok := secrets.ParseAPIKey(bad)
		require.False(t, ok, "%q", bad)
	}
}

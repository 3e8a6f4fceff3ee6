package secrets

import (
	"crypto/rand"
	"crypto/sha256"
	"math/big"
	"strings"
)

// The parts of an API key: vt_live_ or vt_test_, the public id, and 256 random
// bits, both in base 62 (docs/rules.md, Credentials).
const (
	keyPublic = 8  // characters of the public id
	keySecret = 43 // characters that hold 256 bits: 62^43 is just above 2^256
)

var (
	keyIDs     = new(big.Int).Exp(big.NewInt(62), big.NewInt(keyPublic), nil) // how many public ids there are
	keySecrets = new(big.Int).Lsh(big.NewInt(1), 256)
)

// NewAPIKey draws an API key for an environment, live or test. Only the hash and the public id are stored.
// Among 100 million keys, a new key has the public id of another with a probability of 5e-7; the caller
// then draws again.
func NewAPIKey(env string) (plaintext, publicID string, hash [sha256.Size]byte) {
	publicID = base62(randomBelow(keyIDs), keyPublic)
	plaintext = APIKeyPrefix(env, publicID) + base62(randomBelow(keySecrets), keySecret)
	return plaintext, publicID, HashAPIKey(plaintext)
}

// ParseAPIKey returns the environment and the public id in an API key. ok is false for a malformed key. It
// does not check whether the key exists.
func ParseAPIKey(token string) (env, publicID string, ok bool) {
	for _, env := range []string{"live", "test"} {
		rest, found := strings.CutPrefix(token, APIKeyPrefix(env, ""))
		if found && len(rest) == keyPublic+keySecret && isBase62(rest) {
			return env, rest[:keyPublic], true
		}
	}
	return "", "", false
}

// APIKeyPrefix returns the beginning of a key up to its public id, which is not secret.
func APIKeyPrefix(env, publicID string) string { return "vt_" + env + "_" + publicID }

// HashAPIKey returns the hash by which a key is stored. A plain SHA-256 is enough, because a key has 256
// random bits that nobody can guess.
func HashAPIKey(plaintext string) [sha256.Size]byte { return sha256.Sum256([]byte(plaintext)) }

// randomBelow returns a random number from 0 up to but not including limit, each with the same probability.
func randomBelow(limit *big.Int) *big.Int {
	n, err := rand.Int(rand.Reader, limit)
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return n
}

// base62 writes a number in base 62 with size digits, zeros first.
func base62(n *big.Int, size int) string {
	digits := n.Text(62)
	return strings.Repeat("0", size-len(digits)) + digits
}

// isBase62 reports whether a text has only digits and ASCII letters. It accepts the empty text.
func isBase62(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

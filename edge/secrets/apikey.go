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

// NewAPIKey draws the API key of an environment, live or test. The hash is what
// is stored of it, beside the public id. Among 100 million keys a new one has the
// public id of another with a probability of 5e-7: the store then draws once more.
func NewAPIKey(env string) (plaintext, publicID string, hash [sha256.Size]byte) {
	publicID = base62(randomBelow(keyIDs), keyPublic)
	plaintext = APIKeyPrefix(env, publicID) + base62(randomBelow(keySecrets), keySecret)
	return plaintext, publicID, HashAPIKey(plaintext)
}

// ParseAPIKey takes an API key apart. It says nothing about whether such a key
// exists.
func ParseAPIKey(token string) (env, publicID string, ok bool) {
	for _, env := range []string{"live", "test"} {
		rest, found := strings.CutPrefix(token, APIKeyPrefix(env, ""))
		if found && len(rest) == keyPublic+keySecret && isBase62(rest) {
			return env, rest[:keyPublic], true
		}
	}
	return "", "", false
}

// APIKeyPrefix is the part of a key that is no secret.
func APIKeyPrefix(env, publicID string) string { return "vt_" + env + "_" + publicID }

// HashAPIKey is what is stored of a key. It has 256 random bits, so a plain hash
// cannot be turned back.
func HashAPIKey(plaintext string) [sha256.Size]byte { return sha256.Sum256([]byte(plaintext)) }

// randomBelow is a random number under the limit, each as likely as the others.
func randomBelow(limit *big.Int) *big.Int {
	n, err := rand.Int(rand.Reader, limit)
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return n
}

// base62 writes a number with a fixed number of digits.
func base62(n *big.Int, size int) string {
	digits := n.Text(62)
	return strings.Repeat("0", size-len(digits)) + digits
}

func isBase62(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// Package secrets derives every secret of a deployment from one master key: the
// keys that sign access tokens, the tokens that open one order, and the codes
// and QR payloads of tickets. Nothing of them is stored, so nothing of them can
// be read at rest; who has the master key has them all.
//
// cmd reads the master key and makes the one Master; the edge calls it from
// many goroutines. It owns no goroutine.
package secrets

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"

	"boxoffice/engine"
)

// KeySize is the length of a master key in bytes.
const KeySize = 32

// Master derives the deployment's secrets.
type Master struct {
	key    [KeySize]byte
	orders []byte

	mu     sync.Mutex
	events map[int64]*Codes
}

// maxEvents is how many events' codes are kept derived at a time.
const maxEvents = 4_096

// New makes a Master of a key of KeySize bytes.
func New(key []byte) (*Master, error) {
	if len(key) != KeySize {
		return nil, errors.New("secrets: the master key must have 32 bytes")
	}
	m := &Master{key: [KeySize]byte(key), events: make(map[int64]*Codes)}
	m.orders = m.derive("order-token", sha256.Size)
	return m, nil
}

// derive is HKDF-SHA256 of the master key with the label as info (RFC 5869).
func (m *Master) derive(label string, size int) []byte {
	b, err := hkdf.Key(sha256.New, m.key[:], nil, "boxoffice/"+label, size)
	if err != nil {
		panic(err) // size is a small constant
	}
	return b
}

// SigningKey is the Ed25519 key number n of access tokens.
func (m *Master) SigningKey(n int) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(m.derive(fmt.Sprintf("access-token/%d", n), ed25519.SeedSize))
}

// OrderToken is the access token of an order: 256 bits, base64url.
func (m *Master) OrderToken(id engine.OrderID) string {
	mac := hmac.New(sha256.New, m.orders)
	mac.Write(id[:])
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// OpensOrder says whether a token is the order's, in constant time.
func (m *Master) OpensOrder(id engine.OrderID, token string) bool {
	return hmac.Equal([]byte(m.OrderToken(id)), []byte(token))
}

// Event returns the ticket codes of an event.
func (m *Master) Event(number int64) *Codes {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.events[number]; ok {
		return c
	}
	if len(m.events) >= maxEvents {
		clear(m.events)
	}
	c := newCodes(number, m.derive(fmt.Sprintf("event/%d", number), 3*KeySize))
	m.events[number] = c
	return c
}

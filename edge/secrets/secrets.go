// Package secrets derives every secret of a deployment from one master key: the
// keys that sign access tokens, the refresh tokens of sessions, the tokens that
// open one order, and the codes and QR payloads of tickets. Nothing of them is stored, so nothing of them can
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
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"boxoffice/engine"
)

// KeySize is the length of a master key in bytes.
const KeySize = 32

// Master derives the deployment's secrets.
type Master struct {
	key     [KeySize]byte
	orders  *mac     // of order tokens
	clients []byte   // of hashes of client addresses
	refresh []byte   // of refresh tokens
	logins  []byte   // of login codes
	resets  []byte   // of password resets
	salts   []byte   // of the salts that stand in for those of no account
	aeads   sync.Map // of what is sealed, cipher.AEAD by label

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
	m.orders = newMAC(m.derive("order-token", sha256.Size))
	m.clients = m.derive("client-address", sha256.Size)
	m.refresh = m.derive("refresh-token", sha256.Size)
	m.logins = m.derive("login-code", sha256.Size)
	m.resets = m.derive("password-reset", sha256.Size)
	m.salts = m.derive("salt", sha256.Size)
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
	sum := m.orders.sum(id[:])
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// OpensOrder says whether a token is the order's, in constant time.
func (m *Master) OpensOrder(id engine.OrderID, token string) bool {
	return hmac.Equal([]byte(m.OrderToken(id)), []byte(token))
}

// Client is a hash of a client's address that nobody without the master key can
// make or try out; never 0. Its input is of one length, so the key may stand in
// front.
func (m *Master) Client(a netip.Addr) uint64 {
	var in [sha256.Size + 16]byte
	copy(in[:], m.clients)
	address := a.As16()
	copy(in[sha256.Size:], address[:])
	sum := sha256.Sum256(in[:])
	return max(1, binary.BigEndian.Uint64(sum[:]))
}

// Account is such a hash of a user's number.
func (m *Master) Account(user int64) uint64 {
	return m.Client(netip.AddrFrom16([16]byte(binary.BigEndian.AppendUint64([]byte("account/"), uint64(user))))) //nolint:gosec // numbers are positive
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

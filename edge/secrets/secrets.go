// Package secrets derives the secrets of a deployment from one master key: among others the keys that sign
// access tokens, the refresh tokens of sessions, the tokens that open one order, and the codes and QR
// payloads of tickets. These are not stored, so nobody can read them from a disk; a person who has the
// master key has them all. The package also draws API keys and the signing secrets of webhook endpoints, which
// are random, and seals texts for storage.
//
// cmd reads the master key and makes the one Master; the edge calls it from many goroutines. The package
// starts no goroutine.
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
	"strconv"
	"strings"
	"sync"
	"time"

	"boxoffice/engine"
)

// KeySize is the length of a master key in bytes.
const KeySize = 32

// Master derives the deployment's secrets.
type Master struct {
	key       [KeySize]byte
	orders    *mac   // makes order tokens
	writes    *mac   // makes the names of requests (Request)
	clients   []byte // key for hashes of client addresses, and of the numbers of users and API keys
	refresh   []byte // key for refresh tokens
	logins    []byte // key for hashes of login codes
	resets    []byte // key for tokens of password resets
	confirm   []byte // key for links that confirm an address
	transfers []byte // key for links that claim an offered ticket
	customers []byte // key for CustomerKey and ReplyAddress
	waitlists []byte // key for links that claim what a waitlist offers
	payers    []byte // key for links with which somebody else pays an order
	rooms     []byte // key for tokens of waiting rooms
	media     []byte // key for links to private files
	salts     []byte // key for the salts of addresses that have no password

	mu     sync.Mutex
	events map[int64]*Codes
}

// maxEvents is for how many events Master keeps the Codes. Beyond it, Master forgets all and derives them again.
const maxEvents = 4_096

// New makes a Master from a master key, which must have KeySize bytes.
func New(key []byte) (*Master, error) {
	if len(key) != KeySize {
		return nil, errors.New("secrets: the master key must have 32 bytes")
	}
	m := &Master{key: [KeySize]byte(key), events: make(map[int64]*Codes)}
	m.orders = newMAC(m.derive("order-token", sha256.Size))
	m.writes = newMAC(m.derive("request", sha256.Size))
	m.clients = m.derive("client-address", sha256.Size)
	m.refresh = m.derive("refresh-token", sha256.Size)
	m.logins = m.derive("login-code", sha256.Size)
	m.resets = m.derive("password-reset", sha256.Size)
	m.confirm = m.derive("email-confirmation", sha256.Size)
	m.transfers = m.derive("transfer", sha256.Size)
	m.customers = m.derive("customer", sha256.Size)
	m.waitlists = m.derive("waitlist", sha256.Size)
	m.payers = m.derive("payment-link", sha256.Size)
	m.rooms = m.derive("waiting-room", sha256.Size)
	m.media = m.derive("media-link", sha256.Size)
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

// SigningKey returns the n-th Ed25519 key that signs access tokens. Another number gives another key.
func (m *Master) SigningKey(n int) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(m.derive(fmt.Sprintf("access-token/%d", n), ed25519.SeedSize))
}

// OrderToken returns the access token of an order: 256 bits in base64url. The token has no end of its own:
// the service decides by the order and its event until when the token opens the order.
func (m *Master) OrderToken(id engine.OrderID) string {
	sum := m.orders.sum(id[:])
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Request returns the secret name of the request with a scope (route.Call.Scope), from which shorter ids are
// made. It is an HMAC, because a client can compute scopes and so could search for two that begin alike;
// it cannot compute these names.
func (m *Master) Request(scope [sha256.Size]byte) [sha256.Size]byte { return m.writes.sum(scope[:]) }

// RenewedToken returns an access token of an order that opens the order at least until a time, in whole
// seconds: r1.<unix seconds>.<mac>.
func (m *Master) RenewedToken(id engine.OrderID, until time.Time) string {
	seconds := until.Unix()
	// This text is longer than the one of OrderToken, so no token of one kind is also one of the other.
	sum := m.orders.sum(binary.BigEndian.AppendUint64(id[:len(id):len(id)], uint64(seconds))) //nolint:gosec // after 1970
	return renewed + strconv.FormatInt(seconds, 10) + "." + base64.RawURLEncoding.EncodeToString(sum[:])
}

// renewed begins the tokens that carry an end of their own.
const renewed = "r1."

// OpensOrder reports whether a token is an OrderToken or a RenewedToken of the order. It compares in constant
// time. until is the time in a RenewedToken, which the caller must check; it is zero for an OrderToken.
func (m *Master) OpensOrder(id engine.OrderID, token string) (until time.Time, ok bool) {
	rest, carries := strings.CutPrefix(token, renewed)
	if !carries {
		return until, hmac.Equal([]byte(m.OrderToken(id)), []byte(token))
	}
	text, _, _ := strings.Cut(rest, ".")
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return until, false
	}
	until = time.Unix(seconds, 0)
	return until, hmac.Equal([]byte(m.RenewedToken(id, until)), []byte(token))
}

// Client returns a hash of a client's address that nobody can compute without the master key; it is never 0.
// The key simply precedes the address in the hash. That is safe, because the input always has the same length.
func (m *Master) Client(a netip.Addr) uint64 {
	var in [sha256.Size + 16]byte
	copy(in[:], m.clients)
	address := a.As16()
	copy(in[sha256.Size:], address[:])
	sum := sha256.Sum256(in[:])
	return max(1, binary.BigEndian.Uint64(sum[:]))
}

// Account returns a hash of a user's number, of the kind that Client returns.
func (m *Master) Account(user int64) uint64 {
	return m.Client(netip.AddrFrom16([16]byte(binary.BigEndian.AppendUint64([]byte("account/"), uint64(user))))) //nolint:gosec // numbers are positive
}

// Key returns a hash of an API key's number, of the kind that Client returns.
func (m *Master) Key(number int64) uint64 {
	return m.Client(netip.AddrFrom16([16]byte(binary.BigEndian.AppendUint64([]byte("api-key/"), uint64(number))))) //nolint:gosec // numbers are positive
}

// Event returns the ticket codes of an event. It derives them at the first call and keeps them in memory (see
// maxEvents).
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

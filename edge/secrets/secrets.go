// Package secrets derives every secret of a deployment from one master key: the
// keys that sign access tokens, the refresh tokens of sessions, the tokens that
// open one order, and the codes and QR payloads of tickets. None of them is stored, so none can
// be read at rest; a person who has the master key has them all.
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
	orders    *mac   // of order tokens
	writes    *mac   // of the names of requests
	clients   []byte // of hashes of client addresses
	refresh   []byte // of refresh tokens
	logins    []byte // of login codes
	resets    []byte // of password resets
	confirm   []byte // of links that confirm an address
	transfers []byte // of links that claim an offered ticket
	customers []byte // of what organizations are shown for addresses
	waitlists []byte // of links that claim what a waitlist offers
	payers    []byte // of links by which somebody else pays an order
	rooms     []byte // of tokens of waiting rooms
	media     []byte // of links to private files
	salts     []byte // of the salts that stand in for the salts of accounts that don't exist

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

// SigningKey is the Ed25519 key number n of access tokens.
func (m *Master) SigningKey(n int) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(m.derive(fmt.Sprintf("access-token/%d", n), ed25519.SeedSize))
}

// OrderToken is the access token of an order: 256 bits, base64url. It ends by the
// order and its event alone.
func (m *Master) OrderToken(id engine.OrderID) string {
	sum := m.orders.sum(id[:])
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Request is the name of the request with a scope (route.Call.Scope): an HMAC
// under the master key, from which shorter ids are made. A client knows all
// that is in the scope, and could search for two whose plain hashes begin alike;
// of this name it can compute nothing.
func (m *Master) Request(scope [sha256.Size]byte) [sha256.Size]byte { return m.writes.sum(scope[:]) }

// RenewedToken is an access token of an order that opens it until a time at least,
// to the second: r1.<unix seconds>.<mac>.
func (m *Master) RenewedToken(id engine.OrderID, until time.Time) string {
	seconds := until.Unix()
	// No token of the other kind is a MAC of this text, which is longer.
	sum := m.orders.sum(binary.BigEndian.AppendUint64(id[:len(id):len(id)], uint64(seconds))) //nolint:gosec // after 1970
	return renewed + strconv.FormatInt(seconds, 10) + "." + base64.RawURLEncoding.EncodeToString(sum[:])
}

// renewed begins the tokens that carry an end of their own.
const renewed = "r1."

// OpensOrder says in constant time whether a token is one of the order's, and until
// when at least it opens it; zero: for as long as OrderToken does.
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

// Key is such a hash of an API key's number.
func (m *Master) Key(number int64) uint64 {
	return m.Client(netip.AddrFrom16([16]byte(binary.BigEndian.AppendUint64([]byte("api-key/"), uint64(number))))) //nolint:gosec // numbers are positive
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

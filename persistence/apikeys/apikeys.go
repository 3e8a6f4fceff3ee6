// Package apikeys owns the plain tables of API keys, and of the codes by which a gate's device gets a key. It
// stores keys and codes only as their SHA-256. The edge calls it: organizers manage their keys, gates exchange
// their codes, and authentication reads the keys. It has no goroutine.
package apikeys

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// MaxPerOrg is how many keys an organization may have, without those that are revoked.
const MaxPerOrg = 100

// These are the reasons why an organization may not change its keys.
var (
	ErrTooMany = errors.New("apikeys: the organization has as many keys as it may")
	ErrRevoked = errors.New("apikeys: the key is revoked")
)

// These are the statuses of a key. Only active keys authenticate; revoked is final.
const (
	Active  = "active"
	Paused  = "paused"
	Revoked = "revoked"
)

// Key is one API key.
type Key struct {
	ID              int64
	Org             int64
	PublicID        string // 8 characters of the key's text, by which the key is found and named
	Name            string
	Environment     string         // live or test
	Scopes          []string       // what the key may be used for; nil: everything that its organization may do
	Allowlist       []netip.Prefix // the networks that it may be used from, masked; empty: it may be used from anywhere
	SecretHash      []byte         // SHA-256 of the whole key
	Status          string
	ExpiresAt       *time.Time // the key does not authenticate from this time on; nil: it has no end
	LastUsedAt      *time.Time // the last use that Touch has noted; nil: it has noted none
	StrictPerMinute *int       // the key's own limit of strict writes; nil: the tier's limit
	CreatedBy       int64      // the number of the user who made it
	CreatedAt       time.Time
	UpdatedAt       time.Time
	Events          []int64 // of a gate's key: the events whose tickets it may check in; nil: the key is no gate's
	Gate            string  // of a gate's key: the name of the gate for which its scans are counted
}

// Proves reports, in constant time, whether the hash belongs to the key's secret.
func (k *Key) Proves(hash [sha256.Size]byte) bool {
	return subtle.ConstantTimeCompare(k.SecretHash, hash[:]) == 1
}

// Live reports whether the key authenticates at a time.
func (k *Key) Live(now time.Time) bool {
	return k.Status == Active && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Store reads and writes API keys.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

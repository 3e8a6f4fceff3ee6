// Package apikeys is the plain table of API keys. Of a key's secret only the
// SHA-256 is here. The edge calls it: organizers manage their keys, and
// authentication reads them. It owns no goroutine.
package apikeys

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// MaxPerOrg is how many keys an organization may have that are not revoked.
const MaxPerOrg = 100

// What an organization may not do with its keys.
var (
	ErrTooMany = errors.New("apikeys: the organization has as many keys as it may")
	ErrRevoked = errors.New("apikeys: the key is revoked")
)

// The statuses of a key. Only active ones authenticate; revoked is final.
const (
	Active  = "active"
	Paused  = "paused"
	Revoked = "revoked"
)

// Key is one API key.
type Key struct {
	ID              int64
	Org             int64
	PublicID        string // 8 characters, part of the key
	Name            string
	Environment     string         // live or test
	Scopes          []string       // nil: all
	Allowlist       []netip.Prefix // masked; empty: any address
	SecretHash      []byte         // SHA-256 of the whole key
	Status          string
	ExpiresAt       *time.Time
	LastUsedAt      *time.Time
	StrictPerMinute *int  // the key's own ceiling of strict writes; nil: the tier's
	CreatedBy       int64 // users.id
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// Proves reports whether the hash is that of the key's secret, in constant time.
func (k *Key) Proves(hash [sha256.Size]byte) bool {
	return subtle.ConstantTimeCompare(k.SecretHash, hash[:]) == 1
}

// Live reports whether the key authenticates at the time.
func (k *Key) Live(now time.Time) bool {
	return k.Status == Active && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

// Store reads and writes API keys.
type Store struct{ pool *pgxpool.Pool }

// New is the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

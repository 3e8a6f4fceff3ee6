// Package venues is the plain tables of venue maps: the drafts that organizations
// draw, and the versions they have published, which never change. It keeps
// documents as they were written and does not look inside; what a document comes
// to is for its caller to say. The edge calls it, and `boxoffice venue-sample`.
// It owns no goroutine.
package venues

import (
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine/seatmap"
)

// The most that an organization may keep.
const (
	MaxPerOrg   = 100 // maps
	MaxVersions = 50  // of a map
)

// What is refused.
var (
	ErrTooMany         = errors.New("venues: the organization has as many maps as it may")
	ErrTooManyVersions = errors.New("venues: the map has as many versions as it may")
)

// Map is a venue map, without its documents.
type Map struct {
	ID        int64
	PublicID  uuid.UUID
	Org       int64 // 0: shared with everybody
	Name      string
	Seats     int // of the draft
	CreatedAt time.Time
	UpdatedAt time.Time // of the draft
	Versions  []Version // published ones, the newest first
}

// Version is a published version of a map.
type Version struct {
	Number      int32
	Seats       int
	PublishedAt time.Time
}

// Draft is what a map is to be.
type Draft struct {
	Name     string
	Seats    int
	Document []byte // JSON
}

// Expand says what a document comes to when it is published: its layout, but for
// Map and Version, and the rest that is drawn, as JSON. Its error refuses the
// document.
type Expand func(document []byte) (layout *seatmap.Layout, elements []byte, err error)

// Store reads and writes venue maps.
type Store struct{ pool *pgxpool.Pool }

// New is the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

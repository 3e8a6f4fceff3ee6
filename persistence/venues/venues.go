// Package venues owns the plain tables of venue maps: the drafts that organizations draw, and the
// versions that they have published, which never change. It stores documents as they were written
// and does not look inside; its caller turns a document into a layout. The edge and `boxoffice
// venue-sample` call it. It has no goroutine.
package venues

import (
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine/seatmap"
)

// These bound what an organization may keep.
const (
	MaxPerOrg   = 100 // how many maps an organization may have
	MaxVersions = 50  // how often one map may be published with a changed draft
)

// These are the reasons for refusals.
var (
	ErrTooMany         = errors.New("venues: the organization has as many maps as it may")
	ErrTooManyVersions = errors.New("venues: the map has as many versions as it may")
)

// Map is a venue map, without its documents.
type Map struct {
	ID        int64
	PublicID  uuid.UUID
	Org       int64 // the number of its organization; 0: all organizations share it
	Name      string
	Seats     int // how many seats the draft has
	CreatedAt time.Time
	UpdatedAt time.Time // when the draft was last changed, or the map last shared
	Versions  []Version // what was published of it, the newest first
}

// Version is a published version of a map.
type Version struct {
	Number      int32
	Seats       int
	PublishedAt time.Time
}

// Draft is the draft of a map.
type Draft struct {
	Name     string
	Seats    int
	Document []byte // the drawing as JSON, in the form that the caller understands
}

// Expand turns a document that is published into its layout, without Map and Version, and
// everything else that is drawn, as JSON. If it returns an error, the document is refused.
type Expand func(document []byte) (layout *seatmap.Layout, elements []byte, err error)

// Store reads and writes venue maps.
type Store struct{ pool *pgxpool.Pool }

// New returns the store of a database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

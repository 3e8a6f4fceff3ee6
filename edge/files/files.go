// Package files is the area of uploaded files: images in the sizes in which they are shown, and
// documents and videos as they were sent. It also checks the links by which private files are read.
// A file that no record names is removed after some days.
package files

import (
	"log/slog"

	"boxoffice/edge/images"
	"boxoffice/edge/secrets"
	"boxoffice/persistence/blobs"
	"boxoffice/persistence/media"
	"boxoffice/persistence/readmodel"
)

// Deps is what the handlers work with.
type Deps struct {
	Read       *readmodel.Model
	Table      *media.Store
	Blobs      blobs.Store
	Images     *images.Maker
	Secrets    *secrets.Master
	VideoLimit int64  // the most bytes of a video, set by the deployment
	Quota      int64  // the most bytes of all files of an organization
	BaseURL    string // how people reach the service
	Log        *slog.Logger
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }

// Package blobs stores files' bytes under keys: in a directory of the node, or in a bucket of an
// S3-compatible store that several nodes share. The files' names and owners are in a table
// (persistence/media). Any goroutine may call a store; stores have no goroutine.
package blobs

import (
	"context"
	"errors"
	"io"
)

// ErrNotFound says that nothing is stored under a key.
var ErrNotFound = errors.New("blobs: no such key")

// Store keeps bytes under keys of letters, digits, '.', '-' and '/'.
type Store interface {
	// Put stores a copy of the file at a path. When it returns, either the whole file is stored
	// under the key or nothing has changed.
	Put(ctx context.Context, key, path, mediaType string) error
	// Open returns a reader of length bytes from an offset, or of fewer if the file ends before. It returns
	// ErrNotFound if nothing is stored under the key.
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// Delete removes what is stored under a key, if anything is.
	Delete(ctx context.Context, key string) error
}

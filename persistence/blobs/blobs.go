// Package blobs stores files' bytes under keys: in a directory of the node, or in
// a bucket of an S3-compatible store that several nodes share. What the files are is in
// a table (persistence/media). Stores may be called by any goroutine and own none.
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
	// Put stores a copy of the file at a path. All of it is there under the key
	// when it returns, or nothing new.
	Put(ctx context.Context, key, path, mediaType string) error
	// Open reads length bytes from an offset on, or says ErrNotFound.
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// Delete removes what is under a key, if anything is.
	Delete(ctx context.Context, key string) error
}

package holders

import (
	"bytes"
	"context"
	"io"

	"boxoffice/edge/route"
)

// madeFile is a file that is made while it is read, one piece at a time. So no transaction stays
// open for a slow client, and no long list is in memory. Only one goroutine may read it.
type madeFile struct {
	ctx  context.Context //nolint:containedctx // of the answer, which outlives the request
	fill func(ctx context.Context, out *bytes.Buffer) (over bool, err error)
	over bool
	// buf has the bytes of the last piece that have not been read yet.
	buf bytes.Buffer
}

// makeFile returns the content of a file that is made while it is read. fill writes one piece to
// out at each call, until it returns over. Each call may take route.DefaultTimeout at most.
func makeFile(mediaType, name string, fill func(ctx context.Context, out *bytes.Buffer) (over bool, err error)) *route.Content {
	return &route.Content{
		// The size is not known in advance, so the answer has no Content-Length.
		Type: mediaType, Name: name, Size: route.UnknownSize, Cache: "private, no-store",
		Open: func(ctx context.Context, _, _ int64) (io.ReadCloser, error) {
			return io.NopCloser(&madeFile{ctx: ctx, fill: fill}), nil
		},
	}
}

// Read returns the unread bytes of the last piece. If there are none, it first makes the next
// piece. A piece may be empty without being the last one.
func (f *madeFile) Read(p []byte) (int, error) {
	for f.buf.Len() == 0 {
		if f.over {
			return 0, io.EOF
		}
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	return f.buf.Read(p)
}

// next makes one piece, and gives it the same time that a request has.
func (f *madeFile) next() (err error) {
	ctx, cancel := context.WithTimeout(f.ctx, route.DefaultTimeout)
	defer cancel()
	f.over, err = f.fill(ctx, &f.buf)
	return err
}

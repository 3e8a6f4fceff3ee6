package holders

import (
	"bytes"
	"context"
	"io"

	"boxoffice/edge/route"
)

// madeFile is an io.ReadCloser for a file that is made while it is read, one piece at a time. So no transaction stays
// open for a slow client, and no long list is in memory. Only one goroutine may read it.
type madeFile struct {
	ctx  context.Context //nolint:containedctx // the context of the answer, which is still sent when the request's context has ended
	fill func(ctx context.Context, out *bytes.Buffer) (over bool, err error)
	over bool
	// buf holds the rest of the piece that was made last.
	buf bytes.Buffer
}

// makeFile returns the content of a file that is made while it is read. fill writes one piece at a
// time until it reports that the file is over. Each piece may take as long as a request.
func makeFile(mediaType, name string, fill func(ctx context.Context, out *bytes.Buffer) (over bool, err error)) *route.Content {
	return &route.Content{
		// The size is unknown before the file is made, so the client sees the end only when it
		// comes.
		Type: mediaType, Name: name, Size: route.UnknownSize, Cache: "private, no-store",
		Open: func(ctx context.Context, _, _ int64) (io.ReadCloser, error) {
			return io.NopCloser(&madeFile{ctx: ctx, fill: fill}), nil
		},
	}
}

// Read reads from the present piece. If that is used up, it first makes the next pieces until one is not empty or the
// file ends.
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

// next makes the next piece, with the time limit of a request.
func (f *madeFile) next() (err error) {
	ctx, cancel := context.WithTimeout(f.ctx, route.DefaultTimeout)
	defer cancel()
	f.over, err = f.fill(ctx, &f.buf)
	return err
}

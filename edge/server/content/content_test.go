package content_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"

	"boxoffice/edge/route"
	"boxoffice/edge/server/content"
)

// stalled has a first piece and then gives nothing more until it is given up.
type stalled struct {
	ctx  context.Context //nolint:containedctx // as a body of a store has it
	read bool
}

func (s *stalled) Read(p []byte) (int, error) {
	if !s.read {
		s.read = true
		return copy(p, "first"), nil
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func (*stalled) Close() error { return nil }

// TestStoreThatStalls reads content from a store that ceases to answer, before the content or in the middle of it. The
// answer ends, so that the connection is not kept for as long as the store takes.
func TestStoreThatStalls(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(ctx context.Context) (io.ReadCloser, error){
		"before": func(ctx context.Context) (io.ReadCloser, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"in the middle": func(ctx context.Context) (io.ReadCloser, error) { return &stalled{ctx: ctx}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ln := fasthttputil.NewInmemoryListener()
			errs := make(chan error, 1)
			server := &fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
				call := &route.Call{Content: &route.Content{
					Type: "text/plain", Size: 100, Tag: `"a"`,
					Open: func(ctx context.Context, _, _ int64) (io.ReadCloser, error) { return open(ctx) },
				}}
				errs <- content.Send(context.Background(), ctx, call, 50*time.Millisecond)
			}}
			go func() { _ = server.Serve(ln) }() // it ends with the listener
			t.Cleanup(func() { _ = ln.Close() })
			c, err := ln.Dial()
			require.NoError(t, err)
			require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
			_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
			require.NoError(t, err)
			if name == "before" {
				require.ErrorIs(t, <-errs, context.Canceled)
				return
			}
			require.NoError(t, <-errs)
			_, err = io.ReadAll(c)
			require.NoError(t, err, "the connection is closed, so that the client notices")
		})
	}
}

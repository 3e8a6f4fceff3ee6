package server

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

// KeySet returns the public keys of access tokens.
type KeySet func(ctx context.Context) (*api.KeySet, error)

// keySet serves the key set as it is, without an envelope, because programs that know only the
// standard format read it too.
func (s *Server) keySet(ctx *fasthttp.RequestCtx) {
	within, cancel := context.WithTimeout(s.base, route.DefaultTimeout)
	defer cancel()
	set, err := s.cfg.KeySet(within)
	var body []byte
	if err == nil {
		body, err = json.Marshal(set, route.Encoding)
	}
	if err != nil {
		s.answerError(ctx, exchangeOf(ctx), err)
		return
	}
	s.writeAnswer(ctx, fasthttp.StatusOK, body)
	ctx.Response.Header.SetCanonical(headerCacheControl, []byte("public, max-age=60"))
}

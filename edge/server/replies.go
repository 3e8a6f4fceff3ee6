package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/persistence/idempotency"
)

// Replies repeats the answers of writes that come with an Idempotency-Key. It seals stored answers under a key
// that is derived from the client's key and the deployment's. Some answers have a secret that is shown only
// once, and somebody who has only the table must not be able to read it.
type Replies struct {
	Store   *idempotency.Store
	Secrets *secrets.Master
}

const (
	// leaseMargin is added to an operation's timeout. A request holds its key for both together; after that a
	// repeat may take the key over, because the first request can no longer be running.
	leaseMargin = 5 * time.Second // a request overruns its timeout by less
	keepTime    = 2 * time.Second // how long storing an answer may take
)

// performOnce carries a write out, or repeats the stored answer of an earlier request with the same key. It refuses a
// key that came with a different request before (IDEMPOTENCY_KEY_REUSED), and a key whose first request is still
// running (IDEMPOTENCY_IN_FLIGHT). A stored answer is two bytes of its status, big endian, and then its body.
func (s *Server) performOnce(ctx *fasthttp.RequestCtx, x *exchange, o *operation, call *route.Call) error {
	r := idempotency.Request{
		Scope: call.Scope(), Fingerprint: fingerprintOf(ctx), Holder: x.id, Lease: call.Timeout() + leaseMargin,
	}
	if err := x.count.Repeat(call); err != nil {
		return err
	}
	label := "reply/" + call.IdempotencyKey
	answer, err := s.cfg.Replies.Store.Begin(call.Context, r)
	switch {
	case errors.Is(err, idempotency.ErrReused):
		return engine.Refuse(engine.IdempotencyReused, nil)
	case errors.Is(err, idempotency.ErrInFlight):
		return engine.Refuse(engine.IdempotencyInFlight, nil)
	case err != nil:
		return err
	case answer != nil:
		text, err := s.cfg.Replies.Secrets.Open(label, r.Scope[:], answer)
		if err != nil {
			return err
		}
		s.writeAnswer(ctx, int(binary.BigEndian.Uint16(text)), text[2:])
		ctx.Response.Header.SetCanonical(headerReplayed, []byte("true"))
		return nil
	}
	// A refusal is written into the response here and not returned, because keepReply stores refusals as well: a
	// repeat must get the same one.
	if err := s.runHandler(ctx, x, o, call); err != nil {
		s.answerError(ctx, x, err)
	}
	s.keepReply(ctx, x, call, r, label)
	return nil
}

// keepReply stores the answer if a repeat should get it. The write has been carried out already, so the client
// gets its answer even if storing it fails. Storing has a timeout of its own and does not use the call's, which
// may have passed.
func (s *Server) keepReply(ctx *fasthttp.RequestCtx, x *exchange, call *route.Call, r idempotency.Request, label string) {
	within, cancel := context.WithTimeout(s.base, keepTime)
	defer cancel()
	var err error
	// These statuses may turn out differently when the client tries again: the outage ends, the conflict goes away,
	// the limit has room again, the client signs in. So keepReply gives the key up, and a repeat is carried out.
	switch status := ctx.Response.StatusCode(); {
	case status >= 500 || status == fasthttp.StatusConflict || status == fasthttp.StatusTooManyRequests || status == fasthttp.StatusUnauthorized:
		err = s.cfg.Replies.Store.GiveUp(within, r)
	default:
		text := binary.BigEndian.AppendUint16(nil, uint16(status))
		text = append(text, ctx.Response.Body()...)
		if x.quota != nil && call.Org != 0 {
			x.quota.Note(call.Org, int64(len(text)))
		}
		err = s.cfg.Replies.Store.Keep(within, r, s.cfg.Replies.Secrets.Seal(label, r.Scope[:], text))
	}
	if err != nil {
		s.log.LogAttrs(s.base, slog.LevelWarn, "an answer could not be kept for repeats", x.logAttrs(slog.Any("error", err))...)
	}
}

// fingerprintOf returns a hash over what must be equal for two requests to one route to count as the same:
// address with query, and body. Each part is preceded by its length, so that no bytes can move from one part to
// the other without changing the hash.
func fingerprintOf(ctx *fasthttp.RequestCtx) [sha256.Size]byte {
	h := sha256.New()
	var body []byte
	if f := formOf(ctx); f != nil { // an upload: the multipart borders do not count, because a repeat has different ones
		body = f.Sum[:]
	} else {
		body = ctx.Request.Body()
	}
	for _, part := range [][]byte{ctx.RequestURI(), body} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write(part)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// entityTag returns the tag of an answer's uncompressed body: the first 12 bytes of its hash, so that equal bodies have
// equal tags on every node.
func entityTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

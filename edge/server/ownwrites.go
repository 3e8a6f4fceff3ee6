package server

import (
	"context"
	"time"

	"boxoffice/edge/route"
)

// Followers of the journal write the lists, a moment after a fact. A caller who has written something must
// still find it in the lists that the caller reads next.

// ownWriteTime bounds how long a reader waits for its own writes. A healthy follower needs much less.
const ownWriteTime = 2 * time.Second

// noteWrite notes that the caller has written something, so that showOwn makes the caller's next reads wait. It
// does not note a caller with an order's token: such a caller's reads go to the actor of the order's event,
// which knows every write at once.
func (s *Server) noteWrite(call *route.Call) {
	if s.cfg.Wrote != nil && call.Op.Writes() && call.Principal.Proven() {
		s.cfg.Wrote(call.Who())
	}
}

// showOwn waits until the lists that the call reads have what its caller has written. After ownWriteTime the
// caller gets the lists as they are. call.Stale then makes the answer say that they are old, and Retry-After
// says when to ask again.
func (s *Server) showOwn(call *route.Call) {
	if s.cfg.ShowOwn == nil || !call.Op.ShowsOwn() || !call.Principal.Proven() {
		return
	}
	ctx, cancel := context.WithTimeout(call.Context, ownWriteTime)
	defer cancel()
	if !s.cfg.ShowOwn(ctx, call.Who()) {
		call.Stale = true
		call.SetHeader("Retry-After", "1")
	}
}

package server

import (
	"context"
	"time"

	"boxoffice/edge/route"
)

// Lists are written by followers of the journal, a moment after what they show has happened. Whoever
// has written something themselves finds it in the lists that they read next.

// ownWriteTime bounds how long a reader waits for its own writes. A follower that is healthy needs much less.
const ownWriteTime = 2 * time.Second

// noteWrite notes that the caller has written something, so that showOwn makes the caller's next reads wait. A
// caller with an order's token need not be noted: what it reads is asked of the order's event, which knows every
// write at once.
func (s *Server) noteWrite(call *route.Call) {
	if s.cfg.Wrote != nil && call.Op.Writes() && call.Principal.Proven() {
		s.cfg.Wrote(call.Who())
	}
}

// showOwn waits until the lists that the call reads have what its caller has written. After ownWriteTime the
// caller is answered from the lists as they are: call.Stale makes the answer say so, and Retry-After tells when
// to ask again.
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

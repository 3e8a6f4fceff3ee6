package rooms

import (
	"context"
	"time"
)

// sharing lets many callers share the result of one read. Make it with newSharing, because the zero value is
// not valid.
type sharing[T any] struct {
	// turn is a lock: a channel with room for one value, which the caller that reads has put in. Only that
	// caller may use the fields below.
	turn chan struct{}
	// began is when the last read began; zero before the first.
	began time.Time
	// last is the result of the last read that succeeded.
	last T
	// err is the error of the last read.
	err error
}

func newSharing[T any]() *sharing[T] { return &sharing[T]{turn: make(chan struct{}, 1)} }

// read returns what ask finds. If another caller's ask begins after this call of read began, read waits for that
// one and returns its result instead. So a result is never older than the call. ask gets the result of the
// last read that succeeded. If ask fails because the caller's context has ended, no other caller gets the error.
func (s *sharing[T]) read(ctx context.Context, ask func(last T) (T, error)) (none T, err error) {
	asked := time.Now()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	// The read that ended last began before this call, so it may miss what the caller waits for.
	if !s.began.After(asked) {
		began := time.Now()
		found, err := ask(s.last)
		if err != nil && ctx.Err() != nil {
			return none, err
		}
		if s.began, s.err = began, err; err == nil {
			s.last = found
		}
	}
	if s.err != nil {
		return none, s.err
	}
	return s.last, nil
}

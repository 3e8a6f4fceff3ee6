package rooms

import (
	"context"
	"time"
)

// sharing lets many callers share what one of them reads. Make it by newSharing: the zero value is not valid.
type sharing[T any] struct {
	turn  chan struct{} // has one place, which the caller that reads takes; only it touches the fields below
	began time.Time     // when the last read began; zero before the first
	last  T             // what the last read found that did not fail
	err   error         // the error of the last read
}

func newSharing[T any]() *sharing[T] { return &sharing[T]{turn: make(chan struct{}, 1)} }

// read calls ask, or waits for another caller's ask that began after this call of read, and returns what that found. ask
// is given what the last one found. The error of a caller whose context has ended is told to nobody else.
func (s *sharing[T]) read(ctx context.Context, ask func(last T) (T, error)) (none T, err error) {
	asked := time.Now()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
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

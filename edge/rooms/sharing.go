package rooms

import (
	"context"
	"time"
)

// sharing has many callers share what one of them reads. The zero value is not valid.
type sharing[T any] struct {
	turn  chan struct{} // who has put something in reads, and may touch what follows
	began time.Time     // when the last read began; zero before the first
	last  T             // what the last read that did not fail has found
	err   error         // of the last read
}

func newSharing[T any]() *sharing[T] { return &sharing[T]{turn: make(chan struct{}, 1)} }

// read returns what a read that began after the call of it has found: one's own, or that of another caller. The read is
// given what the last one found. A reader who has given up has told nobody else anything.
func (s *sharing[T]) read(ctx context.Context, make func(last T) (T, error)) (none T, err error) {
	asked := time.Now()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if !s.began.After(asked) {
		began := time.Now()
		found, err := make(s.last)
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

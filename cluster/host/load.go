package host

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"

	"boxoffice/engine"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/snapshot"
)

// load claims the stream and reads its facts, beside the actor.
func (a *Activation) load(ctx context.Context) {
	l, err := a.read(ctx)
	if err != nil {
		a.root.Send(a.self, failed{err})
		return
	}
	a.root.Send(a.self, l)
}

func (a *Activation) read(ctx context.Context) (l loaded, err error) {
	defer guard(&err)
	if err = a.env.Before(ctx, a.Ref); err != nil {
		return l, err
	}
	l.at = a.env.Now()
	if l.claim, err = a.env.Journal.Claim(ctx, a.Ref); err != nil {
		return l, fmt.Errorf("claim: %w", err)
	}
	if l.state = a.kind.New(a.Ref); l.claim.Epoch > 1 { // else nobody has written anything
		if err = a.replay(ctx, &l); err != nil {
			return l, err
		}
	}
	return l, l.state.Check()
}

// errUnfounded says that a snapshot holds facts that are not the journal's.
var errUnfounded = errors.New("host: the journal contradicts the snapshot")

// replay reads the state from the latest snapshot, and the facts behind it. A snapshot
// that can't be right is passed over for the one before it, and for all facts in the end.
func (a *Activation) replay(ctx context.Context, l *loaded) error {
	for before := snapshot.Latest; ; {
		v, frozen, err := a.env.Snapshots.Load(ctx, l.claim.Stream, before)
		if err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		l.state = a.kind.New(a.Ref)
		if v.Seq > 0 {
			err = a.thaw(l, frozen)
		}
		if err == nil {
			err = a.replayFrom(ctx, l, v)
		}
		if !errors.Is(err, errUnfounded) {
			return err
		}
		a.env.Log.ErrorContext(ctx, "snapshot passed over", slog.String("actor", a.Ref.Name()),
			slog.Int64("seq", v.Seq), slog.Int("epoch", int(v.Epoch)), slog.Any("error", err))
		a.env.Unfounded.Add(1)
		before = v
	}
}

// thaw makes a state of a snapshot. One that breaks an invariant is of no use.
func (a *Activation) thaw(l *loaded, frozen []byte) error {
	v := a.kind.Frozen()
	err := codec.Unmarshal(frozen, v)
	if err == nil {
		l.state, err = a.kind.Thaw(a.Ref, v)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnfounded, err)
	}
	return nil
}

// replayFrom applies the facts behind a snapshot. It reads from the snapshot's last fact
// on, for that tells whether the snapshot is founded: the journal must have the fact, and
// no later epoch may have written it than the one that saved the snapshot. Else the
// state that was saved had facts that the journal refused.
func (a *Activation) replayFrom(ctx context.Context, l *loaded, v snapshot.Version) error {
	l.seq, l.saved = v.Seq, v.Seq
	reached := v.Seq == 0
	for r, err := range a.tail(ctx, l.claim.Stream, max(0, v.Seq-1)) {
		switch {
		case err != nil:
			return fmt.Errorf("tail: %w", err)
		case r.first > l.seq+1:
			return fmt.Errorf("tail: facts %d-%d follow %d", r.first, r.last, l.seq)
		case !reached && r.first <= v.Seq && r.epoch > v.Epoch:
			return fmt.Errorf("%w: epoch %d wrote fact %d", errUnfounded, r.epoch, v.Seq)
		}
		reached = true
		// A snapshot may end in the middle of what one commit wrote.
		for _, f := range r.facts[l.seq+1-r.first:] {
			l.state.Apply(f)
		}
		l.seq = r.last
	}
	if !reached {
		return fmt.Errorf("%w: the journal ends before fact %d", errUnfounded, v.Seq)
	}
	return nil
}

// decoded is a record of the journal.
type decoded struct {
	first, last int64
	epoch       int32
	facts       []engine.Fact
}

// tail reads the stream's facts behind a snapshot, and decodes them beside the caller,
// who applies those before: of a long tail either takes about as long.
func (a *Activation) tail(ctx context.Context, stream, after int64) iter.Seq2[decoded, error] {
	return func(yield func(decoded, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		records := make(chan decoded, 16)
		var failed error
		go func() {
			defer close(records)
			failed = a.decode(ctx, stream, after, records)
		}()
		defer func() {
			cancel()
			for range records { // until it has ended
			}
		}()
		for r := range records {
			if !yield(r, nil) {
				return
			}
		}
		if failed != nil {
			yield(decoded{}, failed)
		}
	}
}

func (a *Activation) decode(ctx context.Context, stream, after int64, into chan<- decoded) (err error) {
	defer guard(&err)
	for r, err := range a.env.Journal.Load(ctx, stream, after) {
		if err != nil {
			return err
		}
		facts, err := codec.Facts(a.Ref.Kind, r.Bytes)
		if err != nil {
			return err
		}
		select {
		case into <- decoded{r.First, r.Last, r.Epoch, facts}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// guard makes an error of a panic: who can't be loaded takes no node down.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

package host

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"

	"boxoffice/cluster/activation"
	"boxoffice/engine"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/snapshot"
)

// load claims the stream and reads its facts, on a goroutine of its own.
func (h *Hosted) load(ctx context.Context) {
	l, err := h.read(ctx)
	if err != nil {
		h.Post(activation.Failed{Err: err})
		return
	}
	h.Post(l)
}

// read lets the actor's former owner let go, claims the stream, reads the state from snapshot and facts, and checks
// its invariants. The time of the proof (At) is taken before the claim. A panic becomes the error.
func (h *Hosted) read(ctx context.Context) (l activation.Loaded, err error) {
	defer guard(&err)
	if err = h.env.Before(ctx, h.Ref); err != nil {
		return l, err
	}
	l.At = h.env.Now()
	if l.Claim, err = h.env.Journal.Claim(ctx, h.Ref); err != nil {
		return l, fmt.Errorf("claim: %w", err)
	}
	if l.State = h.kind.New(h.Ref); l.Claim.Epoch > 1 { // at epoch 1 nobody has written anything before
		if err = h.replay(ctx, &l); err != nil {
			return l, err
		}
	}
	return l, l.State.Check()
}

var (
	// errUnfounded says that a snapshot is damaged, or contains facts that the journal does not have.
	errUnfounded = errors.New("host: the journal contradicts the snapshot")
	// errBeheaded says that the facts of a stream are only in a snapshot that can't be used.
	errBeheaded = errors.New("host: no snapshot is usable, and the journal no longer has the facts")
)

// replay reads the state from the latest snapshot and applies the facts after it. If a snapshot is damaged, or the
// journal contradicts it, replay logs that and takes the one before it, and in the end all facts. If there are none
// then, the journal has dropped them, because a stream with a snapshot has had facts. The error is errBeheaded: an
// empty state would hide that.
func (h *Hosted) replay(ctx context.Context, l *activation.Loaded) error {
	for before := snapshot.Latest; ; {
		v, frozen, err := h.env.Snapshots.Load(ctx, l.Claim.Stream, before)
		if err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		l.State = h.kind.New(h.Ref)
		if v.Seq > 0 {
			err = h.thaw(l, frozen)
		}
		if err == nil {
			err = h.replayFrom(ctx, l, v)
		}
		if err == nil && l.Seq == 0 && before != snapshot.Latest {
			return errBeheaded
		}
		if !errors.Is(err, errUnfounded) {
			return err
		}
		h.env.Log.ErrorContext(ctx, "snapshot passed over", slog.String("actor", h.Ref.Name()),
			slog.Int64("seq", v.Seq), slog.Int("epoch", int(v.Epoch)), slog.Any("error", err))
		h.env.Unfounded.Add(1)
		before = v
	}
}

// thaw makes a state from a snapshot. It fails with errUnfounded if the bytes can't be decoded or the state breaks an
// invariant.
func (h *Hosted) thaw(l *activation.Loaded, frozen []byte) error {
	v := h.kind.Frozen()
	err := codec.Unmarshal(frozen, v)
	if err == nil {
		l.State, err = h.kind.Thaw(h.Ref, v)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnfounded, err)
	}
	return nil
}

// replayFrom applies the facts after a snapshot. It reads from the snapshot's last fact on, to find out whether
// the snapshot is founded: the journal must have that fact, and no later epoch than the one that saved the
// snapshot may have written it. Otherwise the saved state contained facts that the journal refused. If the
// snapshot was found to be founded before, this is not checked again, and the journal may have dropped the
// fact.
func (h *Hosted) replayFrom(ctx context.Context, l *activation.Loaded, v snapshot.Version) error {
	l.Seq, l.Saved = v.Seq, v.Seq
	reached := v.Seq == 0 || v.Founded
	for r, err := range h.tail(ctx, l.Claim.Stream, max(0, v.Seq-1)) {
		switch {
		case err != nil:
			return fmt.Errorf("tail: %w", err)
		case r.first > l.Seq+1:
			return fmt.Errorf("tail: facts %d-%d follow %d", r.first, r.last, l.Seq)
		case !reached && r.first <= v.Seq && r.epoch > v.Epoch:
			return fmt.Errorf("%w: epoch %d wrote fact %d", errUnfounded, r.epoch, v.Seq)
		}
		reached = true
		// A snapshot may end in the middle of a record, because one commit may write several facts.
		for _, f := range r.facts[l.Seq+1-r.first:] {
			l.State.Apply(f)
		}
		l.Seq = r.last
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

// tail reads the stream's facts after a snapshot. It decodes them on a goroutine of its own while the caller
// applies the ones before, because decoding and applying a long tail take about the same time.
func (h *Hosted) tail(ctx context.Context, stream, after int64) iter.Seq2[decoded, error] {
	return func(yield func(decoded, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		records := make(chan decoded, 16)
		var failed error
		go func() {
			defer close(records)
			failed = h.decode(ctx, stream, after, records)
		}()
		defer func() {
			cancel()
			for range records { // until the goroutine has ended
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

// decode reads the stream's records after the fact numbered after, decodes them and sends them to into, until all are
// sent, one fails or ctx ends. A panic becomes the error.
func (h *Hosted) decode(ctx context.Context, stream, after int64, into chan<- decoded) (err error) {
	defer guard(&err)
	for r, err := range h.env.Journal.Load(ctx, stream, after) {
		if err != nil {
			return err
		}
		facts, err := codec.Facts(h.Ref.Kind, r.Bytes)
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

// guard turns a panic into an error: a stream whose replay panics must not take the node down.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

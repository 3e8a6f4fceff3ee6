package host

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/snapshot"
)

// Keep hands a snapshot to the node's snapshot writer, which encodes and saves it. If that fails, or if the writer's
// queue is full, that is only logged: the journal has the facts, and the next snapshot has them too.
func (h *Hosted) Keep(frozen any, claim journal.Claim, seq int64) {
	ref, env := h.Ref, h.env
	queued := env.Freeze(func(ctx context.Context) {
		err := env.Snapshots.Save(ctx, claim.Stream, seq, claim.Epoch, func(w io.Writer) error {
			return codec.Write(w, frozen, h.makeRest(ctx, seq))
		})
		switch {
		case errors.Is(err, errSuperseded), errors.Is(err, snapshot.ErrStale) && h.Leaving():
			env.Log.DebugContext(ctx, "snapshot not saved: there is a newer one, or a newer owner", slog.String("actor", ref.Name()))
		case err != nil:
			env.Log.WarnContext(ctx, "snapshot not saved", slog.String("actor", ref.Name()), slog.Any("error", err))
		}
	})
	if !queued {
		env.Log.Debug("snapshot skipped", slog.String("actor", ref.Name()))
	}
}

// errSuperseded ends a snapshot because the departing activation's last one makes it needless.
var errSuperseded = errors.New("a later snapshot follows")

// While a snapshot is made, its goroutine rests restTimes times as long as it has worked, whenever it has worked for
// restAfter.
const (
	restTimes = 6
	restAfter = time.Millisecond
)

// makeRest returns what the snapshot at seq calls between its steps. Its pauses leave the processor and the disk to the
// sale, unless the actor is leaving. It returns errSuperseded if a later snapshot, the actor's last, makes this one
// needless.
func (h *Hosted) makeRest(ctx context.Context, seq int64) func() error {
	began := time.Now()
	return func() error {
		worked := time.Since(began)
		switch {
		case seq < h.final.Load():
			return errSuperseded
		case worked < restAfter || h.Leaving():
			return nil
		}
		rest := time.NewTimer(restTimes * worked)
		defer rest.Stop()
		select {
		case <-rest.C:
			began = time.Now()
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

package files

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"boxoffice/persistence/media"
	"boxoffice/persistence/panics"
)

// collectEvery is the time between two collections of files that nothing needs.
const collectEvery = time.Hour

// CollectMedia calls Collect at once, and then every collectEvery until the context ends. It runs on one node
// of a cluster.
func (h *Handlers) CollectMedia(ctx context.Context) {
	tick := time.NewTicker(collectEvery)
	defer tick.Stop()
	for {
		err := panics.Catch(h.Log, "media collection", func() error { return h.Collect(ctx) })
		if err != nil && ctx.Err() == nil {
			h.Log.WarnContext(ctx, "media collection", slog.Any("error", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Collect removes the files that no record has named for some days, and the remains of unfinished
// uploads. It removes a file's bytes before its row. If Collect breaks off in between, the row is
// still there and the next collection finds the file.
func (h *Handlers) Collect(ctx context.Context) error {
	for {
		files, err := h.Table.Unneeded(ctx)
		if err != nil || len(files) == 0 {
			return err
		}
		for _, f := range files {
			if err := h.removeMedia(ctx, f); err != nil {
				return err
			}
		}
	}
}

// removeMedia removes the bytes of a file, under every name that they may have, and then its row.
func (h *Handlers) removeMedia(ctx context.Context, f *media.File) error {
	for _, variant := range append(slices.Collect(maps.Keys(f.Variants)), wholeFile) {
		if err := h.Blobs.Delete(ctx, blobKey(f.ID, variant)); err != nil {
			return err
		}
	}
	return h.Table.Forget(ctx, f.ID)
}

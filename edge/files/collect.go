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

// collectEvery is between two collections of files that nothing needs.
const collectEvery = time.Hour

// CollectMedia removes files that nothing names any more, and what uploads that broke
// off have stored, until the context ends. One node of a cluster does.
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

// Collect removes the files that are not needed now, the bytes before the row: what is
// cut off is found by the next collection.
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

func (h *Handlers) removeMedia(ctx context.Context, f *media.File) error {
	for _, variant := range append(slices.Collect(maps.Keys(f.Variants)), wholeFile) {
		if err := h.Blobs.Delete(ctx, blobKey(f.ID, variant)); err != nil {
			return err
		}
	}
	return h.Table.Forget(ctx, f.ID)
}

package journal

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// The statements whose plans the tests look at.
const (
	AppendFirst    = appendFirst
	Standing       = standing
	ByIndex        = byIndex
	BatchesBetween = batchesBetween
)

// MaxStreams bounds what a lane remembers.
const MaxStreams = maxStreams

// IndexTails brings the spans up to date, also when the node is doing that just now.
func (j *Postgres) IndexTails(ctx context.Context) error {
	for {
		if err := j.indexTails(ctx); !errors.Is(err, errHeld) {
			return err
		}
	}
}

// LaneConfig is how a lane connects under the given configuration.
func LaneConfig(cfg Config) *pgx.ConnConfig { return withDefaults(cfg).Lane }

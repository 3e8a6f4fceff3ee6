package journal

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// The statements whose plans the tests look at.
const (
	AppendFirst    = appendFirst
	Standing       = standing
	ByIndex        = byIndex
	BatchesBetween = batchesBetween
)

// Summarize brings a day's index up to date.
func (j *Postgres) Summarize(ctx context.Context, at time.Time) error {
	return j.summarize(ctx, dayOf(at))
}

// LaneConfig is how a lane connects under the given configuration.
func LaneConfig(cfg Config) *pgx.ConnConfig { return withDefaults(cfg).Lane }

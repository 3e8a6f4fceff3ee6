package journal

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// The statements whose plans the tests look at.
const (
	AppendFirst    = appendFirst
	Standing       = standing
	ByIndex        = byIndex
	BatchesBetween = batchesBetween
)

// IndexTails brings the spans up to date.
func (j *Postgres) IndexTails(ctx context.Context) error { return j.indexTails(ctx) }

// LaneConfig is how a lane connects under the given configuration.
func LaneConfig(cfg Config) *pgx.ConnConfig { return withDefaults(cfg).Lane }

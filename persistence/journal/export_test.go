package journal

import "github.com/jackc/pgx/v5"

// AppendFirst is the statement whose plan the tests look at.
const AppendFirst = appendFirst

// LaneConfig is how a lane connects under the given configuration.
func LaneConfig(cfg Config) *pgx.ConnConfig { return withDefaults(cfg).Lane }

package persistence

import "github.com/jackc/pgx/v5"

// PlanEachTime is an argument of a query whose filters are mostly off. Postgres plans a
// prepared statement once for all arguments after a few calls: it then takes each filter for
// one that leaves little, and sorts all rows of an event for a page of twenty.
const PlanEachTime = pgx.QueryExecModeCacheDescribe

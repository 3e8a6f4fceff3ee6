package persistence

import "github.com/jackc/pgx/v5"

// PlanEachTime is an argument for a query whose filters are mostly off. After a few calls, Postgres
// plans a prepared statement once for all arguments. It then assumes that each filter leaves
// few rows, and sorts all rows of an event for a page of twenty.
const PlanEachTime = pgx.QueryExecModeCacheDescribe

package personal

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// impersonal are the tables that have nobody's name, address or words, or not in a form that this
// package could erase, each with the reason.
var impersonal = map[string]string{
	"announced": "events", "applied": "positions", "broadcasts": "organizers' words", "command_numbers": "hashes", "disputes": "numbers and providers' words", "courses": "organizers' words",
	"credential_changes": "numbers", "downloads": "numbers", "events": "organizers' words", "fact_aggregates": "numbers", "floors": "positions",
	"facts": "sealed, and gone after 30 days", "failed_requests": "sealed, and gone after a day", "facts_pruned": "positions", "followers": "positions", "idempotency": "sealed, and gone after a day",
	"journal": "gone after its retention", "kafka_positions": "positions", "live_tokens": "hashes", "mail_caps": "hashes", "mails": "hashes",
	"media": "organizers' files", "nodes": "machines", "organization_bytes": "numbers", "organizations": "organizers' words", "page_customizations": "organizers' words",
	"payment_notices": "sealed, and gone after their work", "promo_codes": "hashes", "promo_names": "organizers' words", "receipts": "bank statements, which books have to keep",
	"transfers_sent": "moments", "burials": "machines", "deployment": "numbers", "journal_mark": "numbers", "journal_version": "numbers", "shards": "numbers",
	"refund_runs": "organizers' words", "rooms": "numbers of events", "witnessed": "digests of statements",
	"schedule_sessions": "organizers' words", "section_uses": "numbers", "sections": "organizers' words", "set_aside": "numbers",
	"signing_keys": "numbers", "snapshots": "gone after the journal's retention", "spans": "positions", "streams": "numbers", "tails": "positions",
	"search_words": "organizers' words", "ticket_types": "organizers' words", "venue_map_versions": "organizers' words", "venue_maps": "organizers' words", "wakes": "numbers",
	"wallet_entries": "numbers of users", "wallets": "numbers", "webhook_deliveries": "payloads are in facts", "webhook_endpoints": "organizers' words",
	"webhook_leases": "machines", "gate_enrolments": "numbers of users", "writers": "machines", "api_keys": "numbers of users", "schema_version": "numbers", "requests": "programs' addresses, gone after seven days",
	"orders": "built from the ledgers' facts", "tickets": "built from the ledgers' facts", "ticket_holders": "built from the ledgers' facts",
	"payments": "built from the ledgers' facts", "refunds": "built from the ledgers' facts",
	"challenges": "Begin deletes them", "password_resets": "Begin deletes them", "email_confirmations": "Begin deletes them", "recovery_codes": "Begin deletes them",
	"river_leader": "machines", "river_migration": "numbers", "river_queue": "machines", "river_notification": "numbers",
}

// TestEveryTableIsAPlaceOrImpersonal makes everybody who adds a table decide here whether it knows
// something about a person.
func TestEveryTableIsAPlaceOrImpersonal(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	const tables = `
SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`
	rows, _ := pool.Query(t.Context(), tables)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, p := range places {
		require.NotContains(t, impersonal, p.table)
		require.Equal(t, p.section == "", p.read == "", p.table)
		listed[p.table] = true
	}
	for _, name := range names {
		require.True(t, listed[name] || impersonal[name] != "", "%s: does it know something of a person?", name)
	}
	for name := range impersonal {
		require.Contains(t, names, name)
	}
}

// TestAllPlacesAreReadAndErased runs every statement of the list, and makes sure that an export has
// all sections.
func TestAllPlacesAreReadAndErased(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	s := New(pool)
	var user int64
	require.NoError(t, pool.QueryRow(t.Context(), `
INSERT INTO users (email, password_hash, first_name, last_name, phone) VALUES ('ada@example.org', 'x', 'Ada', 'Lovelace', '1') RETURNING id`).Scan(&user))
	for section, err := range s.Sections(t.Context(), user, "ada@example.org") {
		require.NoError(t, err)
		require.Empty(t, section.Rows)
	}
	e, err := s.Begin(t.Context(), user, "x@erased.invalid")
	require.NoError(t, err)
	require.Equal(t, Erasure{user, "ada@example.org", "Ada Lovelace", "x@erased.invalid"}, e)
	require.NoError(t, s.Finish(t.Context(), e))
	var left int
	require.NoError(t, pool.QueryRow(t.Context(), `
SELECT (SELECT count(*) FROM users u WHERE u::text ~* '\mada\M|lovelace') + (SELECT count(*) FROM erasures e WHERE e::text ~* '\mada\M|lovelace')`).Scan(&left))
	require.Zero(t, left)
}

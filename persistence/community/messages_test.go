package community_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/community"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/publicfacts"
)

// TestRepeatedMessageIsNotTheLast repeats an old message after the other side has written. The thread
// still waits for whoever did not write last.
func TestRepeatedMessageIsNotTheLast(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	s := community.New(pool, nil) // a repeated message publishes nothing
	thread := community.Thread{Event: 3, Ticket: 1}
	require.NoError(t, pool.QueryRow(t.Context(), `
WITH buyer AS (INSERT INTO users (email, password_hash, first_name, last_name, phone) VALUES ('ada@example.org', 'x', 'Ada', 'Lovelace', '1') RETURNING id),
org AS (INSERT INTO organizations (name, slug) VALUES ('Hill', 'hill') RETURNING id)
INSERT INTO message_threads (buyer, org, event, ticket, status) SELECT buyer.id, org.id, 3, 1, 'open' FROM buyer, org
RETURNING id, buyer, org`).Scan(&thread.ID, &thread.Buyer, &thread.Org))
	question := insertQuestion(t, pool, thread.ID)

	answer := community.Message{ID: uuid.New(), Thread: thread.ID, Body: "Around the corner.", AttachmentURLs: []string{}}
	_, err := s.Reply(t.Context(), &answer)
	require.NoError(t, err)
	require.Equal(t, community.ThreadReplied, statusOf(t, s, thread.ID))
	told := func(*community.Message) (publicfacts.Own, error) {
		require.Fail(t, "a repeated message is published")
		return publicfacts.Own{}, nil
	}
	stored, err := s.WriteToOrganization(t.Context(), &thread, &community.Message{ID: question, ByBuyer: true, AttachmentURLs: []string{}}, 10, told)
	require.NoError(t, err)
	require.Equal(t, question, stored.ID)
	require.Equal(t, community.ThreadReplied, statusOf(t, s, thread.ID), "the organization wrote last")

	insertQuestion(t, pool, thread.ID)
	stored, err = s.Reply(t.Context(), &answer)
	require.NoError(t, err)
	require.Equal(t, answer.ID, stored.ID)
	require.Equal(t, community.ThreadOpen, statusOf(t, s, thread.ID), "the buyer wrote last")
}

// insertQuestion adds a buyer's message to a thread as an earlier request did, and returns its id.
func insertQuestion(t *testing.T, pool *pgxpool.Pool, thread uuid.UUID) (id uuid.UUID) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `
WITH added AS (INSERT INTO messages (id, thread, by_buyer, body, attachment_urls) VALUES ($1, $2, true, 'Where is the door?', '{}') RETURNING id, number)
UPDATE message_threads SET status = 'open', last = added.number FROM added WHERE message_threads.id = $2 RETURNING added.id`, uuid.New(), thread).Scan(&id))
	return id
}

func statusOf(t *testing.T, s *community.Store, thread uuid.UUID) string {
	t.Helper()
	found, err := s.Thread(t.Context(), thread)
	require.NoError(t, err)
	return found.Status
}

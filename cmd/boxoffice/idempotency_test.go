package main

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	keyOne = "0190b6c1-0000-4000-8000-000000000001"
	keyTwo = "0190b6c1-0000-4000-8000-000000000002"
)

// keyed sends a write of the organizer's with an Idempotency-Key.
func (s *shop) keyed(method, path, key string, body object, headers ...string) reply {
	s.t.Helper()
	if len(headers) == 0 {
		headers = s.bearer()
	}
	return s.raw(method, path, "application/json", encode(s.t, body), append(headers, "Idempotency-Key", key)...)
}

func TestWritesAreRepeated(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.own("GET", "/organizer/events", nil).is(200, "")
	events := func() int {
		return len(s.own("GET", "/organizer/events", nil).is(200, "").data("items").([]any))
	}
	body := eventBody()
	first := s.keyed("POST", "/organizer/events", keyOne, body)
	require.Equal(t, 201, first.status, first.body)
	require.Empty(t, first.header.Get("Idempotency-Replayed"))

	same := func() {
		t.Helper()
		again := s.keyed("POST", "/organizer/events", keyOne, body)
		require.Equal(t, 201, again.status)
		require.Equal(t, first.body, again.body, "byte for byte")
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		require.NotEqual(t, first.header.Get("X-Request-Id"), again.header.Get("X-Request-Id"))
		require.Equal(t, 1, events())
	}
	same()
	same()
	require.Equal(t, 409, s.keyed("POST", "/organizer/events", keyOne, with(body, object{"title": "Another"})).status)
	s.restart()
	same()

	var id struct{ Data struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(first.body), &id))
	renamed := s.keyed("PUT", "/organizer/events/"+id.Data.ID, keyOne, object{"title": "Renamed"})
	require.Equal(t, 200, renamed.status, "the key of another route: %s", renamed.body)
	same()
	require.Equal(t, 409, s.keyed("PUT", "/organizer/events/1000000", keyOne, object{"title": "Renamed"}).status, "the key was used for another event")
	refused := s.keyed("PUT", "/organizer/events/"+id.Data.ID, keyTwo, object{"title": ""})
	require.Equal(t, 400, refused.status)
	require.Equal(t, refused.body, s.keyed("PUT", "/organizer/events/"+id.Data.ID, keyTwo, object{"title": ""}).body, "a refusal is an answer too")

	for _, key := range []string{"", "x", "0190b6c1-0000-4000-8000-00000000000g", keyOne + "0"} {
		got := s.keyed("POST", "/organizer/events", key, body)
		if key == "" {
			require.Equal(t, 201, got.status, "no key")
			continue
		}
		require.Equal(t, 400, got.status, key)
		require.Contains(t, got.body, "Idempotency-Key")
	}
	upper := s.keyed("POST", "/organizer/events", strings.ToUpper(keyOne), body)
	require.Equal(t, first.body, upper.body, "a UUID is one in either case")
}

// TestKeysAreTheirOwners: another principal's request under the same key is
// another request.
func TestKeysAreTheirOwners(t *testing.T) {
	t.Parallel()
	s := open(t)
	one, two := s.register("one@example.org"), s.register("two@example.org")
	a := one.keyed("POST", "/organizer/events", keyOne, eventBody())
	b := two.keyed("POST", "/organizer/events", keyOne, with(eventBody(), object{"title": "Another"}))
	require.Equal(t, 201, a.status, a.body)
	require.Equal(t, 201, b.status, b.body)
	require.NotEqual(t, a.body, b.body)
}

// TestParallelRepeats: of many at once one is carried out; the others are told
// that it runs, or its answer.
func TestParallelRepeats(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.own("GET", "/organizer/events", nil).is(200, "")
	body := eventBody()
	replies := make([]reply, 16)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() { replies[i] = s.keyed("POST", "/organizer/events", keyOne, body) })
	}
	wg.Wait()
	made := ""
	for _, r := range replies {
		switch r.status {
		case 201:
			require.True(t, made == "" || made == r.body)
			made = r.body
		default:
			require.Equal(t, 409, r.status, r.body)
			require.Contains(t, r.body, "IDEMPOTENCY_IN_FLIGHT")
			require.Equal(t, "1", r.header.Get("Retry-After"))
		}
	}
	require.NotEmpty(t, made)
	require.Len(t, s.own("GET", "/organizer/events", nil).is(200, "").data("items"), 1)
}

// TestConflictsAreNotRepeated: what may succeed later is judged anew.
func TestConflictsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.own("GET", "/organizer/events", nil).is(200, "")
	event := s.draft(nil)
	publish := func() int { return s.keyed("POST", "/organizer/events/"+event+"/publish", keyOne, nil).status }
	first := publish()
	require.NotEqual(t, 200, first, "there is no ticket type yet")
	s.own("POST", "/organizer/events/"+event+"/tickets", typeBody(10, 10)).is(201, "")
	if first == 409 {
		require.Equal(t, 200, publish())
	} else {
		require.Equal(t, first, publish(), "another refusal is repeated")
	}
	var rows, open int
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE answer IS NULL) FROM idempotency`).Scan(&rows, &open))
	require.Zero(t, open)
}

// TestAnswersAreSealed: the table of answers opens nothing.
func TestAnswersAreSealed(t *testing.T) {
	t.Parallel()
	s := open(t)
	got := s.raw("POST", "/auth/register", "application/json", encode(t, object{"email": "owner@example.org", "password": "correct horse"}), "Idempotency-Key", keyOne)
	require.Equal(t, 201, got.status, got.body)
	again := s.raw("POST", "/auth/register", "application/json", encode(t, object{"email": "owner@example.org", "password": "correct horse"}), "Idempotency-Key", keyOne)
	require.Equal(t, got.body, again.body, "a lost answer can be had again")
	var answer []byte
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT answer FROM idempotency`).Scan(&answer))
	require.NotContains(t, string(answer), "owner@example.org")
	require.NotContains(t, string(answer), "accessToken")
}

package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// keyed sends a write of the organizer's with an Idempotency-Key.
func keyed(s *nodetest.Shop, method, path, key string, body nodetest.Object, headers ...string) nodetest.Reply {
	s.T.Helper()
	if len(headers) == 0 {
		headers = s.Bearer()
	}
	return s.Raw(method, path, "application/json", nodetest.Encode(s.T, body), append(headers, "Idempotency-Key", key)...)
}

func TestWritesAreRepeated(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	events := func() int {
		return len(s.Own("GET", "/organizer/events", nil).Is(200, "").Data("items").([]any))
	}
	body := nodetest.EventBody()
	first := keyed(s, "POST", "/organizer/events", nodetest.KeyOne, body)
	require.Equal(t, 201, first.Status, first.Body)
	require.Empty(t, first.Header.Get("Idempotency-Replayed"))

	same := func() {
		t.Helper()
		again := keyed(s, "POST", "/organizer/events", nodetest.KeyOne, body)
		require.Equal(t, 201, again.Status)
		require.Equal(t, first.Body, again.Body, "byte for byte")
		require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
		require.NotEqual(t, first.Header.Get("X-Request-Id"), again.Header.Get("X-Request-Id"))
		require.Equal(t, 1, events())
	}
	same()
	same()
	require.Equal(t, 409, keyed(s, "POST", "/organizer/events", nodetest.KeyOne, nodetest.With(body, nodetest.Object{"title": "Another"})).Status)
	s.Restart()
	same()

	var id struct{ Data struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(first.Body), &id))
	renamed := keyed(s, "PUT", "/organizer/events/"+id.Data.ID, nodetest.KeyOne, nodetest.Object{"title": "Renamed"})
	require.Equal(t, 200, renamed.Status, "the key of another route: %s", renamed.Body)
	same()
	require.Equal(t, 409, keyed(s, "PUT", "/organizer/events/1000000", nodetest.KeyOne, nodetest.Object{"title": "Renamed"}).Status, "the key was used for another event")
	refused := keyed(s, "PUT", "/organizer/events/"+id.Data.ID, nodetest.KeyTwo, nodetest.Object{"title": ""})
	require.Equal(t, 400, refused.Status)
	require.Equal(t, refused.Body, keyed(s, "PUT", "/organizer/events/"+id.Data.ID, nodetest.KeyTwo, nodetest.Object{"title": ""}).Body, "a refusal is an answer too")

	for _, key := range []string{"", "x", "0190b6c1-0000-4000-8000-00000000000g", nodetest.KeyOne + "0"} {
		got := keyed(s, "POST", "/organizer/events", key, body)
		if key == "" {
			require.Equal(t, 201, got.Status, "no key")
			continue
		}
		require.Equal(t, 400, got.Status, key)
		require.Contains(t, got.Body, "Idempotency-Key")
	}
	upper := keyed(s, "POST", "/organizer/events", strings.ToUpper(nodetest.KeyOne), body)
	require.Equal(t, first.Body, upper.Body, "a UUID is one in either case")
}

// TestKeysAreTheirOwners: another principal's request under the same key is
// another request.
func TestKeysAreTheirOwners(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	one, two := s.Register("one@example.org"), s.Register("two@example.org")
	a := keyed(one, "POST", "/organizer/events", nodetest.KeyOne, nodetest.EventBody())
	b := keyed(two, "POST", "/organizer/events", nodetest.KeyOne, nodetest.With(nodetest.EventBody(), nodetest.Object{"title": "Another"}))
	require.Equal(t, 201, a.Status, a.Body)
	require.Equal(t, 201, b.Status, b.Body)
	require.NotEqual(t, a.Body, b.Body)
}

// TestParallelRepeats: of many at once one is carried out; the others are told
// that it runs, or its answer.
func TestParallelRepeats(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	body := nodetest.EventBody()
	replies := make([]nodetest.Reply, 16)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() { replies[i] = keyed(s, "POST", "/organizer/events", nodetest.KeyOne, body) })
	}
	wg.Wait()
	made := ""
	for _, r := range replies {
		switch r.Status {
		case 201:
			require.True(t, made == "" || made == r.Body)
			made = r.Body
		default:
			require.Equal(t, 409, r.Status, r.Body)
			require.Contains(t, r.Body, "IDEMPOTENCY_IN_FLIGHT")
			require.Equal(t, "1", r.Header.Get("Retry-After"))
		}
	}
	require.NotEmpty(t, made)
	require.Len(t, s.Own("GET", "/organizer/events", nil).Is(200, "").Data("items"), 1)
}

// TestConflictsAreNotRepeated: what may succeed later is judged anew.
func TestConflictsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	event := s.Draft(nil)
	publish := func() int {
		return keyed(s, "POST", "/organizer/events/"+event+"/publish", nodetest.KeyOne, nil).Status
	}
	first := publish()
	require.NotEqual(t, 200, first, "there is no ticket type yet")
	s.Own("POST", "/organizer/events/"+event+"/tickets", nodetest.TypeBody(10, 10)).Is(201, "")
	if first == 409 {
		require.Equal(t, 200, publish())
	} else {
		require.Equal(t, first, publish(), "another refusal is repeated")
	}
	var rows, open int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE answer IS NULL) FROM idempotency`).Scan(&rows, &open))
	require.Zero(t, open)
}

// TestAnswersAreSealed: the table of answers opens nothing.
func TestAnswersAreSealed(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	var got nodetest.Reply
	s.Becomes("201", func() string { // a busy machine has no time to hash the password at first
		got = s.Raw("POST", "/auth/register", "application/json", nodetest.Encode(t, nodetest.Object{"email": "owner@example.org", "password": "correct horse"}), "Idempotency-Key", nodetest.KeyOne)
		return fmt.Sprint(got.Status)
	})
	again := s.Raw("POST", "/auth/register", "application/json", nodetest.Encode(t, nodetest.Object{"email": "owner@example.org", "password": "correct horse"}), "Idempotency-Key", nodetest.KeyOne)
	require.Equal(t, got.Body, again.Body, "a lost answer can be had again")
	var answer []byte
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT answer FROM idempotency`).Scan(&answer))
	require.NotContains(t, string(answer), "owner@example.org")
	require.NotContains(t, string(answer), "accessToken")
}

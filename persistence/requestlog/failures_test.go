package requestlog_test

import (
	"crypto/aes"
	"crypto/cipher"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/quota"
	"boxoffice/persistence/requestlog"
)

// sealer seals with a key of its own.
type sealer struct{ cipher.AEAD }

func vault() sealer {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return sealer{aead}
}

func (s sealer) Seal(label string, context, text []byte) []byte {
	return s.AEAD.Seal(nil, nil, text, append([]byte(label), context...))
}

func (s sealer) Open(label string, context, sealed []byte) ([]byte, error) {
	return s.AEAD.Open(nil, nil, sealed, append([]byte(label), context...))
}

// fail logs a request that failed.
func (w *world) fail(id string, changes func(*requestlog.Entry)) requestlog.Failure {
	failure := requestlog.Failure{
		Headers: []requestlog.Header{{Name: "Accept", Value: "*/*"}},
		Request: &requestlog.Body{Text: `{"title":"Ada's evening"}`, Cut: true},
	}
	w.add(func(e *requestlog.Entry) {
		e.RequestID, e.Status, e.Failure = id, 400, &failure
		if changes != nil {
			changes(e)
		}
	})
	return failure
}

func (w *world) read(org int64, id string) *requestlog.Failed {
	w.t.Helper()
	f, err := w.ReadFailure(w.t.Context(), org, id)
	require.NoError(w.t, err)
	return f
}

func (w *world) count(sql string) (n int64) {
	w.t.Helper()
	require.NoError(w.t, w.pool.QueryRow(w.t.Context(), sql).Scan(&n))
	return n
}

// TestFailuresAreSealedAndGoAfterADay follows a failure from the queue to its end.
func TestFailuresAreSealedAndGoAfterADay(t *testing.T) {
	t.Parallel()
	w := open(t)
	want := w.fail("req_1", nil)
	w.add(func(e *requestlog.Entry) { e.RequestID = "req_2" })
	w.stop()

	require.Equal(t, &requestlog.Failed{Key: 3, Failure: want}, w.read(7, "req_1"))
	require.Nil(t, w.read(8, "req_1"), "another organization's")
	require.Nil(t, w.read(7, "req_2"))
	kept := map[string]bool{}
	for _, e := range w.list(requestlog.Filter{Org: 7}) {
		kept[e.RequestID] = e.Kept
	}
	require.Equal(t, map[string]bool{"req_1": true, "req_2": false}, kept)

	var sealed []byte
	require.NoError(t, w.pool.QueryRow(t.Context(), `SELECT sealed FROM failed_requests`).Scan(&sealed))
	require.NotContains(t, string(sealed), "Ada")
	require.Positive(t, w.count(`SELECT coalesce(sum(bytes), 0) FROM organization_bytes WHERE org = 7`), "its bytes are counted")

	t.Log("a row that is moved to another request opens nothing")
	_, err := w.pool.Exec(t.Context(), `UPDATE failed_requests SET request_id = 'req_2'`)
	require.NoError(t, err)
	_, err = w.ReadFailure(t.Context(), 7, "req_2")
	require.Error(t, err)
	_, err = w.pool.Exec(t.Context(), `UPDATE failed_requests SET request_id = 'req_1'`)
	require.NoError(t, err)

	w.passed.Store(int64(requestlog.FailuresKept - time.Minute))
	require.NoError(t, w.Prune(t.Context()))
	require.NotNil(t, w.read(7, "req_1"))
	w.passed.Store(int64(requestlog.FailuresKept + time.Minute))
	require.Nil(t, w.read(7, "req_1"), "what is old is not shown even before it is deleted")
	require.False(t, w.list(requestlog.Filter{Org: 7, Key: 3})[1].Kept)
	require.NoError(t, w.Prune(t.Context()))
	require.Zero(t, w.count(`SELECT count(*) FROM failed_requests`))
	require.Len(t, w.list(requestlog.Filter{Org: 7}), 2, "the requests stay in the log")
}

// TestFailuresGoWithTheirOrganization makes sure that nothing stays of an organization that is deleted.
func TestFailuresGoWithTheirOrganization(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.fail("req_1", nil)
	w.fail("req_2", func(e *requestlog.Entry) { e.Org = 8 })
	w.stop()
	_, err := w.pool.Exec(t.Context(), `DELETE FROM organizations WHERE id = 7`)
	require.NoError(t, err)
	require.Nil(t, w.read(7, "req_1"))
	require.NotNil(t, w.read(8, "req_2"))
}

// TestFailuresOfAMinuteAreBounded floods the log with failures of one organization, and then of many.
func TestFailuresOfAMinuteAreBounded(t *testing.T) {
	t.Parallel()
	w := open(t)
	defer w.stop()
	minute := time.Now().Truncate(time.Minute)
	kept := func(org, key int64, at time.Time) (n int) {
		for range 1000 {
			if w.KeepsFailure(org, key, at) {
				n++
			}
		}
		return n
	}
	all := func(org int64, at time.Time) (n int) { // of five keys, each in a loop
		for key := range int64(5) {
			n += kept(org, org*100+key, at)
		}
		return n
	}
	require.Equal(t, 10, kept(7, 701, minute))
	require.Equal(t, 10, kept(7, 702, minute), "a key in a loop takes nothing from the organization's others")
	require.Equal(t, 10, all(7, minute), "which have bounds together")
	require.Equal(t, 30, all(8, minute), "an organization's flood takes nothing from another's")
	require.Zero(t, all(7, minute.Add(59*time.Second)))
	require.Equal(t, 30, all(7, minute.Add(time.Minute)))
	require.Zero(t, all(7, minute.Add(59*time.Second)), "a request that began in the minute before makes no new room")
	require.Zero(t, all(7, minute.Add(61*time.Second)))
	ofNode := 0
	for org := range int64(100) {
		ofNode += all(org, minute.Add(2*time.Minute))
	}
	require.Equal(t, 600, ofNode)
}

// TestFailuresBeyondTheQuotaAreNotKept makes sure that an organization which has written as much as it may
// has its failed requests in the log, and nothing of their bodies.
func TestFailuresBeyondTheQuotaAreNotKept(t *testing.T) {
	t.Parallel()
	w := open(t)
	_, err := w.pool.Exec(t.Context(), `INSERT INTO organization_bytes (org, day, bytes) VALUES (7, (now() AT TIME ZONE 'UTC')::date, $1)`, int64(quota.Unproven))
	require.NoError(t, err)
	w.fail("req_1", nil)
	for i := range 3 {
		w.fail("req_of_8_"+strconv.Itoa(i), func(e *requestlog.Entry) {
			e.Org, e.Failure = 8, &requestlog.Failure{Request: &requestlog.Body{Text: strings.Repeat("x", requestlog.MaxBody)}}
		})
	}
	w.stop()
	require.Len(t, w.list(requestlog.Filter{Org: 7}), 1)
	require.Nil(t, w.read(7, "req_1"))
	require.NotNil(t, w.read(8, "req_of_8_2"))
}

// TestFailuresLeaveHalfOfTheQuota makes sure that who can only fail, such as a key that may read, leaves room for
// what the others write.
func TestFailuresLeaveHalfOfTheQuota(t *testing.T) {
	t.Parallel()
	w := open(t)
	_, err := w.pool.Exec(t.Context(), `INSERT INTO organization_bytes (org, day, bytes) VALUES (7, (now() AT TIME ZONE 'UTC')::date, $1), (8, (now() AT TIME ZONE 'UTC')::date, $2)`,
		int64(quota.Unproven)/2+1, int64(quota.Unproven)/4)
	require.NoError(t, err)
	w.fail("req_1", nil)
	w.fail("req_2", func(e *requestlog.Entry) { e.Org = 8 })
	w.stop()
	require.Nil(t, w.read(7, "req_1"))
	require.NotNil(t, w.read(8, "req_2"))
}

// TestFailuresAreNoLongerThanTheirText makes sure that no text grows much on its way into the table.
func TestFailuresAreNoLongerThanTheirText(t *testing.T) {
	t.Parallel()
	w := open(t)
	text := strings.Repeat("<", requestlog.MaxBody)
	w.fail("req_1", func(e *requestlog.Entry) { e.Failure = &requestlog.Failure{Request: &requestlog.Body{Text: text}} })
	w.stop()
	require.Equal(t, text, w.read(7, "req_1").Failure.Request.Text)
	require.Less(t, w.count(`SELECT length(sealed) FROM failed_requests`), int64(2*requestlog.MaxBody))
}

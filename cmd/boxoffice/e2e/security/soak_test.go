package security

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
	"boxoffice/loadtest/extremes"
)

var soakTimes = flag.Int("soak", 20, "how often each write row is sent with its largest body")

// A database grows by whole pages, by indexes and by what is told of a write, so a byte that counts
// may take some more, and an empty one some megabytes.
const (
	soakFactor = 2
	soakSlack  = 24 << 20
)

// TestSoak sends each write of an organization many times, with the largest body that it takes. The
// database may not grow by much more than what counted for the organization's quota, and another
// organization works on.
func TestSoak(t *testing.T) {
	t.Parallel()
	w := openWorld(t)
	s := &siege{world: w, ops: map[string]route.Op{}, requests: map[string]*besieged{}, seen: map[int]int{}}
	for _, op := range w.Areas().Routes() {
		s.ops[op.ID] = op
	}
	a, err := extremes.Read([]byte(w.Raw("GET", "/openapi.json", "", "").Body))
	require.NoError(t, err)
	largest := largestValues(a)
	before, rows := w.stored(), 0
	for _, op := range a.Operations {
		row := s.ops[op.ID]
		if !row.Organizes() || row.Handler.TakesFile() {
			continue
		}
		rows++
		s.renew(op)
		request := s.enlarge(op, largest[op.ID])
		size, spent, taken := w.stored(), processor(), 0
		for i := range *soakTimes {
			again := request
			again.Body = scatter(request.Body, i)
			if r, _ := s.send(&extremes.Case{Operation: op}, again); r.Status < 300 {
				taken++
			}
		}
		t.Logf("%s: %d of %d taken, bodies of %d bytes, %d KB stored, %s of processor each", op.ID, taken, *soakTimes, len(request.Body), (w.stored()-size)>>10, (processor()-spent)/time.Duration(*soakTimes))
		w.stranger.Own("PUT", "/organizer/events/"+w.stranger.draftID, nodetest.Object{"title": "Day " + strconv.Itoa(rows)}).Is(200, "")
		w.stranger.Own("GET", "/organizer/events", nil).Is(200, "")
	}
	require.Greater(t, rows, 50)
	w.Restart() // what was counted is in the table
	grown, counted := w.stored()-before, int64(0)
	require.NoError(t, w.Pool().QueryRow(t.Context(), `SELECT sum(bytes)::bigint FROM organization_bytes`).Scan(&counted))
	t.Logf("soak: %d rows, %d MB stored, %d MB counted", rows, grown>>20, counted>>20)
	require.LessOrEqual(t, grown, soakFactor*counted+soakSlack)
}

// largestValues are the cases with the longest value that each member of a body may have.
func largestValues(a *extremes.API) map[string][]extremes.Case {
	largest := map[string][]extremes.Case{}
	for _, c := range a.Cases() {
		if c.Field.In != extremes.InBody || c.Value.Refused || c.Field.Name == "" {
			continue
		}
		of := largest[c.Operation.ID]
		if n := len(of); n == 0 || of[n-1].Field != c.Field {
			of = append(of, c)
		} else if len(c.Value.Raw) > len(of[n-1].Value.Raw) {
			of[n-1] = c
		}
		largest[c.Operation.ID] = of
	}
	return largest
}

// enlarge makes the valid request of an operation as large as it takes it.
func (s *siege) enlarge(op *extremes.Operation, largest []extremes.Case) extremes.Request {
	s.T.Helper()
	request := s.requests[op.ID].valid
	for i := range largest {
		larger := largest[i].Apply(request)
		if len(larger.Body) < len(request.Body)+100 {
			continue
		}
		if r, _ := s.send(&largest[i], larger); r.Status < 300 {
			request = larger
		}
	}
	return request
}

// scatter makes long texts of others of the same length, which no table can compress. An edit that
// changes nothing would write nothing.
func scatter(body string, seed int) string {
	drawn := rand.New(rand.NewPCG(1, uint64(seed))) //nolint:gosec // a test's own
	return strings.Map(func(r rune) rune {
		if r == '💥' {
			return 0x1F300 + drawn.Int32N(0x300)
		}
		return r
	}, body)
}

// stored is how many bytes the database has.
func (w *world) stored() (n int64) {
	w.T.Helper()
	require.NoError(w.T, w.Pool().QueryRow(w.T.Context(), `SELECT pg_database_size(current_database())`).Scan(&n))
	return n
}

// processor is how long this process has computed.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // always works on oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

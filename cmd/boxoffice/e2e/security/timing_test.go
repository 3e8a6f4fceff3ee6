package security

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// timing is the -timing flag: minutes of an otherwise idle machine are not what
// every run of the tests has (make timing).
var timing = flag.Int("timing", 0, "answers to time of addresses with an account, and of as many without; 0: none")

// sample is how long one answer took.
type sample struct {
	known bool // the address has an account
	took  time.Duration
}

// mannWhitney is the two-sided p-value of the hypothesis that the answers of
// known and unknown addresses take equally long (normal approximation, corrected
// for ties), and the chance that one of a known address takes longer than one of
// an unknown.
func mannWhitney(samples []sample) (p, longer float64) {
	s := slices.SortedFunc(slices.Values(samples), func(a, b sample) int { return cmp.Compare(a.took, b.took) })
	var ranks, n1, ties float64
	n := float64(len(s))
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j].took == s[i].took {
			j++
		}
		same := float64(j - i)
		ties += same*same*same - same
		for ; i < j; i++ {
			if s[i].known {
				n1++
				ranks += float64(j) - (same-1)/2
			}
		}
	}
	n2 := n - n1
	u := ranks - n1*(n1+1)/2
	sigma := math.Sqrt(n1 * n2 / 12 * (n + 1 - ties/(n*(n-1))))
	return math.Erfc(math.Abs(u-n1*n2/2) / sigma / math.Sqrt2), u / (n1 * n2)
}

func TestMannWhitney(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(shift float64) (all []sample) {
		for i := range 2_000 {
			took := 1_000 + 100*r.NormFloat64()
			if i%2 == 0 {
				took += shift
			}
			all = append(all, sample{i%2 == 0, time.Duration(took)})
		}
		return all
	}
	p, longer := mannWhitney(draw(0))
	require.Greater(t, p, 0.01)
	require.InDelta(t, 0.5, longer, 0.03)
	p, longer = mannWhitney(draw(20))
	require.Less(t, p, 0.001)
	require.Greater(t, longer, 0.53)

	// By hand: U = 3 of 20, sigma^2 = 20/12 (10 - 24/72), z = -1.744.
	small := []sample{{true, 1}, {true, 2}, {true, 4}, {true, 4}, {false, 3}, {false, 4}, {false, 5}, {false, 6}, {false, 7}}
	p, longer = mannWhitney(small)
	require.InDelta(t, 0.0812, p, 0.0005)
	require.InDelta(t, 0.15, longer, 1e-9)
}

// TestTiming times answers that must not tell whether an address has an account:
// of a wrong password, of the request for a login code, and of a forgotten
// password, one after the other and in random order. Equal answers fail this
// once in a hundred times, so that a suspicion has to repeat itself.
func TestTiming(t *testing.T) {
	if *timing == 0 || testing.Short() {
		t.Skip("make timing")
	}
	t.Setenv(nodetest.RealKeys, "1") // how long a key takes is part of what an answer could tell
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 1e6 })
	s.Call("POST", "/auth/register", nodetest.Object{"email": "first@example.org", "password": "correct horse"}).Is(201, "")
	const attempts = 3
	each := *timing
	_, err := s.Pool().Exec(t.Context(), `INSERT INTO users (email, password_hash, first_name, last_name, phone)
		SELECT format('known-%s@example.org', i),
			format('$argon2id$%s$%s', rtrim(encode(uuid_send(gen_random_uuid()), 'base64'), '='), split_part(password_hash, '$', 4)), '', '', ''
		FROM users, generate_series(100000, 100000 + $1) i`, 3*attempts*each)
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `VACUUM ANALYZE users`)
	require.NoError(t, err)

	next := 100_000
	for _, path := range []string{"/auth/login", "/auth/token/request", "/auth/password/forgot"} {
		for attempt := 1; ; attempt++ {
			all := timeAnswers(s, path, next, each)
			next += each
			p, longer := mannWhitney(all)
			t.Logf("%s: p = %.3f of %d and %d answers; known takes longer with chance %.4f; median %v known, %v unknown",
				path, p, each, each, longer, median(all, true), median(all, false))
			if p > 0.01 {
				break
			}
			require.Less(t, attempt, attempts, "%s tells who has an account", path)
		}
	}
}

func median(all []sample, known bool) time.Duration {
	var took []time.Duration
	for _, s := range all {
		if s.known == known {
			took = append(took, s.took)
		}
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// time sends n requests for addresses with an account and n for addresses
// without, none of them twice, after a hundred that are not counted. They are
// paced, so that what an answer leaves to be done behind it is done when the next
// one is timed.
func timeAnswers(s *nodetest.Shop, path string, first, n int) []sample {
	s.T.Helper()
	const warm, pace = 100, 5 * time.Millisecond
	tick := time.NewTicker(pace)
	defer tick.Stop()
	all := make([]sample, 2*n)
	for i := range all {
		all[i].known = i < n
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := range warm {
		timeAnswer(s, path, fmt.Sprintf("warmy-%d%s@example.org", i, path[6:8]))
	}
	next := map[string]int{"known": first, "other": first}
	for i := range all {
		kind := "other"
		if all[i].known {
			kind = "known"
		}
		<-tick.C
		all[i].took = timeAnswer(s, path, fmt.Sprintf("%s-%d@example.org", kind, next[kind]))
		next[kind]++
	}
	return all
}

// timed is how long one answer takes, from the request's being ready.
func timeAnswer(s *nodetest.Shop, path, email string) time.Duration {
	s.T.Helper()
	body := fmt.Sprintf(`{"email":%q}`, email)
	if path == "/auth/login" {
		body = fmt.Sprintf(`{"email":%q,"password":"a wrong password"}`, email)
	}
	req, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	require.NoError(s.T, err)
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	res, err := http.DefaultClient.Do(req)
	took := time.Since(began)
	require.NoError(s.T, err)
	answer, err := io.ReadAll(res.Body)
	require.NoError(s.T, err)
	require.NoError(s.T, res.Body.Close())
	want := http.StatusOK
	if path == "/auth/login" {
		want = http.StatusUnauthorized
	}
	require.Equal(s.T, want, res.StatusCode, "%s", answer)
	return took
}

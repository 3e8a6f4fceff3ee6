package money

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// tell sends a notice of Paystack's, signed with a key.
func tell(s *nodetest.Shop, body, key string) nodetest.Reply {
	s.T.Helper()
	mac := hmac.New(sha512.New, []byte(key))
	mac.Write([]byte(body))
	return s.Raw("POST", "/payments/webhook/paystack", "application/json", body, "X-Paystack-Signature", hex.EncodeToString(mac.Sum(nil)))
}

// charged is Paystack's notice that a charge went well.
func charged(reference string, id int) string {
	return fmt.Sprintf(`{"event":"charge.success","data":{"id":%d,"status":"success","reference":%q,"amount":1,"metadata":0}}`, id, reference)
}

// kept is how many notices the node has of Paystack.
func kept(s *nodetest.Shop) (n int) {
	s.T.Helper()
	require.NoError(s.T, s.Pool().QueryRow(s.T.Context(), `SELECT count(*) FROM payment_notices WHERE provider = 'paystack'`).Scan(&n))
	return n
}

// TestNoticeIssues has an order's tickets issued by the provider's notice alone.
func TestNoticeIssues(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.PaysimCallbacks = true })
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 2)
	s.Settle(s.Checkout(id, token), "success")
	s.Becomes("completed", s.Status(id, token))
	require.Len(t, s.Order(id, token).Data("tickets"), 2)
	require.Equal(t, 1, kept(s))
}

// TestNoticesAreHints sends notices that lie, come twice, and are about nothing.
func TestNoticesAreHints(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 2)
	a := s.Pay(id, token).Is(200, "")
	reference := a.Str("reference")

	lie := charged(reference, 7)
	require.Equal(t, 200, tell(s, lie, node.SimKey).Status)
	for _, body := range []string{
		charged("none-of-ours", 8), charged("\x00\u2028", 9), charged(strings.Repeat("x", 5000), 10),
		`{"event":"nobody.knows","data":[]}`, `{"event":"charge.success"}`, `{`, `[]`, `null`, ``, lie[:40], "\xff\xfe",
	} {
		r := tell(s, body, node.SimKey)
		require.Equal(t, 200, r.Status, "%.60q: %s", body, r.Body)
		require.Contains(t, r.Body, `{"received":true}`)
	}
	was := kept(s)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { require.Equal(t, 200, tell(s, lie, node.SimKey).Status) })
	}
	wg.Wait()
	require.Equal(t, was, kept(s), "a notice is known by what it tells")
	require.NotEqual(t, "completed", s.Order(id, token).Str("status"), "the provider says that nobody paid")

	t.Log("the money comes, and another notice")
	s.Settle(a.Str("authorizationUrl"), "success")
	require.Equal(t, 200, tell(s, charged(reference, 11), node.SimKey).Status)
	s.Becomes("completed", s.Status(id, token))

	var body, digest []byte
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT body, digest FROM payment_notices WHERE event_id LIKE '%|11|%'`).Scan(&body, &digest))
	require.NotContains(t, string(body), reference, "it is sealed")
	open, err := s.Secrets().Open("payment notice", digest, body)
	require.NoError(t, err)
	require.Equal(t, charged(reference, 11), string(open))
}

// TestNoticeComesAgain: a notice that found no money has the provider asked anew when it comes again,
// once for all that come within five seconds.
func TestNoticeComesAgain(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 2)
	a := s.Pay(id, token).Is(200, "")
	jobs := func(state string) string {
		var n int
		require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE kind = 'payment_notice' AND state = ANY($1)`, strings.Split(state, " ")).Scan(&n))
		return strconv.Itoa(n)
	}
	early := charged(a.Str("reference"), 7)
	began := time.Now()
	require.Equal(t, 200, tell(s, early, node.SimKey).Status)
	s.Becomes("1", func() string { return jobs("completed") })
	s.Settle(a.Str("authorizationUrl"), "success")
	require.Equal(t, "pending", s.Status(id, token)())
	for range 5 {
		require.Equal(t, 200, tell(s, early, node.SimKey).Status)
	}
	all, err := strconv.Atoi(jobs("scheduled available running retryable completed"))
	require.NoError(t, err)
	require.Greater(t, all, 1)
	require.LessOrEqual(t, all, 2+int(time.Since(began)/(5*time.Second)), "one for every five seconds")
	s.Becomes("completed", s.Status(id, token))
}

// TestNoticesAreSigned sends notices that are not the provider's, or too large.
func TestNoticesAreSigned(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	post := func(provider, body string, headers ...string) nodetest.Reply {
		return s.Raw("POST", "/payments/webhook/"+provider, "application/json", body, headers...)
	}
	for _, signature := range []string{"", "00", "zz", strings.Repeat("0", 128), strings.Repeat("a", 4000)} {
		r := post("paystack", charged("x", 1), "X-Paystack-Signature", signature)
		require.Equal(t, 401, r.Status, r.Body)
		require.Contains(t, r.Body, "UNAUTHORIZED")
	}
	require.Equal(t, 401, tell(s, charged("x", 1), "sk_test_another").Status)
	require.Equal(t, 413, tell(s, strings.Repeat(" ", 256<<10+1), node.SimKey).Status)
	require.Equal(t, 401, tell(s, strings.Repeat(" ", 256<<10), "sk_test_another").Status, "it is read up to the limit")
	require.Equal(t, 200, tell(s, charged("x", 1)+strings.Repeat(" ", 200<<10), node.SimKey).Status)
	require.Equal(t, 404, post("cheques", "{}").Status)
	require.Equal(t, 1, kept(s))
}

// TestNoticesAreLimited sends more notices than a provider may in a minute. What is
// forged uses up nothing of that.
func TestNoticesAreLimited(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 0.05 }) // 15 a minute
	for range 10 {
		require.Equal(t, 401, tell(s, charged("x", 1), "sk_test_another").Status)
	}
	for i := range 15 {
		require.Equal(t, 200, tell(s, charged("x", i), node.SimKey).Status)
	}
	r := tell(s, charged("x", 15), node.SimKey)
	require.Equal(t, 503, r.Status, r.Body)
	require.Contains(t, r.Body, "OVERLOADED")
	require.NotEmpty(t, r.Header.Get("Retry-After"))
	require.Equal(t, 15, kept(s))
}

// TestNoticeThatIsNotDurable takes the table away.
func TestNoticeThatIsNotDurable(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, err := s.Pool().Exec(t.Context(), `ALTER TABLE payment_notices RENAME TO elsewhere`)
	require.NoError(t, err)
	r := tell(s, charged("x", 1), node.SimKey)
	require.Equal(t, 503, r.Status, r.Body)
	require.NotEmpty(t, r.Header.Get("Retry-After"))
}

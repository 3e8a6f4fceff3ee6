package money

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// receiver is how a provider tells us of a payment.
type receiver struct {
	provider, header string
	body             func(reference string, n int) string // n is its number; the order of keys is the signature's
	sign             func(body string) string
}

func hmacOf(body string) string {
	mac := hmac.New(sha512.New, []byte(node.SimKey))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

var receivers = []receiver{
	{"paystack", "X-Paystack-Signature", charged, hmacOf},
	{"nowpayments", "X-Nowpayments-Sig", func(reference string, n int) string {
		return fmt.Sprintf(`{"actually_paid":26.25,"order_id":%q,"payment_id":%d,"payment_status":"finished"}`, reference, n)
	}, hmacOf},
	{"flutterwave", "Verif-Hash", func(reference string, n int) string {
		return fmt.Sprintf(`{"event":"charge.completed","data":{"id":%d,"tx_ref":%q,"status":"successful","amount":26.25,"currency":"USD"}}`, n, reference)
	}, func(string) string { return node.SimKey }},
	{"stripe", "Stripe-Signature", func(reference string, n int) string {
		return fmt.Sprintf(`{"id":"evt_%d","type":"checkout.session.completed","data":{"object":{"client_reference_id":%q}}}`, n, reference)
	}, func(body string) string {
		at := strconv.FormatInt(time.Now().Unix(), 10)
		mac := hmac.New(sha256.New, []byte(node.SimKey))
		mac.Write([]byte(at + "." + body))
		return "t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}},
}

// count is how many rows there are of something.
func count(s *nodetest.Shop, of string) (n string) {
	s.T.Helper()
	require.NoError(s.T, s.Pool().QueryRow(s.T.Context(), `SELECT count(*)::text FROM `+of).Scan(&n))
	return n
}

// post sends a notice, and returns the status.
func (r *receiver) post(s *nodetest.Shop, body, signature string) int {
	return s.Raw("POST", "/payments/webhook/"+r.provider, "application/json", body, r.header, signature).Status
}

// TestReceiversIssueNothing sends each receiver 1,000 notices that are forged, replayed, cut
// short, too large or out of order, about orders that nobody has paid.
func TestReceiversIssueNothing(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	for i := range receivers {
		r := &receivers[i]
		id, token := s.Place(r.provider+"@example.org", ids[0], 1)
		in := nodetest.Object{"provider": r.provider}
		if r.provider == "nowpayments" {
			in["payCurrency"] = "usdcbsc"
		}
		reference := payWith(s, id, token, in).Is(200, "").Str("reference")
		statuses := make(map[string]map[int]int)
		rng := rand.New(rand.NewPCG(1, uint64(i))) //nolint:gosec // no secret
		for n := range 1000 {
			body := r.body(reference, n)
			kind, signature := "", r.sign(body)
			switch n % 5 {
			case 0:
				kind, signature = "forged", strings.Repeat(string("0123456789abcdef"[rng.IntN(16)]), rng.IntN(200))
			case 1:
				kind, body = "replayed", r.body(reference, 1)
				signature = r.sign(body)
			case 2:
				body = body[:rng.IntN(len(body))]
				kind, signature = "cut short", r.sign(body)
			case 3:
				kind, body = "too large", body+strings.Repeat(" ", 256<<10)
				signature = r.sign(body)
			case 4:
				kind = "out of order"
			}
			if statuses[kind] == nil {
				statuses[kind] = make(map[int]int)
			}
			statuses[kind][r.post(s, body, signature)]++
		}
		require.Equal(t, map[int]int{401: 200}, statuses["forged"], r.provider)
		require.Equal(t, map[int]int{200: 200}, statuses["replayed"], r.provider)
		require.Equal(t, map[int]int{413: 200}, statuses["too large"], r.provider)
		require.Equal(t, map[int]int{200: 200}, statuses["out of order"], r.provider)
		require.Equal(t, 200, statuses["cut short"][200]+statuses["cut short"][401], "%s: %v", r.provider, statuses) // what can't be read can't be proven, either
		s.Becomes("0", func() string {
			return count(s, `river_job WHERE kind = 'payment_notice' AND state IN ('available', 'running')`)
		})
		o := s.Order(id, token)
		require.Equal(t, "pending pending 0.00", o.Str("status")+" "+o.Str("payments.0.status")+" "+o.Str("payments.0.received"), r.provider)
		require.Empty(t, o.Data("tickets"))
	}
}

// TestReceiversTakeABurst sends 2,000 notices in a second: what was answered with 200 is
// there, and all else was told to come again.
func TestReceiversTakeABurst(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	const burst, senders = 2000, 50
	var taken, later, other atomic.Int64
	var sending sync.WaitGroup
	began := time.Now()
	for sender := range senders {
		sending.Go(func() {
			for k := range burst / senders {
				n := sender + k*senders
				r := &receivers[n%len(receivers)]
				<-time.After(time.Until(began.Add(time.Duration(n) * time.Second / burst)))
				body := r.body("nobodys", n)
				switch r.post(s, body, r.sign(body)) {
				case 200:
					taken.Add(1)
				case 503:
					later.Add(1)
				default:
					other.Add(1)
				}
			}
		})
	}
	sending.Wait()
	t.Logf("%d notices in %v: %d taken, %d told to come again", burst, time.Since(began).Round(time.Millisecond), taken.Load(), later.Load())
	require.Zero(t, other.Load())
	require.EqualValues(t, burst, taken.Load()+later.Load())
	require.Positive(t, taken.Load())
	require.Equal(t, fmt.Sprint(taken.Load()), count(s, "payment_notices"))
	require.Equal(t, fmt.Sprint(taken.Load()), count(s, `river_job WHERE kind = 'payment_notice'`))
}

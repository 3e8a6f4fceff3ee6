package security

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/limit"
)

// spending is a way to spend a rule on a running node: the i-th request names itself
// in the i-th way, and must be counted with all the others.
type spending struct {
	rule, name string
	send       func(i int) nodetest.Reply
}

// rulesScale keeps the buckets of the node small.
const rulesScale = 0.05

// doorNode is a node for rules of the gate and of repeats, with a way to send a code.
type doorNode struct {
	*nodetest.Shop
	t       testing.TB
	event   string
	orders  []nodetest.Answer
	cancels []string // the Idempotency-Key with which each order was given up
	keys    []string // secrets of API keys
	second  string   // a user with an event of their own
	theirs  string   // that event
	scanned int
}

func openDoors(t *testing.T) *doorNode {
	t.Helper()
	s := nodetest.Open(t, func(c *node.Config) { c.TrustedProxies = []string{"127.0.0.1"} })
	d := &doorNode{Shop: s, t: t}
	event, ids := s.Sell(nil, nodetest.TypeBody(25, 1000))
	d.event = event
	for i := range 5 {
		d.orders = append(d.orders, s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, ""))
		d.cancels = append(d.cancels, uuid.NewString())
		// What comes under these keys later is a repeat. A busy node may have no time for the first.
		s.Becomes("200", func() string { return fmt.Sprint(d.cancel(i, apart(12, i)).Status) })
	}
	for range 12 {
		d.keys = append(d.keys, "Bearer "+s.Key(nil).Str("secret"))
	}
	second := s.Register("second@example.org")
	d.second, d.theirs = "Bearer "+second.Token, second.Draft(nil)
	s.Config().LimitsScale = rulesScale
	s.Restart()
	return d
}

func (d *doorNode) owner() string { return "Bearer " + d.Token }

// code sends a code to the gate by a credential, as a device, from an address.
func (d *doorNode) code(code, credential, device, address string) nodetest.Reply {
	d.t.Helper()
	body := nodetest.Object{"eventId": d.event, "qrData": code, "gateName": "North", "deviceId": device}
	if credential == d.second {
		body["eventId"] = d.theirs
	}
	return d.Raw("POST", "/checkin/scan", "application/json", nodetest.Encode(d.t, body), "Authorization", credential, "X-Forwarded-For", address)
}

// cancel gives an order up under its Idempotency-Key, without a credential.
func (d *doorNode) cancel(order int, address string) nodetest.Reply {
	d.t.Helper()
	o := d.orders[order]
	body := nodetest.Encode(d.t, nodetest.Object{"token": o.Str("accessToken")})
	return d.Raw("POST", "/orders/"+o.Str("id")+"/cancel", "application/json", body, "Idempotency-Key", d.cancels[order], "X-Forwarded-For", address)
}

// apart, within64 and spelledAs are addresses: of other networks, of one network, and of
// one address in other spellings.
func apart(site, i int) string    { return fmt.Sprintf("2001:db8:%x:%x::1", site, i) }
func within64(site, i int) string { return fmt.Sprintf("2001:db8:%x:ffff::%x", site, i+1) }
func spelledAs(last, i int) string {
	return fmt.Sprintf([]string{"192.0.2.%d", "::ffff:192.0.2.%d", "192.0.2.%d:4711", "[::ffff:192.0.2.%d]:80"}[i%4], last)
}

// doorSpendings are the ways to spend the rules that only a node knows.
func (d *doorNode) doorSpendings() []spending {
	const wrong = "222222"
	device := func(i int) string { return fmt.Sprint("device-", i) }
	return []spending{
		{"wrong-codes-device", "a user's device from other networks", func(i int) nodetest.Reply { return d.code(wrong, d.second, "one", apart(1, i)) }},
		{"wrong-codes-device", "a key's device from other networks", func(i int) nodetest.Reply { return d.code(wrong, d.keys[0], "one", apart(2, i)) }},
		{"wrong-codes-device", "other codes", func(i int) nodetest.Reply { return d.code("2222"+strconv.Itoa(22+i%8), d.keys[1], "one", apart(3, i)) }},
		{"wrong-codes-credential", "a user's other devices from other networks", func(i int) nodetest.Reply { return d.code(wrong, d.owner(), device(i), apart(4, i)) }},
		{"wrong-codes-credential", "a key's other devices from other networks", func(i int) nodetest.Reply { return d.code(wrong, d.keys[2], device(i), apart(5, i)) }},
		{"wrong-codes-network", "other keys of a network", func(i int) nodetest.Reply { return d.code(wrong, d.keys[3+i%8], device(i), within64(6, i)) }},
		{"wrong-codes-network", "other keys, other spellings", func(i int) nodetest.Reply { return d.code(wrong, d.keys[10-i%8], device(i), spelledAs(7, i)) }},
		{"repeats", "one key, other addresses of a network", func(i int) nodetest.Reply { return d.cancel(0, within64(8, i)) }},
		{"repeats", "one key, other spellings of an address", func(i int) nodetest.Reply { return d.cancel(1, spelledAs(9, i)) }},
		{"repeats", "other orders' keys in turn", func(i int) nodetest.Reply { return d.cancel(3+i%2, within64(11, i)) }},
	}
}

// spend sends until it is refused: not before most are allowed, and with no more than
// what the bucket has got back meanwhile.
func (one *spending) spend(t *testing.T, most int) {
	t.Helper()
	began, sent := time.Now(), 0
	for one.send(sent).Status != 429 {
		sent++
		back := time.Since(began).Minutes()*float64(most) + 1
		require.LessOrEqual(t, float64(sent), float64(most)+back, "requests")
	}
	require.GreaterOrEqual(t, sent, most)
}

// TestDoorRulesBindWhatTheyName is TestRulesBindWhatTheyName of the edge for the rules
// that need an event, a ticket or a stored answer.
func TestDoorRulesBindWhatTheyName(t *testing.T) {
	t.Parallel()
	d := openDoors(t)
	most, cases := make(map[string]int), 0
	for _, rule := range limit.RateRules() {
		most[rule.Name] = int(math.Ceil(float64(rule.Most) * rulesScale))
	}
	spent := make(map[string]bool)
	for _, one := range d.doorSpendings() {
		cases++
		spent[one.rule] = true
		require.Positive(t, most[one.rule], one.rule)
		t.Run(one.rule+"/"+one.name, func(t *testing.T) { one.spend(t, most[one.rule]) }) //nolint:paralleltest // the cases of one network come after each other
	}
	for _, name := range nodetest.Words("wrong-codes-device wrong-codes-credential wrong-codes-network repeats") {
		require.True(t, spent[name], name)
	}
	for who, credential := range map[string]string{"a user": d.owner(), "a key": d.keys[11]} {
		cases++
		t.Run("foreign-codes/"+who+" with other devices from other networks", func(t *testing.T) { //nolint:paralleltest // the cases count one event's denials
			d.spendForeign(t, credential, most["foreign-codes"])
		})
	}
	t.Logf("limits: %d cases of 5 rules on a node", cases)
}

// spendForeign sends codes of other events: all are answered alike, and no more are
// journaled than the rule allows.
func (d *doorNode) spendForeign(t *testing.T, credential string, most int) {
	t.Helper()
	denied := func() int {
		a := d.Call("GET", "/checkin/event/"+d.event+"/stats", nil, "Authorization", d.keys[10]).Is(200, "")
		n, err := strconv.Atoi(a.Str("denied"))
		require.NoError(t, err)
		return n
	}
	before, began := denied(), time.Now()
	for i := range 2 * most {
		d.scanned++
		r := d.code(fmt.Sprintf("TKT-of-another-event-%d", d.scanned), credential, fmt.Sprint("device-", d.scanned), apart(99, d.scanned))
		require.Contains(t, r.Is(t, 200).Body, "denied_wrong_event", "request %d", i)
	}
	journaled, back := denied()-before, int(time.Since(began).Minutes()*float64(most))+1
	require.GreaterOrEqual(t, journaled, most-4, "but for the wrong door codes of the cases before")
	require.LessOrEqual(t, journaled, most+back)
	require.Less(t, journaled, 2*most)
}

// TestVelocityRulesBindWhatTheyName spends every rule that an actor decides by every
// way there is to name oneself otherwise.
func TestVelocityRulesBindWhatTheyName(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	v := &velocityNode{Shop: s}
	var cases atomic.Int64
	spent := make(map[string]int)
	for _, one := range v.spendings() {
		cases.Add(1)
		spent[one.rule]++
		t.Run(one.rule+"/"+one.name, func(t *testing.T) { //nolint:paralleltest // one node, and its rates
			most, send := one.begin(t)
			for i := range most {
				r := send(i)
				require.Less(t, r.Status, 429, "request %d of %d: %s", i+1, most, r.Body)
			}
			r := send(most)
			require.Equal(t, 429, r.Status, r.Body)
			var got struct {
				Error struct {
					Code    string
					Details struct {
						Rule  string
						Limit int
					}
				}
			}
			require.NoError(t, json.Unmarshal([]byte(r.Body), &got))
			require.Equal(t, "VELOCITY_LIMIT_EXCEEDED "+one.rule, got.Error.Code+" "+got.Error.Details.Rule)
			require.Equal(t, most*one.each, got.Error.Details.Limit)
		})
	}
	for _, rule := range nodetest.Words("orders_per_buyer orders_per_address open_orders_per_buyer presale_tries payment_attempts held_seats seat_holds") {
		require.Positive(t, spent[rule], rule)
	}
	t.Logf("velocity: %d cases of %d rules", cases.Load(), len(spent))
}

// velocitySpending is a way to spend a rule of an actor: begin makes what it needs, and
// says how many requests are allowed, each of which counts for each.
type velocitySpending struct {
	rule, name string
	each       int
	begin      func(t *testing.T) (most int, send func(i int) nodetest.Reply)
}

type velocityNode struct {
	*nodetest.Shop
	sites int
}

// site is a number for addresses that nobody else has.
func (v *velocityNode) site() int { v.sites++; return 1000 + v.sites }

func (v *velocityNode) spendings() []velocitySpending {
	return slices.Concat(v.orderSpendings(), v.trySpendings(), v.holdSpendings())
}

// orderOf orders one ticket, with a presale code if there is one.
func (v *velocityNode) orderOf(t *testing.T, ticket, email, address string, code any, headers ...string) nodetest.Reply {
	t.Helper()
	body := nodetest.With(nodetest.OrderBody(email, ticket, 1), nodetest.Object{"presaleCode": code})
	return v.Raw("POST", "/orders", "application/json", nodetest.Encode(t, body), append(headers, "X-Forwarded-For", address)...)
}

func (v *velocityNode) orderSpendings() []velocitySpending {
	ann := []string{"ann@example.org", "ANN@example.org", "Ann@Example.ORG"}
	selling := func(rule string, limit int, price float64, send func(t *testing.T, ticket string, site, i int) nodetest.Reply) func(t *testing.T) (int, func(int) nodetest.Reply) {
		return func(t *testing.T) (int, func(int) nodetest.Reply) {
			t.Helper()
			_, ids := v.Sell(nodetest.Object{"velocity": nodetest.Object{rule: limit}}, nodetest.TypeBody(price, 100))
			site := v.site()
			return limit, func(i int) nodetest.Reply { return send(t, ids[0], site, i) }
		}
	}
	stranger := v.Register("stranger@example.org")
	return []velocitySpending{
		{"orders_per_buyer", "spellings of an e-mail address from other networks", 1, selling("ordersPerBuyer", 3, 0, func(t *testing.T, ticket string, site, i int) nodetest.Reply {
			t.Helper()
			return v.orderOf(t, ticket, ann[i%3], apart(site, i), nodetest.Absent)
		})},
		{"orders_per_buyer", "another key for each", 1, selling("ordersPerBuyer", 3, 0, func(t *testing.T, ticket string, site, i int) nodetest.Reply {
			t.Helper()
			return v.orderOf(t, ticket, ann[0], apart(site, i), nodetest.Absent, "Idempotency-Key", uuid.NewString())
		})},
		{"orders_per_buyer", "in turn signed in and as a guest", 1, selling("ordersPerBuyer", 3, 0, func(t *testing.T, ticket string, site, i int) nodetest.Reply {
			t.Helper()
			if i%2 == 0 {
				return v.orderOf(t, ticket, ann[0], apart(site, i), nodetest.Absent, stranger.Bearer()...)
			}
			return v.orderOf(t, ticket, ann[1], apart(site, i), nodetest.Absent)
		})},
		{"orders_per_address", "other buyers of a network", 1, selling("ordersPerAddress", 3, 0, func(t *testing.T, ticket string, site, i int) nodetest.Reply {
			t.Helper()
			return v.orderOf(t, ticket, fmt.Sprintf("b%d@example.org", i), within64(site, i), nodetest.Absent)
		})},
		{"orders_per_address", "spellings of an address", 1, selling("ordersPerAddress", 4, 0, func(t *testing.T, ticket string, _, i int) nodetest.Reply {
			t.Helper()
			return v.orderOf(t, ticket, fmt.Sprintf("c%d@example.org", i), spelledAs(77, i), nodetest.Absent)
		})},
		{"open_orders_per_buyer", "spellings of an e-mail address from other networks", 1, selling("openOrdersPerBuyer", 3, 25, func(t *testing.T, ticket string, site, i int) nodetest.Reply {
			t.Helper()
			return v.orderOf(t, ticket, ann[i%3], apart(site, i), nodetest.Absent)
		})},
	}
}

func (v *velocityNode) trySpendings() []velocitySpending {
	presale := func(send func(t *testing.T, ticket string, site, i int) nodetest.Reply) func(t *testing.T) (int, func(int) nodetest.Reply) {
		return func(t *testing.T) (int, func(int) nodetest.Reply) {
			t.Helper()
			_, ids := v.Sell(nodetest.Object{}, nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"presaleCode": "FANS2030"}))
			site := v.site()
			return 3, func(i int) nodetest.Reply { return send(t, ids[0], site, i) }
		}
	}
	paying := func(send func(t *testing.T, id, token string, site, i int) nodetest.Reply) func(t *testing.T) (int, func(int) nodetest.Reply) {
		return func(t *testing.T) (int, func(int) nodetest.Reply) {
			t.Helper()
			_, ids := v.Sell(nodetest.Object{}, nodetest.TypeBody(25, 100))
			site := v.site()
			o := v.orderOf(t, ids[0], "payer@example.org", apart(site, 0), nodetest.Absent).Is(t, 201)
			var order struct {
				Data struct{ ID, AccessToken string }
			}
			require.NoError(t, json.Unmarshal([]byte(o.Body), &order))
			return 3, func(i int) nodetest.Reply {
				r := send(t, order.Data.ID, order.Data.AccessToken, site, i)
				var at struct {
					Data struct{ AuthorizationURL string }
				}
				if r.Status == 200 {
					require.NoError(t, json.Unmarshal([]byte(r.Body), &at))
					v.Settle(at.Data.AuthorizationURL, "failed")
					v.Verify(order.Data.ID, order.Data.AccessToken).Is(200, "")
				}
				return r
			}
		}
	}
	pay := func(t *testing.T, id, token, address string, headers ...string) nodetest.Reply {
		t.Helper()
		body := nodetest.Encode(t, nodetest.Object{"provider": "paystack", "token": token})
		return v.Raw("POST", "/orders/"+id+"/pay", "application/json", body, append(headers, "X-Forwarded-For", address)...)
	}
	return []velocitySpending{
		{"presale_tries", "a buyer from other networks with other codes", 1, presale(func(t *testing.T, ticket string, site, i int) nodetest.Reply {
			t.Helper()
			return v.orderOf(t, ticket, []string{"pam@example.org", "PAM@example.org"}[i%2], apart(site, i), fmt.Sprint("WRONG", i))
		})},
		{"presale_tries", "other buyers of a network", 1, presale(func(t *testing.T, ticket string, site, i int) nodetest.Reply {
			t.Helper()
			return v.orderOf(t, ticket, fmt.Sprintf("p%d@example.org", i), within64(site, i), fmt.Sprint("WRONG", i))
		})},
		{"payment_attempts", "from other networks", 1, paying(func(t *testing.T, id, token string, site, i int) nodetest.Reply {
			t.Helper()
			return pay(t, id, token, apart(site, i))
		})},
		{"payment_attempts", "spellings of the order's id, another key for each", 1, paying(func(t *testing.T, id, token string, site, i int) nodetest.Reply {
			t.Helper()
			if i%2 == 1 {
				id = strings.ToUpper(id)
			}
			return pay(t, id, token, apart(site, i), "Idempotency-Key", uuid.NewString())
		})},
	}
}

func (v *velocityNode) holdSpendings() []velocitySpending {
	h := &nodetest.House{Shop: v.Shop}
	h.SeatRoomy()
	holder := func(site, i int) string { return fmt.Sprintf("holder-%d-%d", site, i) }
	rows := nodetest.Words("A B C D E F G H")
	free := func(t *testing.T, site, i int) {
		t.Helper()
		h.Call("DELETE", h.Path+"seats/hold", nodetest.Object{"holder": holder(site, i)}).Is(200, "")
	}
	// holding spends held_seats by fifty seats a request, and gives all back.
	holding := func(send func(t *testing.T, site, i int) nodetest.Reply) func(t *testing.T) (int, func(int) nodetest.Reply) {
		return func(t *testing.T) (int, func(int) nodetest.Reply) {
			t.Helper()
			site := v.site()
			t.Cleanup(func() {
				for i := range 3 {
					free(t, site, i)
				}
			})
			return 2, func(i int) nodetest.Reply { return send(t, site, i) }
		}
	}
	// taking spends seat_holds by fifty seats a request, each given back at once.
	taking := func(send func(t *testing.T, site, i int) nodetest.Reply) func(t *testing.T) (int, func(int) nodetest.Reply) {
		return func(t *testing.T) (int, func(int) nodetest.Reply) {
			t.Helper()
			site := v.site()
			return 6, func(i int) nodetest.Reply {
				r := send(t, site, i)
				free(t, site, i)
				return r
			}
		}
	}
	user, key := v.Register("holder@example.org").Bearer(), []string{"Authorization", "Bearer " + v.Key(nil).Str("secret")}
	others := make([][]string, 7)
	for i := range others {
		others[i] = v.Register(fmt.Sprintf("other%d@example.org", i)).Bearer()
	}
	return []velocitySpending{
		{"held_seats", "other holders at addresses of a network", 50, holding(func(t *testing.T, site, i int) nodetest.Reply {
			t.Helper()
			return h.HoldFrom(within64(site, i), holder(site, i), nodetest.RowOf(rows[i]))
		})},
		{"held_seats", "an account's other holders from other networks", 50, holding(func(t *testing.T, site, i int) nodetest.Reply {
			t.Helper()
			return h.HoldFrom(apart(site, i), holder(site, i), nodetest.RowOf(rows[i]), user...)
		})},
		{"held_seats", "a key's other holders from other networks, the best seats", 50, holding(func(t *testing.T, site, i int) nodetest.Reply {
			t.Helper()
			return h.BestFrom(apart(site, i), holder(site, i), 50, key...)
		})},
		{"seat_holds", "other holders at addresses of a network", 50, taking(func(t *testing.T, site, i int) nodetest.Reply {
			t.Helper()
			return h.HoldFrom(within64(site, i), holder(site, i), nodetest.RowOf(rows[i]))
		})},
		{"seat_holds", "other accounts of a network", 50, taking(func(t *testing.T, site, i int) nodetest.Reply {
			t.Helper()
			return h.HoldFrom(within64(site, i), holder(site, i), nodetest.RowOf(rows[i]), others[i]...)
		})},
		{"seat_holds", "the best seats, in spellings of an address", 50, taking(func(t *testing.T, site, i int) nodetest.Reply {
			t.Helper()
			return h.BestFrom(spelledAs(78, i), holder(site, i), 50)
		})},
	}
}

// promoDoors are all rows that tell whether there is a promo code, each with the same guess.
func promoDoors(t *testing.T, s *nodetest.Shop, event, ticket string) map[string]func(code string, headers ...string) nodetest.Reply {
	t.Helper()
	return map[string]func(string, ...string) nodetest.Reply{
		"validatePromoCode": func(code string, headers ...string) nodetest.Reply {
			body := nodetest.Encode(t, nodetest.Object{"code": code, "eventId": event})
			return s.Raw("POST", "/tickets/promo/validate", "application/json", body, headers...)
		},
		"placeOrder": func(code string, headers ...string) nodetest.Reply {
			body := nodetest.With(nodetest.OrderBody("ada@example.org", ticket, 1), nodetest.Object{"promoCode": code})
			return s.Raw("POST", "/orders", "application/json", nodetest.Encode(t, body), headers...)
		},
	}
}

// TestPromoGuessesCountAtAllDoors spends the guesses of promo codes at each door, as a network and
// as an account: then every door is closed, to wrong codes and right ones alike, and only to that
// network or account.
func TestPromoGuessesCountAtAllDoors(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	event, ids := s.Sell(nodetest.Object{"velocity": nodetest.Object{"ordersPerBuyer": 1000, "ordersPerAddress": 1000, "openOrdersPerBuyer": 1000}}, nodetest.TypeBody(25, 1000))
	s.Own("POST", "/organizer/promo-codes", nodetest.Object{
		"code": "RIGHT-1", "discountType": "percentage", "discountValue": 10, "eventId": event, "validFrom": nodetest.Stamp(-time.Hour), "validUntil": nodetest.Stamp(time.Hour),
	}).Is(201, "")
	accounts := [][]string{s.Register("guess1@example.org").Bearer(), s.Register("guess2@example.org").Bearer()}
	const most = 20
	doors := promoDoors(t, s, event, ids[0])
	for site, name := range slices.Sorted(maps.Keys(doors)) {
		ways := map[string]func(i int) []string{
			"a network": func(i int) []string { return []string{"X-Forwarded-For", within64(3000+site, i)} },
			"an account": func(i int) []string {
				return append(slices.Clone(accounts[site]), "X-Forwarded-For", apart(3100+site, i))
			},
		}
		for who, as := range ways {
			t.Run(name+" by "+who, func(t *testing.T) { //nolint:paralleltest // the doors of one node after each other
				require.Less(t, doors[name]("RIGHT-1", as(0)...).Status, 300, "a right code does not count")
				for i := range most {
					require.Less(t, doors[name]("WRONG-1", as(i)...).Status, 429, "guess %d of %d", i+1, most)
				}
				for other, try := range doors {
					for _, code := range []string{"WRONG-2", "RIGHT-1"} {
						require.Contains(t, try(code, as(most)...).Is(t, 429).Body, "RATE_LIMITED", "%s of %s", code, other)
					}
					require.Less(t, try("RIGHT-1", "X-Forwarded-For", apart(3200+site, most)).Status, 300, "others are let in at %s", other)
				}
			})
		}
	}
}

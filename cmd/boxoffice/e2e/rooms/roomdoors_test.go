package rooms

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine/draw"
)

// TestRoomIsNotSkipped walks around a waiting room as an attacker would, who is in line behind the one
// person that is admitted: by every door at which buyers take tickets or seats, and with every token that
// is not his own admission. Each refusal is counted by its reason.
func TestRoomIsNotSkipped(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	h := nodetest.SeatedIn(s.Shop)
	other := nodetest.SeatedIn(s.Shop)
	for _, event := range []string{h.Event, other.Event} {
		s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "admitPerMinute": 6000, "proof": "address"}).Is(200, "")
	}
	ann, mallory := s.Buyer("ann@example.org"), s.Buyer("mallory@example.org")
	join := func(as *nodetest.Shop, event string) string {
		return as.Own("POST", publicQueue(event), nodetest.Object{}).Is(201, "").Str("token")
	}
	anns := join(ann, h.Event)
	admission := s.until(h.Event, anns, "admission.token").Str("you.admission.token")
	elsewhere := s.until(other.Event, join(mallory, other.Event), "admission.token").Str("you.admission.token")
	s.Own("POST", organizerQueue(h.Event)+"/pause", nil).Is(200, "")
	mallorys := join(mallory, h.Event)
	require.Nil(t, s.as(h.Event, mallorys).Data("you.admission"), "it is not Mallory's turn")

	count := map[string]int{}
	refused := func(reason string, a nodetest.Answer) {
		t.Helper()
		require.Equal(t, reason, a.Is(403, "QUEUE_REQUIRED").Get("error.details.reason"))
		count[reason]++
	}
	seats := func(order nodetest.Object) nodetest.Object {
		order["items"].([]nodetest.Object)[0]["venueSeatIds"] = []string{"stalls-A-1"}
		return nodetest.With(order, nodetest.Object{"holder": nodetest.AdaHolds})
	}
	order := seats(nodetest.OrderBody("mallory@example.org", h.Stalls, 1))
	hold := nodetest.Object{"holder": nodetest.AdaHolds, "seatIds": []string{"stalls-A-1"}}
	doors := map[string]struct {
		path string
		body nodetest.Object
	}{
		"an order":       {"/orders", order},
		"the seat map":   {h.Path + "seats/hold", hold},
		"the best seats": {h.Path + "seats/best-available", nodetest.Object{"holder": nodetest.AdaHolds, "quantity": 1}},
	}
	for name, door := range doors {
		t.Log("by " + name)
		for _, session := range [][]string{mallory.Bearer(), nil} {
			knock := func(admission string) nodetest.Answer {
				return s.Call("POST", door.path, door.body, append(slices.Clone(session), "X-Queue-Admission", admission)...)
			}
			refused("missing", knock(""))
			for what, token := range forgeries(t, admission) {
				t.Log(what)
				refused("forged", knock(token))
			}
			refused("forged", knock(mallorys))
			refused("forged", knock(elsewhere))
		}
	}

	t.Log("by the tools of agents")
	for _, tool := range []string{"place_order", "hold_seats", "hold_best_seats"} {
		args := map[string]nodetest.Object{
			"place_order": order, "hold_seats": nodetest.With(hold, nodetest.Object{"eventId": h.Event}),
			"hold_best_seats": {"holder": nodetest.AdaHolds, "quantity": 1, "id": h.Event},
		}[tool]
		for reason, token := range map[string]string{"missing": "", "forged": elsewhere} {
			text, _, isError := mallory.Tool(tool, nodetest.With(args, nodetest.Object{"admission": token}))
			require.True(t, isError)
			require.Contains(t, text, "QUEUE_REQUIRED", tool)
			count[reason]++
		}
	}

	t.Log("by the doors of the organizer, and by the waitlist while tickets are left")
	recipient := nodetest.Object{"email": "mallory@example.org", "name": "Mallory"}
	for path, body := range map[string]nodetest.Object{
		"/events/" + h.Event + "/issue":                  nodetest.With(recipient, nodetest.Object{"ticketTypeId": h.Stalls, "quantity": 1}),
		"/organizer/growth/events/" + h.Event + "/comps": {"ticketTypeId": h.Stalls, "recipients": []nodetest.Object{recipient}},
	} {
		a := mallory.Own("POST", path, body)
		require.Contains(t, []int{401, 403, 404}, a.Status, "%s: %v", path, a.Body)
	}
	wait := nodetest.Object{"ticketTypeId": h.Stalls, "quantity": 1, "email": "mallory@example.org", "name": "Mallory"}
	mallory.Own("POST", "/community/events/"+h.Event+"/waitlist", wait).Is(409, "WAITLIST_CLOSED")

	t.Log("with somebody else's admission")
	refused("shared", mallory.Call("POST", "/orders", order, append(mallory.Bearer(), "X-Queue-Admission", admission)...))

	t.Log("the one who was admitted buys, and repeats the request of an answer that was lost")
	const key = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
	s.Call("POST", h.Path+"seats/hold", hold, append(ann.Bearer(), "X-Queue-Admission", admission)...).Is(200, "")
	annsOrder := seats(nodetest.OrderBody("ann@example.org", h.Stalls, 1))
	buy := func(body nodetest.Object, key string) nodetest.Answer {
		return s.Call("POST", "/orders", body, append(ann.Bearer(), "X-Queue-Admission", admission, "Idempotency-Key", key)...)
	}
	bought := buy(annsOrder, key).Is(201, "").Str("id")

	t.Log("later it is of no use: not for a new order, not under the old key, not for seats")
	s.wait(11 * time.Minute)
	require.Equal(t, bought, buy(annsOrder, key).Is(201, "").Str("id"), "a repeat of what was made in time")
	refused("expired", buy(annsOrder, "7f9619ff-8b86-4d01-b42d-00cf4fc964ff"))
	again := buy(nodetest.With(annsOrder, nodetest.Object{"guestName": "Ann Again"}), key)
	require.NotEqual(t, 201, again.Status, "%v", again.Body)
	refused("expired", s.Call("POST", h.Path+"seats/hold", nodetest.With(hold, nodetest.Object{"admission": admission}), ann.Bearer()...))

	for reason, n := range count {
		line := fmt.Sprintf("boxoffice_queue_refusals_total{reason=%q} ", reason)
		_, after, _ := strings.Cut(s.Metric(), line)
		counted, _, _ := strings.Cut(after, "\n")
		require.Equal(t, strconv.Itoa(n), counted, line)
	}
	require.Equal(t, "39", h.Left(h.Stalls), "one seat is sold")
}

// forgeries are admissions that an attacker makes of one that he has seen.
func forgeries(t *testing.T, admission string) map[string]string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(admission)
	require.NoError(t, err)
	flip := func(at int) string {
		b := slices.Clone(raw)
		b[at] ^= 1
		return base64.RawURLEncoding.EncodeToString(b)
	}
	return map[string]string{
		"another draw": flip(3), "a longer time": flip(8), "another leaf": flip(12), "another MAC": flip(len(raw) - 1),
		"cut short": admission[:len(admission)-1], "with more behind": admission + "A", "a word": "admission",
	}
}

// TestRoomIsNotFlooded guesses leaves and tokens, and joins a thousand times: whoever has proven an address
// has one entry, and a network gets no further than the limit of the doors.
func TestRoomIsNotFlooded(t *testing.T) {
	t.Parallel()
	t.Run("one address", func(t *testing.T) {
		t.Parallel()
		s := openRoomShop(t)
		event, _ := s.OnSale(nodetest.TypeBody(10, 100))
		s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "proof": "address", "partyMax": 10}).Is(200, "")
		mallory := s.Buyer("mallory@example.org")
		join := func(as *nodetest.Shop, i int, headers ...string) nodetest.Answer {
			return as.Call("POST", publicQueue(event), nodetest.Object{"party": i%10 + 1}, append(as.Bearer(), headers...)...)
		}
		entry := join(mallory, 0, "Idempotency-Key", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff").Is(201, "")
		for i := range 998 {
			require.Equal(t, "entered", join(mallory, i).Is(409, "CONFLICT").Get("error.details.reason"))
		}
		require.Equal(t, entry.Str("token"), join(mallory, 0, "Idempotency-Key", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff").Is(201, "").Str("token"))
		require.Eventually(t, func() bool { // the node keeps what it has read of a room for a second
			return s.as(event, entry.Str("token")).Data("count") == float64(1)
		}, time.Minute, 50*time.Millisecond)

		t.Log("a leaf and a token are not guessed, and whoever learns a leaf can do nothing with it")
		receipt, err := draw.ParseReceipt(entry.Str("receipt"))
		require.NoError(t, err)
		token := entry.Str("token")
		for i := range 64 {
			b, err := base64.RawURLEncoding.DecodeString(token)
			require.NoError(t, err)
			b[i%len(b)] ^= byte(i + 1)
			s.Call("GET", publicQueue(event)+"?ticket="+base64.RawURLEncoding.EncodeToString(b), nil).Is(404, "NOT_FOUND")
			s.Call("GET", publicQueue(event)+"/proof?leaf="+fmt.Sprintf("%064x", i), nil).Is(404, "NOT_FOUND")
		}
		s.Call("GET", publicQueue(event)+"?ticket="+receipt.Leaf.String(), nil).Is(404, "NOT_FOUND")
		s.Call("GET", publicQueue(event)+"?ticket="+entry.Str("receipt"), nil).Is(400, "VALIDATION_ERROR")
	})
	t.Run("one network", func(t *testing.T) {
		t.Parallel()
		s := openRoomShop(t, func(c *node.Config) { c.LimitsScale = 1 })
		event, _ := s.OnSale(nodetest.TypeBody(10, 100))
		s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "mode": "arrival"}).Is(200, "")
		taken := 0
		for range 1000 {
			a := s.Call("POST", publicQueue(event), nodetest.Object{})
			if a.Status == http.StatusCreated {
				taken++
				continue
			}
			a.Is(429, "RATE_LIMITED")
		}
		require.Less(t, taken, 100, "of a thousand")
	})
}

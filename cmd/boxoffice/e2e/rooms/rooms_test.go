package rooms

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/secrets"
	"boxoffice/edge/witness"
	"boxoffice/edge/witness/witnesstest"
	"boxoffice/engine/draw"
	"boxoffice/persistence/rooms"
)

// roomShop is a shop whose clock a test sets forward.
type roomShop struct {
	*nodetest.Shop
	ahead atomic.Int64 // nanoseconds
}

func openRoomShop(t *testing.T, changes ...func(*node.Config)) *roomShop {
	t.Helper()
	s := new(roomShop)
	s.Shop = nodetest.Open(t, append(changes, func(c *node.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
	})...)
	return s
}

func (s *roomShop) wait(d time.Duration) { s.ahead.Add(int64(d)) }

func (s *roomShop) stamp(d time.Duration) string {
	return nodetest.Stamp(time.Duration(s.ahead.Load()) + d)
}

func publicQueue(event string) string    { return "/public/events/" + event + "/queue" }
func organizerQueue(event string) string { return "/organizer/events/" + event + "/queue" }

// as reads a room as a visitor.
func (s *roomShop) as(event, token string) nodetest.Answer {
	s.T.Helper()
	return s.Call("GET", publicQueue(event), nil, "Authorization", "Queue "+token).Is(200, "")
}

// until reads a room as a visitor until a value is there.
func (s *roomShop) until(event, token, path string) nodetest.Answer {
	s.T.Helper()
	var a nodetest.Answer
	require.Eventually(s.T, func() bool {
		a = s.as(event, token)
		at := a.Data("you")
		for part := range strings.SplitSeq(path, ".") {
			m, ok := at.(map[string]any)
			if !ok {
				return false
			}
			at = m[part]
		}
		return at != nil
	}, time.Minute, 50*time.Millisecond, "you.%s", path)
	return a
}

// TestRoomByArrival opens a room on a sale that goes on: whoever comes is admitted at the rate, and
// nobody else orders or holds seats.
func TestRoomByArrival(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	event, types := s.OnSale(nodetest.TypeBody(10, 100))
	a := s.Call("GET", publicQueue(event), nil).Is(200, "")
	require.Equal(t, "none", a.Data("state"))
	s.Call("POST", publicQueue(event), nodetest.Object{}).Is(409, "QUEUE_CLOSED")
	s.Own("POST", organizerQueue(event)+"/pause", nil).Is(404, "NOT_FOUND")
	s.Call("GET", publicQueue(event)+"/draw", nil).Is(404, "NOT_FOUND")

	body := nodetest.OrderBody("early@example.org", types[0], 1)
	s.Call("POST", "/orders", body).Is(201, "")
	a = s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "admitPerMinute": 6000, "partyMax": 3}).Is(200, "")
	require.Equal(t, "arrival", a.Data("rules.mode"))
	refused := s.Call("POST", "/orders", nodetest.OrderBody("robot@example.org", types[0], 1)).Is(403, "QUEUE_REQUIRED")
	require.Equal(t, "missing", refused.Get("error.details.reason"))
	require.Contains(t, refused.Get("error.details.queue"), "/e/"+event+"/queue")
	s.Own("POST", "/orders", nodetest.OrderBody("friend@example.org", types[0], 1)).Is(201, "")

	s.Call("POST", publicQueue(event), nodetest.Object{"party": 4}).Is(400, "VALIDATION_ERROR")
	joined := s.Call("POST", publicQueue(event), nodetest.Object{"party": 2}, "Idempotency-Key", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff").Is(201, "")
	again := s.Call("POST", publicQueue(event), nodetest.Object{"party": 2}, "Idempotency-Key", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff").Is(201, "")
	require.Equal(t, joined.Str("token"), again.Str("token"), "a repeat is the same entry")
	require.Equal(t, float64(1), joined.Data("place"))
	admitted := s.until(event, joined.Str("token"), "admission.token")
	require.Equal(t, float64(1), admitted.Data("you.place"))
	require.Equal(t, float64(1), admitted.Data("count"))
	admission := admitted.Str("you.admission.token")
	byQuery := s.Call("GET", publicQueue(event)+"?ticket="+joined.Str("token"), nil).Is(200, "")
	require.Equal(t, admission, byQuery.Str("you.admission.token"), "on another device")
	s.Call("GET", publicQueue(event)+"?ticket=nonsense", nil).Is(404, "NOT_FOUND")

	buy := func(email, admission string, headers ...string) nodetest.Answer {
		body := nodetest.OrderBody(email, types[0], 1)
		return s.Call("POST", "/orders", body, append(headers, "X-Queue-Admission", admission)...)
	}
	why := func(a nodetest.Answer) any { return a.Is(403, "QUEUE_REQUIRED").Get("error.details.reason") }
	key := []string{"Idempotency-Key", "7f9619ff-8b86-4d01-b42d-00cf4fc964ff"}
	order := buy("ann@example.org", admission, key...).Is(201, "").Str("id")
	s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody("ann@example.org", types[0], 1), nodetest.Object{"admission": admission})).Is(201, "")
	require.Equal(t, "shared", why(buy("bob@example.org", admission)))
	require.Equal(t, "forged", why(buy("bob@example.org", admission[:len(admission)-4]+"AAAA")))
	require.Equal(t, "forged", why(buy("bob@example.org", joined.Str("token"))))
	require.Contains(t, s.Metric(), `boxoffice_queue_refusals_total{reason="forged"} 2`)

	s.wait(11 * time.Minute)
	require.Equal(t, "expired", why(buy("ann@example.org", admission)))
	require.Equal(t, order, buy("ann@example.org", admission, key...).Is(201, "").Str("id"), "a repeat of what was made in time")
	require.Equal(t, "expired", why(buy("ann@example.org", admission, "Idempotency-Key", "8f9619ff-8b86-4d01-b42d-00cf4fc964ff")))

	s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "proof": "address"}).Is(409, "QUEUE_FROZEN")
	s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "admitPerMinute": "quick"}).Is(400, "VALIDATION_ERROR")
	a = s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": true, "admitPerMinute": "auto"}).Is(200, "")
	require.Equal(t, true, a.Data("auto"))
	require.Equal(t, true, s.Own("POST", organizerQueue(event)+"/pause", nil).Is(200, "").Data("paused"))
	require.Equal(t, false, s.Own("POST", organizerQueue(event)+"/resume", nil).Is(200, "").Data("paused"))
	require.Equal(t, "none", s.Own("POST", organizerQueue(event)+"/drain", nil).Is(200, "").Data("state"), "nobody is in line")
	buy("robot@example.org", "").Is(201, "")
	require.Equal(t, "none", s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": false}).Is(200, "").Data("state"))
}

// TestRoomHoldsSeats asks for an admission where seats are held.
func TestRoomHoldsSeats(t *testing.T) {
	t.Parallel()
	s := openRoomShop(t)
	h := nodetest.SeatedIn(s.Shop)
	s.Own("PUT", organizerQueue(h.Event), nodetest.Object{"enabled": true}).Is(200, "")
	h.Hold(nodetest.AdaHolds, "stalls-A-1").Is(403, "QUEUE_REQUIRED")
	h.Buy(nodetest.AdaHolds, h.Stalls, "stalls-A-1").Is(403, "QUEUE_REQUIRED")
	s.Call("POST", h.Path+"seats/best-available", nodetest.Object{"holder": nodetest.AdaHolds, "quantity": 1}).Is(403, "QUEUE_REQUIRED")
	token := s.Call("POST", publicQueue(h.Event), nodetest.Object{}).Is(201, "").Str("token")
	admission := s.until(h.Event, token, "admission.token").Str("you.admission.token")
	hold := nodetest.Object{"holder": nodetest.AdaHolds, "seatIds": []string{"stalls-A-1"}}
	s.Call("POST", h.Path+"seats/hold", hold, "X-Queue-Admission", admission).Is(200, "")
	s.Call("POST", h.Path+"seats/hold", nodetest.With(hold, nodetest.Object{"admission": admission})).Is(200, "")
}

// TestRoomIsDrawn runs a draw: registration, closing, the beacon's round and places that our verifier and
// Python's find by themselves, from what the service answers.
func TestRoomIsDrawn(t *testing.T) {
	t.Parallel()
	seer := witnesstest.Open(t)
	seer.Away.Store(true)
	s := openRoomShop(t, func(c *node.Config) { c.WitnessURL = seer.URL })
	event, types := s.OnSale(nodetest.TypeBody(10, 100))
	set := nodetest.Object{"enabled": true, "opensAt": s.stamp(time.Hour), "registersFrom": s.stamp(10 * time.Minute), "admitPerMinute": 60, "proof": "address"}
	for field, wrong := range map[string]string{"opensAt": s.stamp(time.Minute), "registersFrom": s.stamp(2 * time.Hour)} {
		a := s.Own("PUT", organizerQueue(event), nodetest.With(set, nodetest.Object{field: wrong, "mode": "draw"})).Is(400, "VALIDATION_ERROR")
		require.Contains(t, fmt.Sprint(a.Get("error.details.issues")), field)
	}
	a := s.Own("PUT", organizerQueue(event), set).Is(200, "")
	require.Equal(t, "announced", a.Data("state"))
	require.Equal(t, "draw", a.Data("rules.mode"))
	require.Equal(t, true, a.Data("testBeacon"))
	s.Own("PUT", organizerQueue(event), nodetest.With(set, nodetest.Object{"partyMax": 2})).Is(200, "")
	ann := s.Buyer("ann@example.org").Token
	join := func(token string) nodetest.Answer {
		return s.Call("POST", publicQueue(event), nodetest.Object{}, "Authorization", "Bearer "+token)
	}
	require.Equal(t, "not_open", join(ann).Is(409, "QUEUE_CLOSED").Get("error.details.reason"))
	s.Call("POST", "/orders", nodetest.OrderBody("early@example.org", types[0], 1)).Is(201, "") // the room opens later

	s.wait(15 * time.Minute)
	s.Call("POST", publicQueue(event), nodetest.Object{}).Is(401, "UNAUTHORIZED")
	s.Own("PUT", organizerQueue(event), nodetest.With(set, nodetest.Object{"partyMax": 3})).Is(409, "QUEUE_FROZEN")
	var entries []nodetest.Answer
	var fan string
	for i := range 7 {
		fan = s.Buyer(fmt.Sprintf("fan%d@example.org", i)).Token
		entries = append(entries, join(fan).Is(201, ""))
		require.Nil(t, entries[i].Data("place"), "before the draw")
	}
	require.Equal(t, "entered", join(fan).Is(409, "CONFLICT").Get("error.details.reason"))
	s.Call("GET", publicQueue(event)+"/draw", nil).Is(404, "NOT_FOUND")

	s.wait(42*time.Minute + time.Second)
	var doc nodetest.Answer
	require.Eventually(t, func() bool {
		doc = s.Call("GET", publicQueue(event)+"/draw", nil)
		return doc.Status == 200
	}, time.Minute, 50*time.Millisecond)
	require.Nil(t, doc.Data("beacon"), "the statement is out before the round")
	root := doc.Str("statement.root")
	require.Nil(t, doc.Data("witness"), "it is away")
	seer.Away.Store(false)
	require.Eventually(t, func() bool {
		doc = s.Call("GET", publicQueue(event)+"/draw", nil).Is(200, "")
		return doc.Data("witness") != nil
	}, time.Minute, 50*time.Millisecond)
	late := join(s.Buyer("late@example.org").Token).Is(201, "")
	s.wait(2*time.Minute + 4*time.Second)
	require.Eventually(t, func() bool {
		doc = s.Call("GET", publicQueue(event)+"/draw", nil).Is(200, "")
		return doc.Data("beacon") != nil
	}, time.Minute, 50*time.Millisecond)
	require.Equal(t, root, doc.Str("statement.root"))
	require.Equal(t, float64(7), doc.Data("statement.count"))

	master, err := secrets.New(bytes.Repeat([]byte{0xab}, secrets.KeySize)) // of nodetest
	require.NoError(t, err)
	chain := master.TestBeacon().Chain
	seen := map[string]bool{}
	for i, e := range entries {
		you := s.until(event, e.Str("token"), "place")
		receipt, err := draw.ParseReceipt(e.Str("receipt"))
		require.NoError(t, err)
		proof := s.Call("GET", publicQueue(event)+"/proof?leaf="+receipt.Leaf.String(), nil).Is(200, "")
		place := fmt.Sprint(you.Data("you.place"))
		require.False(t, seen[place], "two have place %s", place)
		seen[place] = true
		if i < 2 {
			checkPlace(t, doc, proof, e.Str("receipt"), &chain, place)
		}
	}
	require.Equal(t, float64(8), s.as(event, late.Str("token")).Data("you.place"), "who came later")
	s.Call("GET", publicQueue(event)+"/proof?leaf="+strings.Repeat("ab", 32), nil).Is(404, "NOT_FOUND")

	t.Log("a round that somebody brings is verified")
	round := doc.Data("statement.rules.beaconRound")
	bring := func(round, signature any) nodetest.Answer {
		return s.Call("POST", publicQueue(event)+"/beacon", nodetest.Object{"round": round, "signature": signature})
	}
	bring(round, doc.Data("beacon")).Is(200, "")
	bring(round.(float64)+1, doc.Data("beacon")).Is(400, "VALIDATION_ERROR")
	bring(round, strings.Repeat("ab", 48)).Is(400, "VALIDATION_ERROR")

	require.Equal(t, "drawn", s.as(event, late.Str("token")).Data("state"))
	s.wait(5 * time.Minute)
	for _, e := range entries {
		s.until(event, e.Str("token"), "admission.token")
	}
	admission := s.as(event, entries[3].Str("token")).Str("you.admission.token")
	buy := func(email string) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.OrderBody(email, types[0], 1), "X-Queue-Admission", admission)
	}
	require.Equal(t, "shared", buy("fan4@example.org").Is(403, "QUEUE_REQUIRED").Get("error.details.reason"))
	buy("fan3@example.org").Is(201, "")
	s.Token = s.Call("POST", "/auth/login", nodetest.Object{"email": "owner@example.org", "password": "correct horse"}).Is(200, "").Str("accessToken")
	s.Own("PUT", organizerQueue(event), nodetest.Object{"enabled": false}).Is(200, "")
	require.Equal(t, root, s.Call("GET", publicQueue(event)+"/draw", nil).Is(200, "").Str("statement.root"), "after the end")
}

// checkPlace finds the place of a receipt, from 1, with our verifier and Python's.
func checkPlace(t *testing.T, doc, proof nodetest.Answer, receipt string, chain *draw.Chain, place string) {
	t.Helper()
	var published draw.Published
	var in draw.Inclusion
	files := []string{readInto(t, doc, &published), readInto(t, proof, &in)}
	seen, err := witness.Check(published.Witness, published.Statement.Digest(), nil)
	require.NoError(t, err)
	require.Equal(t, "CN="+witnesstest.Name, seen.Name)
	verified, err := published.Verify(chain)
	require.NoError(t, err)
	r, err := draw.ParseReceipt(receipt)
	require.NoError(t, err)
	from0, err := verified.PlaceOf(&r, ed25519.PublicKey(published.Signer), in.Index, in.Proof)
	require.NoError(t, err)
	require.Equal(t, place, fmt.Sprint(from0+1))
	out, err := exec.CommandContext(t.Context(), "python3", "../../../../docs/verify_draw.py", files[0], "--receipt", receipt, "--proof", files[1]).Output()
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintln(from0), string(out))
}

// readInto decodes an answer's data, and returns a file with the answer.
func readInto(t *testing.T, a nodetest.Answer, to any) string {
	t.Helper()
	data, err := json.Marshal(a.Body["data"])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, to))
	text, err := json.Marshal(a.Body)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "answer.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// TestMostRoomsOfAnOrganization refuses a room beyond those that an organization may have, and says so.
func TestMostRoomsOfAnOrganization(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, _ := s.OnSale(nodetest.TypeBody(0, 10))
	org, err := strconv.ParseInt(s.Org(), 10, 64)
	require.NoError(t, err)
	for other := range int64(rooms.MaxPerOrg) {
		require.NoError(t, rooms.New(s.Pool()).Open(t.Context(), org, 1_000_000+other))
	}
	open := nodetest.Object{"enabled": true, "mode": "arrival"}
	s.Own("PUT", organizerQueue(event), open).Refused(413, "QUOTA_EXCEEDED", nodetest.Object{"quota": rooms.MaxPerOrg, "used": rooms.MaxPerOrg})
	s.Call("GET", publicQueue(event), nil).Is(200, "")
	_, err = s.Pool().Exec(t.Context(), `UPDATE rooms SET active = false WHERE event = 1000000`)
	require.NoError(t, err)
	s.Own("PUT", organizerQueue(event), open).Is(200, "")
}

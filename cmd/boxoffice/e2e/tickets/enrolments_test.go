package tickets

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// gatesOf is where an organization's gates are.
func gatesOf(s *nodetest.Shop) string { return "/organizer/integrations/org/" + s.Org() + "/gates" }

func enrolment(s *nodetest.Shop, changes nodetest.Object, events ...string) nodetest.Answer {
	return s.Own("POST", gatesOf(s)+"/enrolments", nodetest.With(nodetest.Object{"events": events, "gateName": "North"}, changes))
}

func exchange(s *nodetest.Shop, code string) nodetest.Answer {
	return s.Call("POST", "/gates/enrol", nodetest.Object{"code": code})
}

// A desk shows a code, a device exchanges it once, and the desk sees and ends the gate.
func TestEnrolment(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, types := s.OnSale(nodetest.TypeBody(0, 10))
	path := gatesOf(s)

	t.Log("what is asked for")
	for _, f := range []field{
		{"events", []string{}, "", "min_items"},
		{"events", slices.Repeat([]string{event}, 21), "", "max_items"},
		{"gateName", nodetest.Absent, "", "required"},
		{"gateName", nodetest.Text(101), "", "max_length"},
		{"expiresAt", nodetest.Stamp(-time.Second), "", "minimum"},
	} {
		enrolment(s, nodetest.Object{f.name: f.value}, event).Invalid(f.name, f.code)
	}
	other := s.Register(s.Email("bob"))
	theirs := other.Own("POST", "/organizer/events", nodetest.EventBody()).Is(201, "").Str("id")
	enrolment(s, nil, event, theirs).Is(404, "EVENT_NOT_FOUND")
	enrolment(s, nil, uuid.NewString()).Is(404, "EVENT_NOT_FOUND")

	t.Log("a code is shown once, and its hash alone is kept")
	made := enrolment(s, nil, event, event).Is(201, "")
	at := path + "/enrolments/" + made.Str("id")
	require.Equal(t, "open", s.Own("GET", at, nil).Is(200, "").Str("status"))
	require.NotContains(t, nodetest.Encode(t, s.Own("GET", at, nil).Body), made.Str("code"))
	other.Own("GET", at, nil).Is(404, "NOT_FOUND")
	other.Own("GET", gatesOf(other)+"/enrolments/"+made.Str("id"), nil).Is(404, "NOT_FOUND")
	var found int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM gate_enrolments e WHERE to_jsonb(e)::text LIKE '%' || $1 || '%'`, made.Str("code")).Scan(&found))
	require.Zero(t, found)

	t.Log("of several devices that send it at once, one gets a key")
	var keys sync.Map
	var refused atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			switch a := exchange(s, made.Str("code")); a.Status {
			case 201:
				keys.Store(a.Str("key"), a)
			case 409:
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 3, refused.Load())
	var device nodetest.Answer
	keys.Range(func(_, a any) bool {
		device, _ = a.(nodetest.Answer)
		return false
	})
	exchange(s, made.Str("code")).Refused(409, "CONFLICT", nodetest.Object{"reason": "CODE_USED"})
	exchange(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ").Is(404, "NOT_FOUND")
	late := enrolment(s, nil, event).Is(201, "")
	_, err := s.Pool().Exec(t.Context(), `UPDATE gate_enrolments SET ends_at = now() WHERE id = $1`, late.Str("id"))
	require.NoError(t, err)
	exchange(s, late.Str("code")).Refused(409, "CONFLICT", nodetest.Object{"reason": "CODE_OVER"})
	require.Equal(t, "over", s.Own("GET", path+"/enrolments/"+late.Str("id"), nil).Str("status"))

	t.Log("what it scans counts for its gate, whatever it says")
	require.Equal(t, "North", device.Str("gateName"))
	require.Len(t, device.Data("events"), 1)
	gate := s.As(device.Str("key"))
	ticket := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", types[0], 1)).Is(201, "").Str("tickets.0.qr")
	scan := gate.Own("POST", "/checkin/scan", nodetest.Object{"eventId": event, "qrData": ticket, "gateName": "Elsewhere", "deviceId": "d"})
	require.Equal(t, "success", scan.Is(200, "").Str("status"))
	require.Equal(t, "North", gate.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "").Str("gates.0.gate"))

	t.Log("the desk sees the gate and ends it")
	used := s.Own("GET", at, nil)
	require.Equal(t, "used", used.Str("status"))
	listed := s.Own("GET", path, nil).Is(200, "")
	require.Len(t, listed.Data("items"), 1)
	require.Equal(t, used.Str("keyId"), listed.Str("items.0.keyId"))
	require.Equal(t, "active", listed.Str("items.0.status"))
	s.Own("DELETE", s.Keys()+"/"+used.Str("keyId"), nil).Is(200, "")
	gate.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(401, "UNAUTHORIZED")
	require.Equal(t, "revoked", s.Own("GET", path, nil).Str("items.0.status"))
}

// An organization has so many codes that wait, and those that are used or over count no more.
func TestTooManyEnrolments(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event := s.Own("POST", "/organizer/events", nodetest.EventBody()).Is(201, "").Str("id")
	var last nodetest.Answer
	for range 100 {
		last = enrolment(s, nil, event).Is(201, "")
	}
	enrolment(s, nil, event).Is(409, "CONFLICT")
	exchange(s, last.Str("code")).Is(201, "")
	enrolment(s, nil, event).Is(201, "")
}

// A gate's key gets nothing but the check-in rows of its events, whatever row of the table it calls.
func TestGateKeyIsBound(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, _ := s.OnSale(nodetest.TypeBody(0, 10))
	elsewhere, _ := s.OnSale(nodetest.TypeBody(0, 10))
	gate := s.As(exchange(s, enrolment(s, nodetest.Object{"guests": true}, event).Is(201, "").Str("code")).Is(201, "").Str("key"))
	root := *gate // for what is not under /api/v1
	root.URL = strings.TrimSuffix(gate.URL, "/api/v1")
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	bodies := map[string]func(event string) any{
		"scanTicket":      func(event string) any { return nodetest.Object{"eventId": event, "qrData": "ABCDEF"} },
		"checkInManually": func(string) any { return nodetest.Object{"ticketCode": "ABCDEF"} },
		"undoCheckIn":     func(string) any { return nodetest.Object{"ticketCode": "ABCDEF"} },
		"scanBatch": func(event string) any {
			return nodetest.Object{"eventId": event, "scans": []nodetest.Object{{"qrData": "ABCDEF", "scannedAt": nodetest.Stamp(0)}}}
		},
	}
	var may []string
	for _, op := range s.Areas().Routes() {
		call := func(event string) nodetest.Answer {
			path := parameter.ReplaceAllString(strings.ReplaceAll(strings.TrimPrefix(op.Path, "/api/v1"), "{id}", event), event)
			var body any
			if make := bodies[op.ID]; make != nil {
				body = make(event)
			} else if op.Writes() && op.Handler.HasBody() {
				body = nodetest.Object{}
			}
			if !strings.HasPrefix(op.Path, "/api/v1") {
				return root.Own(op.Method, path, body)
			}
			return gate.Own(op.Method, path, body)
		}
		if !op.AtGates {
			a := call(event)
			if a.Status == 404 { // a part of the path takes no such text
				a = call("1")
			}
			require.Equal(t, 403, a.Status, "%s %s", op.Method, op.Path)
			continue
		}
		may = append(may, op.ID)
		for _, id := range []string{elsewhere, strconv.FormatInt(nodetest.Number(t, elsewhere), 10), uuid.NewString(), "x"} {
			a := call(id)
			require.Equal(t, 404, a.Status, "%s of another event", op.ID)
			require.Equal(t, "EVENT_NOT_FOUND", a.Get("error.code"), op.ID)
		}
		if !op.Streams() {
			a := call(event)
			require.True(t, a.Status < 300 || a.Get("error.code") == "TICKET_NOT_FOUND", "%s of its own event: %d %v", op.ID, a.Status, a.Body)
		}
	}
	require.ElementsMatch(t, nodetest.Words("scanTicket checkInManually getManifest scanBatch undoCheckIn getGate getGateStats watchGates openLiveToken listAttendees"), may)

	t.Log("without the permission it searches no guests")
	plain := s.As(exchange(s, enrolment(s, nil, event).Is(201, "").Str("code")).Is(201, "").Str("key"))
	plain.Own("GET", "/organizer/events/"+event+"/attendees", nil).Is(403, "FORBIDDEN")
	plain.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")
}

package tickets

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// exits is an event that counts who is inside, with the order whose tickets are shown.
type exits struct {
	*nodetest.Shop
	event string
	order nodetest.Answer
}

func openExits(t *testing.T, changes nodetest.Object) *exits {
	t.Helper()
	s := nodetest.Shared(t)
	event, order := s.FreeTickets(changes, 10)
	return &exits{s, event, order}
}

// pass shows a ticket at a gate, on the way in or out, by a device of its own.
func (e *exits) pass(ticket int, gate, direction string) nodetest.Answer {
	e.T.Helper()
	body := nodetest.Object{"eventId": e.event, "qrData": e.order.Str(fmt.Sprintf("tickets.%d.qr", ticket)), "gateName": gate}
	if direction != "" {
		body["direction"] = direction
	}
	return e.Own("POST", "/checkin/scan", body).Is(200, "")
}

func (e *exits) stats() nodetest.Answer {
	e.T.Helper()
	return e.Own("GET", "/checkin/event/"+e.event+"/stats", nil).Is(200, "")
}

// counted returns inside, in and out of an event or a gate.
func counted(a nodetest.Answer, at string) string {
	return fmt.Sprint(a.Data(at+"inside"), " ", a.Data(at+"in"), " ", a.Data(at+"out"))
}

// TestExits has people go out and come in again, and counts who is inside.
func TestExits(t *testing.T) {
	t.Parallel()
	e := openExits(t, nodetest.Object{"exits": true})
	require.Equal(t, "denied_not_inside", e.pass(0, "North", "out").Str("status"))
	first := e.pass(0, "North", "")
	require.Equal(t, "success", first.Str("status"))
	require.Nil(t, first.Data("leftAt"))
	inside := e.pass(0, "South", "in")
	require.Equal(t, "denied_duplicate The ticket's holder is already inside. North "+first.Str("checkedInAt"),
		fmt.Sprint(inside.Str("status"), " ", inside.Str("deniedReason"), " ", inside.Str("firstGate"), " ", inside.Str("checkedInAt")))
	out := e.pass(0, "South", "out")
	require.Equal(t, "success", out.Str("status"))
	require.NotNil(t, out.Data("leftAt"))
	require.Nil(t, out.Data("checkedInAt"))
	twice := e.pass(0, "East", "out")
	require.Equal(t, "denied_not_inside South "+out.Str("leftAt"), fmt.Sprint(twice.Str("status"), " ", twice.Str("firstGate"), " ", twice.Str("leftAt")))
	again := e.pass(0, "South", "in")
	require.Equal(t, "success", again.Str("status"))
	require.Equal(t, "success", e.pass(1, "North", "in").Str("status"))

	stats := e.stats()
	require.Equal(t, "2 3 1", counted(stats, ""))
	require.Equal(t, "2 7 3", fmt.Sprint(stats.Data("checkedIn"), " ", stats.Data("scanned"), " ", stats.Data("denied")))
	south := e.Own("GET", "/checkin/event/"+e.event+"/gate/south", nil).Is(200, "")
	require.Equal(t, "<nil> 1 1", counted(south, ""))
	require.EqualValues(t, 1, south.Data("denied"))

	t.Log("an event tells the world of each admission once")
	undo := func() string {
		return e.Own("POST", "/checkin/event/"+e.event+"/undo", nodetest.Object{"ticketCode": e.order.Str("tickets.0.code")}).Is(200, "").Str("status")
	}
	require.Equal(t, "checked_in", undo())
	require.Equal(t, "1 2 1", counted(e.stats(), ""))
	require.Equal(t, "checked_in", undo())
	require.Equal(t, "issued", undo())
	require.Equal(t, "1 1 0", counted(e.stats(), ""))
	e.Own("POST", "/checkin/scan", nodetest.Object{"eventId": e.event, "qrData": "222222", "direction": "up"}).Invalid("direction", "enum")
}

// TestExitsOff has an event that counts no exits: nothing of them is to be seen, and nobody goes out.
func TestExitsOff(t *testing.T) {
	t.Parallel()
	e := openExits(t, nil)
	require.Equal(t, "success", e.pass(0, "North", "").Str("status"))
	out := e.pass(0, "North", "out")
	require.Equal(t, "denied_not_inside EXITS_OFF", out.Str("status")+" "+out.Str("deniedReason"))
	require.Equal(t, "The ticket was already used.", e.pass(0, "North", "in").Str("deniedReason"))
	require.Equal(t, nodetest.Words("eventId ticketsIssued checkedIn scanned denied remaining capacityPercent entryRatePerMinute gates"), e.stats().Keys(""))
	require.Equal(t, nodetest.Words("gate scanned admitted denied"), e.stats().Keys("gates.0"))
}

// TestInsideAlarm warns of a full house at 90 and at 100 percent, and lets people in all the same.
func TestInsideAlarm(t *testing.T) {
	t.Parallel()
	e := openExits(t, nodetest.Object{"exits": true, "insideLimit": 10})
	e.Own("PUT", "/organizer/events/"+e.event, nodetest.Object{"insideLimit": 2}).Is(200, "")
	require.Nil(t, e.stats().Data("insideAlarm"))
	e.pass(0, "North", "in")
	require.Nil(t, e.stats().Data("insideAlarm"))
	e.pass(1, "North", "in")
	require.EqualValues(t, 100, e.stats().Data("insideAlarm"))
	require.Equal(t, "success", e.pass(2, "North", "in").Str("status"))
	require.EqualValues(t, 2, e.stats().Data("insideLimit"))
	e.pass(2, "North", "out")
	e.pass(1, "North", "out")
	require.Nil(t, e.stats().Data("insideAlarm"))
	e.Own("PUT", "/organizer/events/"+e.event, nodetest.Object{"insideLimit": nil, "exits": false}).Is(200, "")
	require.Nil(t, e.stats().Data("inside"))
}

// TestExitsOffline has two devices tell of what they saw without a network, in either order.
func TestExitsOffline(t *testing.T) {
	t.Parallel()
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		e := openExits(t, nodetest.Object{"exits": true, "startDate": nodetest.Stamp(time.Hour), "endDate": nodetest.Stamp(5000 * time.Hour)})
		began := time.Now().Add(-time.Minute)
		kept := func(device string, after time.Duration, direction string) nodetest.Object {
			return nodetest.Object{
				"ticketCode": e.order.Str("tickets.0.code"), "scannedAt": began.Add(after).UTC().Format(time.RFC3339Nano), "gateName": device, "deviceId": device, "direction": direction,
			}
		}
		devices := [][]nodetest.Object{
			{kept("North", 0, "in"), kept("North", 20*time.Second, "in")},
			{kept("East", 10*time.Second, "out"), kept("East", 40*time.Second, "in"), kept("East", 50*time.Second, "out")},
		}
		var said []string
		for _, d := range order {
			a := e.Own("POST", "/checkin/batch", nodetest.Object{"eventId": e.event, "scans": devices[d]}).Is(200, "")
			for i := range devices[d] {
				said = append(said, strings.TrimPrefix(a.Str(fmt.Sprintf("results.%d.status", i)), "denied_"))
			}
			again := e.Own("POST", "/checkin/batch", nodetest.Object{"eventId": e.event, "scans": devices[d]}).Is(200, "")
			require.Equal(t, a.Data("results.0.status"), again.Data("results.0.status"))
		}
		require.Equal(t, map[int]string{0: "success duplicate success duplicate success", 1: "not_inside success success success duplicate"}[order[0]], strings.Join(said, " "))
		stats := e.stats()
		require.Equal(t, "0 2 2", counted(stats, ""), "%v", order)
		require.Equal(t, "5 1", fmt.Sprint(stats.Data("scanned"), " ", stats.Data("denied")))
	}
}

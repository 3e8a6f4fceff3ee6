package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/quota"
)

// padded sends a body with as many blanks as make it a number of megabytes larger.
func padded(s *nodetest.Shop, method, path string, body nodetest.Object, megabytes int) nodetest.Reply {
	s.T.Helper()
	return s.Raw(method, path, "application/json", nodetest.Encode(s.T, body)+strings.Repeat(" ", megabytes<<20), s.Bearer()...)
}

// TestQuotaOfBytes: an organization that nobody has proven writes its quota of a day and no more, by
// whatever row; buyers, doors and other organizations don't notice; and a restart forgets nothing.
func TestQuotaOfBytes(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 1 })
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	fresh := s.Register("fresh@example.org")
	event, ids := fresh.OnSale(nodetest.TypeBody(0, 10))
	edit := func() int {
		return padded(fresh, "PUT", "/organizer/events/"+event, nodetest.Object{"title": "Saturday"}, 7).Status
	}
	times := 0
	for edit() == 200 {
		times++
	}
	require.Equal(t, 3, times, "three times twice 7 of 50 megabytes")
	fresh.Own("PUT", "/organizer/events/"+event, nodetest.Object{"title": "Sunday"}).Is(200, "") // there is room for a little

	require.Equal(t, 413, padded(fresh, "POST", "/organizer/events", nodetest.EventBody(), 7).Status)
	a := fresh.Upload("/media/upload-file", nodetest.Upload{Name: "a.txt", Type: "text/plain", Body: []byte(strings.Repeat("word ", 3<<20))}, fresh.Bearer()...)
	a.Is(413, "QUOTA_EXCEEDED")
	require.InDelta(t, quota.Unproven, a.Get("error.details.quota"), 0)
	require.Greater(t, a.Get("error.details.used"), 42.*(1<<20))
	resets, err := time.Parse(time.RFC3339, a.Get("error.details.resetsAt").(string))
	require.NoError(t, err)
	require.WithinRange(t, resets, time.Now(), time.Now().Add(24*time.Hour))

	o := s.Call("POST", "/orders", nodetest.OrderBody("ann@example.org", ids[0], 1)).Is(201, "")
	fresh.Own("POST", "/checkin/event/"+event+"/manual", nodetest.Object{"ticketCode": o.Str("tickets.0.code"), "gateName": "North", "deviceId": "one"}).Is(200, "")
	s.Draft(nil)

	s.Restart()
	require.Equal(t, 413, edit(), "after a restart")
	s.Prove("fresh@example.org")
	require.Equal(t, 200, edit(), "once the mailbox is proven")
}

// TestTextChanges: what has long texts is changed 30 times a minute, by whatever name and whoever asks.
func TestTextChanges(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 0.1 }) // 3 changes a minute, 60 requests
	event := s.Draft(nil)
	number := s.Own("GET", "/organizer/events/"+event, nil).Is(200, "").Str("numericId")
	path := "/organizer/events/" + event
	kind := s.Own("POST", path+"/tickets", nodetest.TypeBody(0, 10)).Is(201, "").Str("id")
	section := s.Own("POST", path+"/sections", nodetest.Object{"name": "Floor", "capacity": 10}).Is(201, "").Str("id")
	for _, c := range []struct {
		paths []string
		field string
	}{
		{[]string{path, "/organizer/events/" + number}, "title"},
		{[]string{path + "/tickets/" + kind}, "name"},
		{[]string{path + "/sections/" + section}, "name"},
		{[]string{"/organizer/event-customization/" + event}, "tagline"},
	} {
		limited := nodetest.Answer{}
		for i := range 10 {
			limited = s.Own("PUT", c.paths[i%len(c.paths)], nodetest.Object{c.field: fmt.Sprint("Change ", i)})
			if limited.Status != 200 {
				require.GreaterOrEqual(t, i, 3, c.paths[0])
				break
			}
		}
		limited.Is(429, "VELOCITY_LIMIT_EXCEEDED")
		require.Equal(t, "text_changes", limited.Get("error.details.rule"))
	}
	s.Own("PUT", "/organizer/events/"+s.Draft(nil), nodetest.Object{"title": "Another"}).Is(200, "")
}

// TestDraftQuota: an organization has so many drafts, and room again when one is published.
func TestDraftQuota(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event := s.Draft(nil)
	s.Own("POST", "/organizer/events/"+event+"/tickets", nodetest.TypeBody(0, 10)).Is(201, "")
	for range 19 {
		s.Draft(nil)
	}
	s.Config().LimitsScale = 0.02 // 20 drafts
	s.Restart()
	a := s.Own("POST", "/organizer/events", nodetest.EventBody()).Is(413, "QUOTA_EXCEEDED")
	require.Equal(t, nodetest.Object{"quota": 20., "used": 20.}, a.Get("error.details"))
	s.Register("second@example.org").Draft(nil)
	s.Own("POST", "/organizer/events/"+event+"/publish", nil).Is(200, "")
	require.Eventually(t, func() bool {
		var drafts int
		require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM events WHERE status = 'draft'`).Scan(&drafts))
		return drafts == 20 // of both organizations
	}, time.Minute, 10*time.Millisecond)
	s.Draft(nil)
}

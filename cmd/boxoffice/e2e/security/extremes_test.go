package security

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
	"boxoffice/loadtest/extremes"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
)

// batch is how many cases one check of rapid draws; -rapid.checks says how many
// checks there are.
const batch = 10

var everyExtreme = flag.Bool("extremes", false, "send every extreme once, before some are drawn")

// siege sends extremes to a world's node.
type siege struct {
	*world
	ops      map[string]route.Op
	requests map[string]*besieged
	seen     map[int]int // answers by status
	taken    int         // values that the event below has had

	// An event on sale of its own has the extremes, so that the orders which the
	// other requests are about go on being taken.
	event, slug, ticketType string
}

// besieged is an operation with a valid request of it.
type besieged struct {
	valid   extremes.Request
	headers []string
	renewed int
}

// TestExtremes sends the extremes of every field of every row, which it takes
// from the document that the node serves, to a live node. Nothing may be
// answered with a 5xx, what must be refused may leave nothing behind, and after
// all of it the lists answer, every fact can be told, every follower is at the
// head and tickets are sold.
func TestExtremes(t *testing.T) {
	t.Parallel()
	w := openWorld(t)
	s := &siege{world: w, ops: map[string]route.Op{}, requests: map[string]*besieged{}, seen: map[int]int{}}
	event, types := w.OnSale(nodetest.TypeBody(5, -1))
	s.event, s.ticketType, s.slug = event, types[0], w.Own("GET", "/events/"+event, nil).Is(200, "").Str("slug")
	for _, op := range w.Areas().Routes() {
		s.ops[op.ID] = op
	}
	a, err := extremes.Read([]byte(w.Raw("GET", "/openapi.json", "", "").Body))
	require.NoError(t, err)
	require.Len(t, a.Operations, len(s.ops), "every row is in the document")
	cases := slices.DeleteFunc(a.Cases(), s.leavesAlone)
	wrong := slices.DeleteFunc(slices.Clone(cases), func(c extremes.Case) bool { return !c.Value.Refused })
	for _, op := range a.Operations {
		s.renew(op)
	}

	before := w.rest()
	s.sendAll(wrong, s.refuse)
	rapid.Check(t, func(rt *rapid.T) {
		for range batch {
			c := rapid.SampledFrom(wrong).Draw(rt, "refused")
			require.Empty(rt, s.refuse(&c))
		}
	})
	require.Empty(t, difference(before, w.still()), "what was refused has left something behind")

	edges := atTheEdge(cases)
	require.NotEmpty(t, edges)
	s.sendAll(edges, s.tryOnSale)
	s.sendAll(cases, s.try)
	rapid.Check(t, func(rt *rapid.T) {
		for range batch {
			c := rapid.SampledFrom(cases).Draw(rt, "any")
			require.Empty(rt, s.try(&c))
		}
		for range batch / 4 {
			c := rapid.SampledFrom(edges).Draw(rt, "edge")
			require.Empty(rt, s.tryOnSale(&c))
		}
	})
	s.holds()
	t.Logf("%d rows, %d fields, %d values of which %d must be refused; %d taken by the event on sale; answers by status: %v", len(a.Operations), a.CountFields(), len(cases), len(wrong), s.taken, s.seen)
}

// leavesAlone are the cases that would end the node, or the test's waiting: a
// drain in order, and a stream that opens.
func (s *siege) leavesAlone(c extremes.Case) bool {
	op := s.ops[c.Operation.ID]
	return op.ID == "drainNode" || op.Streams() && !c.Value.Refused
}

// atTheEdge are the values that an event or a ticket type may have.
func atTheEdge(cases []extremes.Case) []extremes.Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c extremes.Case) bool {
		return c.Operation.ID != "updateEvent" && c.Operation.ID != "updateTicketType" || c.Field.In != extremes.InBody || c.Value.Refused
	})
}

// renew makes a valid request of an operation.
func (s *siege) renew(op *extremes.Operation) {
	s.T.Helper()
	row, ok := s.ops[op.ID]
	require.True(s.T, ok, "%s is no row", op.ID)
	if row.ID == "drainNode" {
		return
	}
	s.clearDrafts()
	r := s.request(&row)
	query, err := url.ParseQuery(r.query)
	require.NoError(s.T, err)
	b := s.requests[op.ID]
	if b == nil {
		b = &besieged{renewed: -1}
		s.requests[op.ID] = b
	}
	b.renewed++
	b.valid, b.headers = extremes.Request{Params: r.params, Query: query}, r.headers
	b.valid.Body = r.raw
	if r.body != nil {
		b.valid.Body = nodetest.Encode(s.T, r.body)
	}
	if r.token != "" {
		query.Set("token", r.token)
	}
	if by := s.entitled(&row, r)[0].auth; by != "" {
		b.headers = append(b.headers, "Authorization", by)
	}
}

// clearDrafts deletes the drafts of halls that the extremes have made once there are many, because an
// organization has up to 100. A request about one of them is renewed by then.
func (s *siege) clearDrafts() {
	s.T.Helper()
	const sweep = `DELETE FROM venue_maps m WHERE NOT EXISTS (SELECT FROM venue_map_versions v WHERE v.map = m.id)
		AND (SELECT count(*) FROM venue_maps o WHERE o.org = m.org) > 80`
	_, err := s.Pool().Exec(s.T.Context(), sweep)
	require.NoError(s.T, err)
}

// sendAll sends every case, if that is asked for.
func (s *siege) sendAll(cases []extremes.Case, send func(*extremes.Case) string) {
	s.T.Helper()
	if !*everyExtreme {
		return
	}
	var faults []string
	for i := range cases {
		if fault := send(&cases[i]); fault != "" {
			faults = append(faults, fault)
		}
	}
	require.Empty(s.T, faults, "%d faults", len(faults))
}

// refuse sends what must be refused, and says what is wrong with the answer.
func (s *siege) refuse(c *extremes.Case) (fault string) {
	r, fault := s.send(c, c.Apply(s.requests[c.Operation.ID].valid))
	if fault == "" && (r.Status < 400 || r.Status == 409) {
		return fmt.Sprintf("%s was not refused: %d %.300s", c, r.Status, r.Body)
	}
	return fault
}

// try sends what may be taken or not.
func (s *siege) try(c *extremes.Case) (fault string) {
	b := s.requests[c.Operation.ID]
	r, fault := s.send(c, c.Apply(b.valid))
	if b.renewed < 3 && (r.Status == 404 || r.Status == 409 || r.Status == 401) && c.Field.In != extremes.InPath {
		s.renew(c.Operation) // it was used up
	}
	return fault
}

// tryOnSale gives an event on sale, which everybody sees, a value that it may have,
// and reads its page.
func (s *siege) tryOnSale(c *extremes.Case) (fault string) {
	request := s.requests[c.Operation.ID].valid
	request.Params = map[string]string{"id": s.event, "ticketTypeId": s.ticketType}
	request.Body = "{}"
	r, fault := s.send(c, c.Apply(request))
	if fault != "" || r.Status != 200 {
		return fault
	}
	s.taken++
	for _, page := range []string{"/events/" + s.slug, "/events/" + s.event + "/tickets", "/events"} {
		if r := s.Raw("GET", page, "", "", s.Bearer()...); r.Status != 200 {
			return fmt.Sprintf("after %s, GET %s: %d %.300s", c, page, r.Status, r.Body)
		}
	}
	return ""
}

// send sends a case, and judges its answer.
func (s *siege) send(c *extremes.Case, request extremes.Request) (r nodetest.Reply, fault string) {
	headers := slices.Clone(s.requests[c.Operation.ID].headers)
	for name, value := range request.Header {
		headers = append(headers, name, value)
	}
	contentType := ""
	if c.Operation.HasBody {
		contentType = "application/json"
	}
	path := strings.TrimPrefix(request.Target(c.Operation), "/api/v1")
	r = s.Raw(c.Operation.Method, path, contentType, request.Body, headers...)
	s.seen[r.Status]++
	if r.Status == 304 || r.Status == 204 || r.Status == 200 && s.ops[c.Operation.ID].Handler.Types() != nil { // a file is no envelope
		return r, ""
	}
	var body struct {
		Data  json.RawMessage
		Error *struct{ Code string }
	}
	switch err := json.Unmarshal([]byte(r.Body), &body); {
	case err != nil:
		fault = "is no envelope"
	case r.Status >= 400 != (body.Error != nil):
		fault = "contradicts itself"
	case r.Status >= 500 && body.Error.Code != "PROVIDER_NOT_CONFIGURED":
		fault = "blames the service"
	default:
		return r, ""
	}
	return r, fmt.Sprintf("%s, %s %.200s %.300q: the answer %s: %d %.300s", c, c.Operation.Method, path, request.Body, fault, r.Status, r.Body)
}

// holds checks that the node is none the worse.
func (s *siege) holds() {
	s.T.Helper()
	s.still()
	require.Eventually(s.T, func() bool {
		positions, err := follower.Positions(s.T.Context(), s.Pool(), journal.NewReader(s.JournalPools()...))
		require.NoError(s.T, err)
		return !slices.ContainsFunc(positions, func(p follower.Position) bool { return p.Head > p.Batch })
	}, 30*time.Second, 50*time.Millisecond, "a follower is not at the head")
	for _, list := range []string{"/events", "/events?date_from=1970-01-01&date_to=9999-12-31", "/organizer/events?orgId=" + s.orgID, "/organizer/venues?orgId=" + s.orgID, nodetest.FactsPath + "?orgId=" + s.orgID, "/webhooks?orgId=" + s.orgID} {
		s.pages(list)
	}
	for _, e := range s.pages("/organizer/events?orgId=" + s.orgID) {
		slug := e["slug"].(string)
		s.Own("GET", "/events/"+slug, nil).Is(200, "")
		s.Own("GET", "/events/"+e["id"].(string)+"/tickets", nil).Is(200, "")
	}
	event, types := s.OnSale(nodetest.TypeBody(0, 10))
	s.Place(s.email(), types[0], 1)
	s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")
}

// pages reads a list to its end.
func (s *siege) pages(list string) []map[string]any {
	s.T.Helper()
	var all []map[string]any
	join, cursor := "?", ""
	if strings.Contains(list, "?") {
		join = "&"
	}
	name := "cursor"
	if strings.HasPrefix(list, nodetest.FactsPath) {
		name = "after"
	}
	for range 1_000 {
		page := list + join + "limit=100"
		if cursor != "" {
			page += "&" + name + "=" + url.QueryEscape(cursor)
		}
		a := s.Own("GET", page, nil).Is(200, "")
		items, _ := a.Data("items").([]any)
		for _, item := range items {
			all = append(all, item.(map[string]any))
		}
		next := fmt.Sprint(a.Data("nextCursor"))
		if len(items) < 100 || next == "<nil>" {
			return all
		}
		cursor = next
	}
	require.Fail(s.T, "the list has no end", list)
	return nil
}

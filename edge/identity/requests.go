package identity

import (
	"math"
	"strconv"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/persistence/requestlog"
)

// listRequests shows what the organization's programs have sent, the newest first. Several requests can have the
// same time, so a cursor is a time and a number.
func (h *Handlers) listRequests(c *route.Call, in *api.ListRequests) (*api.List[api.LoggedRequest], error) {
	f, err := h.readRequestFilter(c, in)
	if err != nil {
		return nil, err
	}
	entries, err := h.Requests.List(c.Context, f)
	if err != nil {
		return nil, err
	}
	return api.PageOf(len(entries), in.Limit, func(i int) api.LoggedRequest { return requestView(&entries[i]) }, func(last int) *string {
		place := entries[last].Place()
		return cursors.Of(place.At, place.Number)
	}), nil
}

// readRequestFilter reads from the query which requests to list. It asks for one entry more than a
// page has: that entry tells whether there is a next page.
func (h *Handlers) readRequestFilter(c *route.Call, in *api.ListRequests) (f requestlog.Filter, err error) {
	f = requestlog.Filter{Route: in.Route, From: in.From, To: in.To, Limit: in.Limit + 1}
	if f.Org, err = route.FindOrganization(c, in.OrgID); err != nil {
		return f, err
	}
	if in.KeyID != "" {
		if _, f.Key, err = h.ownKey(c, in.OrgID, in.KeyID); err != nil {
			return f, err
		}
		// A key of another organization is refused here, so that an empty list does not look like
		// an unused key.
		k, err := h.APIKeys.Get(c.Context, f.Org, f.Key)
		if err != nil {
			return f, err
		}
		if k == nil {
			return f, noKey
		}
	}
	var ok bool
	if f.StatusFrom, f.StatusTo, ok = readStatus(in.Status); !ok {
		return f, route.Invalid(route.Issue{Path: "status", Code: route.IssueFormat, Message: "must be a status such as 404, or a class such as 4xx"})
	}
	if !in.From.IsZero() && !in.To.IsZero() && in.To.Before(in.From) {
		return f, route.Invalid(route.Issue{Path: "to", Code: route.IssueMinimum, Message: "must not be before from"})
	}
	// A cursor has microseconds and the entry's number. The two limits refuse forged cursors that the table's
	// columns cannot hold.
	cursor, err := cursors.Read(in.Cursor, cursors.LastMoment*1000, math.MaxInt64)
	if cursor != nil {
		f.Before = &requestlog.Place{At: cursor[0], Number: cursor[1]}
	}
	return f, err
}

// readStatus reads a status such as 404, or a class such as 4xx, as an inclusive range. An empty
// text means all and gives two zeros.
func readStatus(text string) (from, to int, ok bool) {
	if text == "" {
		return 0, 0, true
	}
	if len(text) == 3 && text[0] >= '1' && text[0] <= '5' && text[1:] == "xx" {
		from = int(text[0]-'0') * 100
		return from, from + 99, true
	}
	from, err := strconv.Atoi(text)
	return from, from, err == nil && from >= 100 && from <= 599
}

func requestView(e *requestlog.Entry) api.LoggedRequest {
	return api.LoggedRequest{
		RequestID: e.RequestID, KeyID: strconv.FormatInt(e.Key, 10), Method: e.Method, Route: e.Route, Status: e.Status,
		LatencyMS: milliseconds(e.Took), ClientAddress: e.Client.String(), At: e.At.UTC(), Kept: e.Kept,
	}
}

// noFailure is the answer for an id with which nothing is kept. The request succeeded, failed more than a day ago, or was
// not kept (server.failureOf); or no request had this id.
var noFailure = &engine.Refusal{Code: engine.NotFound, Message: "Nothing is kept of a failed request with this id."}

// getFailedRequest shows the headers and bodies of one failed request. Their secrets were hidden before they were
// stored.
func (h *Handlers) getFailedRequest(c *route.Call, in *api.GetFailedRequest) (*api.FailedRequest, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	failed, err := h.Requests.ReadFailure(c.Context, org, in.RequestID)
	if err != nil {
		return nil, err
	}
	if failed == nil {
		return nil, noFailure
	}
	out := &api.FailedRequest{RequestID: in.RequestID, KeyID: strconv.FormatInt(failed.Key, 10), Headers: []api.RequestHeader{}}
	for _, header := range failed.Failure.Headers {
		out.Headers = append(out.Headers, api.RequestHeader(header))
	}
	out.Request, out.Answer = (*api.KeptBody)(failed.Failure.Request), (*api.KeptBody)(failed.Failure.Answer)
	return out, nil
}

// milliseconds keeps three decimals, because many requests take less than one millisecond.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// metricIntervals are the time spans that a caller may ask for, by name. A week is as long as the log keeps
// requests, so there is no longer span.
var metricIntervals = map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour, "week": requestlog.Kept}

// getRequestMetrics counts an organization's requests by route. The figures without a route are the total of
// all.
func (h *Handlers) getRequestMetrics(c *route.Call, in *api.GetRequestMetrics) (*api.RequestMetrics, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	since := c.Now.Add(-metricIntervals[in.Interval])
	all, err := h.Requests.Summarize(c.Context, org, since)
	if err != nil {
		return nil, err
	}
	out := &api.RequestMetrics{Interval: in.Interval, From: since.UTC(), To: c.Now.UTC(), Routes: []api.RouteFigures{}}
	for i := range all {
		f := &all[i]
		if f.Route == "" {
			out.Total = figuresView(f)
			continue
		}
		out.Routes = append(out.Routes, api.RouteFigures{Method: f.Method, Route: f.Route, RequestFigures: figuresView(f)})
	}
	return out, nil
}

// figuresView shows the figures of one route or of all. Requests is above zero, because a route
// without requests has no row.
func figuresView(f *requestlog.Figures) api.RequestFigures {
	return api.RequestFigures{
		Requests: f.Requests, ClientErrors: f.ClientErrors, ServerErrors: f.ServerErrors,
		ErrorRate: float64(f.ClientErrors+f.ServerErrors) / float64(f.Requests),
		P50MS:     milliseconds(f.P50), P95MS: milliseconds(f.P95), P99MS: milliseconds(f.P99),
	}
}

package people

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/edge/webhook"
	"boxoffice/engine"
	"boxoffice/persistence/community"
	"boxoffice/persistence/publicfacts"
)

var noReport = &engine.Refusal{Code: engine.NotFound, Message: "No such report."}

// platformsOwn are the categories of reports that only the platform sees, because the organization may be the accused
// and the reporter may be in danger.
var platformsOwn = []string{"harassment", "fraud"}

// reportState holds the details of a CONFLICT: the report's present status, which does not allow what was asked.
type reportState struct {
	Status string `json:"status"`
}

// createReport files a report about an event or an organization. The reporter's address must be proven, so that
// nobody reports in another person's name. A report of the categories in platformsOwn goes to the platform
// instead of the organization.
func (h *Handlers) createReport(c *route.Call, in *api.CreateReport) (*api.Report, error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	r := &community.Report{
		ID: h.rowID(c), Reporter: c.Principal.User, Platform: slices.Contains(platformsOwn, in.Category),
		Category: in.Category, Description: in.Description, EvidenceURLs: view.List(in.EvidenceURLs),
	}
	if err := h.findSubject(c, in, r); err != nil {
		return nil, err
	}
	// The store writes the fact together with the report. reportFact leaves out the reporter.
	r, err := h.Community.AddReport(c.Context, r, func(r *community.Report) (publicfacts.Own, error) {
		return h.reportFact("report.submitted", r, r.CreatedAt)
	})
	if err != nil {
		return nil, err
	}
	return new(h.reportView(r)), nil
}

// findSubject finds the event or organization that a report is about, and sets the report's Org and
// Event. A report about an event goes to the event's organization. If the request names another
// organization as well, it is refused, because nobody can tell to which of the two it belongs.
func (h *Handlers) findSubject(c *route.Call, in *api.CreateReport, r *community.Report) error {
	if in.EventID == "" && in.OrganizationID == "" {
		return route.Invalid(route.Issue{Path: "eventId", Code: route.IssueRequired, Message: "or organizationId is required"})
	}
	if in.OrganizationID != "" {
		o, err := h.Accounts.OrganizationNamed(c.Context, in.OrganizationID)
		if err != nil {
			return err
		}
		if o == nil {
			return route.NoOrganization
		}
		r.Org = o.ID
	}
	if in.EventID == "" {
		return nil
	}
	number, known, err := h.Known.ReadID(c.Context, in.EventID)
	if err != nil {
		return err
	}
	p, err := h.Pages.Event(c.Context, number)
	if err != nil {
		return err
	}
	// An event that the caller may not see is refused, so that nobody finds out which events exist. A private event is
	// allowed by its id, which is in no list and cannot be guessed: whoever knows it got it from somebody. The number
	// of an event can be guessed, and the answer would tell the id.
	_, isNumber := route.ReadNumber(in.EventID)
	if e := &p.Event.Record; (isNumber || e.Details.Visibility != "private") && !live.Visible(c, e) {
		return &engine.Refusal{Code: engine.EventNotFound}
	}
	if r.Org != 0 && r.Org != known.Org {
		return route.Invalid(route.Issue{Path: "organizationId", Code: route.IssueEnum, Message: "must be the event's organization"})
	}
	r.Event, r.Org = &number, known.Org
	return nil
}

// listReports returns a page of the reports about an organization and its events, the newest first, without the
// reports of the categories in platformsOwn.
func (h *Handlers) listReports(c *route.Call, in *api.ListReports) (*api.List[api.HandledReport], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	before, err := readBefore(in.Cursor)
	if err != nil {
		return nil, err
	}
	list, err := h.Community.ReportsOf(c.Context, org, in.Status, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(list, in.Limit, h.handledView, func(r *community.Report) int64 { return r.Number }), nil
}

// listPlatformReports returns a page of the reports that the platform answers, the newest first:
// reports of its own categories, reports that organizations handed over, and reports that no
// organization has answered in time.
func (h *Handlers) listPlatformReports(c *route.Call, in *api.ListPlatformReports) (*api.List[api.PlatformReport], error) {
	before, err := readBefore(in.Cursor)
	if err != nil {
		return nil, err
	}
	list, err := h.Community.EscalatedReports(c.Context, in.Status, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(list, in.Limit, h.platformView, func(r *community.Report) int64 { return r.Number }), nil
}

// resolveReport closes a report on the organization's behalf. The reporter finds the answer in the
// export of their data.
func (h *Handlers) resolveReport(c *route.Call, in *api.ResolveReport) (*api.HandledReport, error) {
	r, err := h.findReport(c, in.ID)
	if err != nil {
		return nil, err
	}
	if r, err = h.closeReport(c, r, false, in); err != nil {
		return nil, err
	}
	return new(h.handledView(r)), nil
}

// escalateReport hands a report over to the platform. It refuses with CONFLICT if the report is
// already closed or already the platform's.
func (h *Handlers) escalateReport(c *route.Call, in *api.ByID) (*api.HandledReport, error) {
	r, err := h.findReport(c, in.ID)
	if err != nil {
		return nil, err
	}
	moved, err := h.Community.EscalateReport(c.Context, r.ID)
	if err != nil {
		return nil, stateRefusal(err, r.Status)
	}
	return new(h.handledView(moved)), nil
}

// resolvePlatformReport closes a report on the platform's behalf (closeReport). Only administrators reach this
// row.
func (h *Handlers) resolvePlatformReport(c *route.Call, in *api.ResolveReport) (*api.PlatformReport, error) {
	id, err := readRowID(in.ID, noReport)
	if err != nil {
		return nil, err
	}
	r, err := h.Community.Report(c.Context, id)
	if err != nil {
		return nil, notFoundAs(err, noReport)
	}
	if r, err = h.closeReport(c, r, true, in); err != nil {
		return nil, err
	}
	return new(h.platformView(r)), nil
}

// closeReport stores how a report was answered, together with the public fact about it. It refuses with CONFLICT and
// the report's status if the report is closed, or if the other side (the organization or the platform) handles it.
func (h *Handlers) closeReport(c *route.Call, r *community.Report, byPlatform bool, in *api.ResolveReport) (*community.Report, error) {
	// A dismissed report has a status of its own. Every other resolution means that somebody did
	// something about the report.
	status := community.ReportResolved
	if in.Resolution == community.ReportDismissed {
		status = community.ReportDismissed
	}
	closed, err := h.Community.CloseReport(c.Context, r.ID, byPlatform, status, in.Resolution, in.Note.Value, func(r *community.Report) (publicfacts.Own, error) {
		return h.reportFact("report.resolved", r, *r.ClosedAt)
	})
	if err != nil {
		return nil, stateRefusal(err, r.Status)
	}
	return closed, nil
}

// reportFact makes a public fact about a report, for the reported organization's endpoints. All facts about one report
// share an aggregate, so an endpoint gets them in order.
func (h *Handlers) reportFact(typ string, r *community.Report, at time.Time) (publicfacts.Own, error) {
	return webhook.NewOwnFact(typ, r.Org, "report/"+r.ID.String(), at, api.ReportData{Report: h.reportView(r)})
}

// findReport finds a report that the caller's organization may see. It answers a report of another organization, or of
// the categories in platformsOwn, as missing.
func (h *Handlers) findReport(c *route.Call, text string) (*community.Report, error) {
	id, err := readRowID(text, noReport)
	if err != nil {
		return nil, err
	}
	r, err := h.Community.Report(c.Context, id)
	if err != nil {
		return nil, notFoundAs(err, noReport)
	}
	g, ok := c.Principal.Grant(r.Org)
	if !ok || r.Platform {
		return nil, noReport
	}
	return r, route.ActFor(c, g)
}

// stateRefusal turns the store's error for a forbidden move into a refusal that names the row's
// status. It passes other errors on.
func stateRefusal(err error, status string) error {
	if errors.Is(err, community.ErrState) {
		return engine.Refuse(engine.Conflict, reportState{status})
	}
	return err
}

// reportView shows a report without its reporter and without the note, which is for those who handle the
// report.
func (h *Handlers) reportView(r *community.Report) api.Report {
	v := api.Report{
		ID: r.ID.String(), Category: r.Category, Description: r.Description, EvidenceURLs: view.List(r.EvidenceURLs),
		Subject: api.ReportSubject{OrganizationID: strconv.FormatInt(r.Org, 10)},
		Status:  r.Status, Resolution: view.Optional(r.Resolution), CreatedAt: r.CreatedAt.UTC(), ResolvedAt: view.UTC(r.ClosedAt),
	}
	if r.Event != nil {
		v.Subject.EventID = new(h.Known.PublicID(*r.Event))
	}
	return v
}

// handledView shows a report to those who handle it, with their note. It does not name the
// reporter, because the organization may be the accused.
func (h *Handlers) handledView(r *community.Report) api.HandledReport {
	return api.HandledReport{Report: h.reportView(r), Note: view.Optional(r.Note)}
}

// platformView shows a report to the platform. Only the platform sees the reporter's address.
func (h *Handlers) platformView(r *community.Report) api.PlatformReport {
	return api.PlatformReport{HandledReport: h.handledView(r), ReporterEmail: r.Email}
}

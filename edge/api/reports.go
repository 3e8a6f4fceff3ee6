package api

import (
	"time"

	"boxoffice/edge/route"
)

// CreateReport reports a problem with an event or an organization.
type CreateReport struct {
	Category       string   `json:"category" required:"true" enum:"misleading_info,did_not_happen,harassment,fraud,accessibility,other" description:"What it is about. Harassment and fraud go to the platform, and the organization is not told of them."`
	Description    string   `json:"description" required:"true" minLength:"20" maxLength:"5000" example:"The door stayed shut all evening." description:"What happened, in plain text."`
	EventID        string   `json:"eventId,omitzero" maxLength:"128" description:"The UUID or number of the event; this or organizationId is required."`
	OrganizationID string   `json:"organizationId,omitzero" maxLength:"128" description:"The organization's number, public id or slug; beside an eventId, it has to be that event's."`
	EvidenceURLs   []string `json:"evidenceUrls" maxItems:"10" format:"uri" maxLength:"2048" description:"Up to ten addresses of pictures or files, http or https, that show it."`
}

// ReportStatus restricts a list of reports to one status.
type ReportStatus struct {
	Status string `query:"status" enum:"submitted,under_review,escalated,resolved,dismissed" description:"Only reports that stand so."`
}

// ListReports asks for the reports that an organization answers, the newest first.
type ListReports struct {
	OrgID string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	ReportStatus
	Page
}

// ListPlatformReports asks for the reports that the platform answers, the newest first: the reports of its own
// categories, and the reports that organizations handed over or did not answer in time.
type ListPlatformReports struct {
	ReportStatus
	Page
}

// ResolveReport closes a report with an answer to its reporter.
type ResolveReport struct {
	ID         string            `path:"id" format:"id" maxLength:"128" description:"The report's UUID."`
	Resolution string            `json:"resolution" required:"true" minLength:"1" maxLength:"2000" example:"resolved" description:"The answer to the reporter; the word dismissed closes the report as dismissed, any other text as resolved."`
	Note       route.Opt[string] `json:"note,omitzero" maxLength:"5000" description:"A note for those who answer reports; the reporter is not shown it."`
}

// Report is a report as the person who made it sees it.
type Report struct {
	ID           string        `json:"id" description:"The report's UUID."`
	Category     string        `json:"category" enum:"misleading_info,did_not_happen,harassment,fraud,accessibility,other" description:"What it is about. Harassment and fraud go to the platform, and the organization is not told of them."`
	Description  string        `json:"description" description:"What the reporter says, in plain text."`
	Subject      ReportSubject `json:"subject" description:"What the report is about."`
	EvidenceURLs []string      `json:"evidenceUrls" description:"The addresses that the reporter gave; empty without any."`
	Status       string        `json:"status" enum:"submitted,under_review,escalated,resolved,dismissed" description:"Where it stands: escalated is the platform's, by hand or after seven days without an answer; resolved and dismissed are closed."`
	Resolution   *string       `json:"resolution" description:"The answer to the reporter, who finds it in GET /users/me/export; null until the report is closed."`
	CreatedAt    time.Time     `json:"createdAt" description:"When it was made."`
	ResolvedAt   Time          `json:"resolvedAt" description:"When it was closed; null until then."`
}

// ReportSubject says which event or organization a report is about.
type ReportSubject struct {
	EventID        *string `json:"eventId" description:"The UUID of the event; null if the report is about the organization as such."`
	OrganizationID string  `json:"organizationId" description:"The number of the organization, or of the event's."`
}

// HandledReport is a report as the organization that answers it sees it.
type HandledReport struct {
	Report
	Note *string `json:"note" description:"The note of those who closed it; null if there is none."`
}

// PlatformReport is a report as the platform sees it, with the reporter's address.
type PlatformReport struct {
	HandledReport
	ReporterEmail string `json:"reporterEmail" description:"The address of the account that made the report; the organization is not told it."`
}

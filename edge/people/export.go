package people

import (
	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

// These are the sizes of the pages in which an export of a user's data reads rows. A thread comes with all its
// messages, so a page has fewer threads than reports.
const (
	exportedReports = 50
	exportedThreads = 5
)

// ExportReports returns a page of the reports that the caller has made, and the place where the next page begins.
// place is 0 for the first page; next is 0 after the last page.
func (h *Handlers) ExportReports(c *route.Call, place int64) (views []api.Report, next int64, err error) {
	if place == 0 {
		place = firstBefore
	}
	list, err := h.Community.ReportsBy(c.Context, c.Principal.User, place, exportedReports)
	for i := range list {
		views = append(views, h.reportView(&list[i]))
	}
	if len(list) == exportedReports {
		next = list[len(list)-1].Number
	}
	return views, next, err
}

// ExportThreads returns a page of the caller's threads with organizations. place and next are as in ExportReports.
func (h *Handlers) ExportThreads(c *route.Call, place int64) (views []api.Thread, next int64, err error) {
	if place == 0 {
		place = firstBefore
	}
	list, err := h.Community.WholeThreadsOfBuyer(c.Context, c.Principal.User, place, exportedThreads)
	for i := range list {
		views = append(views, h.threadView(&list[i]))
	}
	if len(list) == exportedThreads {
		next = list[len(list)-1].Last
	}
	return views, next, err
}

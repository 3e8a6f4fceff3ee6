package people

import (
	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

// These bound how many rows an export of somebody's data reads at once. A thread comes with all its
// messages, so an export reads fewer threads than reports.
const (
	exportedReports = 50
	exportedThreads = 5
)

// ExportReports returns a page of the reports that the caller has made, and the place where the
// next page begins. The first page begins at place 0, and next is 0 behind the last page.
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

// ExportThreads returns a page of the caller's threads with organizations. Its places work as those
// in ExportReports do.
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

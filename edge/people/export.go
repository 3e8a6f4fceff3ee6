package people

import (
	"boxoffice/edge/api"
	"boxoffice/edge/route"
)

// What an export of somebody's data reads at once.
const (
	exportedReports = 50
	exportedThreads = 5
)

// ExportReports are some of the reports that the caller has made, and where the next
// ones begin: 0 behind the last. A zero place is before the first.
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

// ExportThreads are some of the caller's threads with organizations, in the way of
// ExportReports.
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

package money

import (
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
)

// mostPoints is how many intervals a series has at most, which bounds the answer for an event that was sold over
// years, by the hour. A longer series lacks its oldest intervals.
const mostPoints = 1_000

// getEventAnalytics shows one metric of an event for each interval (hour, day and the like), and
// the sum of the intervals that it shows (mostPoints). Intervals in which nothing happened are left out. Days, weeks
// and months begin at midnight in the event's time zone.
func (h *Handlers) getEventAnalytics(c *route.Call, in *api.EventAnalytics) (*api.EventSeries, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	e, err := h.Read.EventByNumber(c.Context, number)
	if err != nil {
		return nil, err
	}
	points, err := h.Read.Series(c.Context, number, in.Metric, in.Interval, e.Details.Timezone, mostPoints)
	if err != nil {
		return nil, err
	}
	v := &api.EventSeries{
		EventID: h.Known.PublicID(number), Metric: in.Metric, Interval: in.Interval, Timezone: e.Details.Timezone, Currency: e.Details.Currency,
		Points: make([]api.SeriesPoint, len(points)),
	}
	// Amounts are added in minor units, because adding decimal numbers could lose cents.
	var amount int64
	for i, p := range points {
		v.Points[i] = api.SeriesPoint{At: p.At.UTC(), Count: p.Count, Amount: view.Decimal(p.Amount, v.Currency)}
		v.Total.Count += p.Count
		amount += p.Amount
	}
	v.Total.Amount = view.Decimal(amount, v.Currency)
	return v, nil
}

// getAnalyticsSummary adds up all events of an organization. It adds money by currency and never
// across currencies.
func (h *Handlers) getAnalyticsSummary(c *route.Call, in *api.AnalyticsSummary) (*api.OrganizationSummary, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	s, err := h.Read.Summarize(c.Context, org)
	if err != nil {
		return nil, err
	}
	v := &api.OrganizationSummary{
		Events: api.EventCounts{Total: s.Events, Live: s.Live}, Orders: s.Orders, Tickets: s.Tickets, CheckedIn: s.Entered, Customers: s.Customers,
		Revenue: make([]api.RevenueSum, len(s.Sums)),
	}
	for i, sum := range s.Sums {
		v.Revenue[i] = api.RevenueSum{
			Currency: sum.Currency, Orders: sum.Orders, Gross: view.Decimal(sum.Gross, sum.Currency),
			Refunded: view.Decimal(sum.Refunded, sum.Currency), Net: view.Decimal(sum.Gross-sum.Refunded, sum.Currency),
		}
	}
	return v, nil
}

package api

import "time"

// EventAnalytics asks how much an event sold, paid back or admitted (Metric) in each interval of time.
type EventAnalytics struct {
	ID       string `path:"id" format:"id" maxLength:"128"`
	Metric   string `query:"metric" enum:"sales,orders,revenue,refunds,checkins" default:"sales" description:"sales counts tickets, orders completed orders, revenue the same less what was paid back, refunds what was paid back, checkins admissions."`
	Interval string `query:"interval" enum:"hour,day,week,month" default:"day" description:"What one point covers, on the event's clocks; a week begins on Monday."`
}

// EventSeries has the numbers of an event, one point for each interval in which there was something. It has
// only the newest 1,000 of these intervals.
type EventSeries struct {
	EventID  string        `json:"eventId" description:"The event's UUID."`
	Metric   string        `json:"metric" enum:"sales,orders,revenue,refunds,checkins" description:"What was counted."`
	Interval string        `json:"interval" enum:"hour,day,week,month" description:"What one point covers."`
	Timezone string        `json:"timezone" example:"Africa/Lagos" description:"The event's IANA time zone, on whose clocks the intervals begin."`
	Currency string        `json:"currency" example:"NGN" description:"The currency of all amounts, three letters of ISO 4217."`
	Total    SeriesTotal   `json:"total" description:"What the points come to."`
	Points   []SeriesPoint `json:"points" description:"The newest 1,000 intervals in which there was something, the oldest of them first; the others are left out."`
}

// SeriesTotal is the sum of all points of a series.
type SeriesTotal struct {
	Count  int64  `json:"count" description:"The sum of the points' counts."`
	Amount string `json:"amount" example:"125000.00" description:"The sum of their amounts, a decimal."`
}

// SeriesPoint has the numbers of one interval.
type SeriesPoint struct {
	At     time.Time `json:"at" description:"When the interval begins."`
	Count  int64     `json:"count" description:"How many tickets, orders, refunds or admissions."`
	Amount string    `json:"amount" example:"12500.00" description:"What buyers paid for them or got back, fees included, a decimal; 0.00 for admissions."`
}

// AnalyticsSummary asks what an organization has sold, over all its events and all time.
type AnalyticsSummary struct {
	OrgID string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
}

// OrganizationSummary says what an organization has sold, over all its events and all time.
type OrganizationSummary struct {
	Events    EventCounts  `json:"events" description:"How many events it has."`
	Orders    int64        `json:"orders" description:"How many orders were completed, refunded ones too."`
	Tickets   int64        `json:"tickets" description:"How many tickets were issued, whatever has become of them."`
	CheckedIn int64        `json:"checkedIn" description:"How many of the tickets are admitted."`
	Customers int64        `json:"customers" description:"How many addresses have bought or hold its tickets."`
	Revenue   []RevenueSum `json:"revenue" description:"The money of these orders, an entry for each currency."`
}

// EventCounts says how many events an organization has in all, and how many of them are live: published and
// not over.
type EventCounts struct {
	Total int64 `json:"total" description:"All events, drafts and cancelled ones too."`
	Live  int64 `json:"live" description:"Those that are published, on sale, sold out or in progress."`
}

// RevenueSum is an organization's revenue in one currency, over all its completed orders.
type RevenueSum struct {
	Currency string `json:"currency" example:"NGN" description:"Three letters of ISO 4217."`
	Orders   int64  `json:"orders" description:"How many orders were completed in it."`
	Gross    string `json:"gross" example:"125000.00" description:"What buyers paid, fees included, a decimal."`
	Refunded string `json:"refunded" example:"2500.00" description:"What was paid back to them, a decimal."`
	Net      string `json:"net" example:"122500.00" description:"gross less refunded, a decimal."`
}

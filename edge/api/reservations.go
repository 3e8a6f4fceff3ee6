package api

import "boxoffice/edge/route"

// ReservationFields say how a reservation event is booked, in a request. Fields that are not sent do not
// change.
type ReservationFields struct {
	Mode                 route.Opt[string]            `json:"mode,omitzero" enum:"date_only,date_time" nullable:"false" description:"date_only: one books a date; date_time: a slot of a date. date_only by default."`
	DailyCapacity        route.Opt[int64]             `json:"dailyCapacity,omitzero" minimum:"-1" maximum:"1000000" nullable:"false" description:"At most so many tickets for a date, over all slots; -1, the default, is unlimited."`
	MaxPerCustomerPerDay route.Opt[int64]             `json:"maxPerCustomerPerDay,omitzero" minimum:"1" maximum:"1000" nullable:"false" description:"At most so many tickets for a date that one buyer's e-mail has; 10 by default."`
	MaxAdvanceDays       route.Opt[int64]             `json:"maxAdvanceDays,omitzero" minimum:"1" maximum:"90" nullable:"false" description:"How many days ahead dates can be booked, from tomorrow on; 30 by default."`
	AllowGroups          route.Opt[bool]              `json:"allowGroups,omitzero" nullable:"false" description:"False: an order has one ticket for a date. True by default."`
	AllowMultiDay        route.Opt[bool]              `json:"allowMultiDay,omitzero" nullable:"false" description:"True: an order may be for several dates. False by default."`
	ClosedDates          route.Opt[[]string]          `json:"closedDates,omitzero" maxItems:"1000" format:"date" description:"Dates on which nothing takes place. What is sent replaces all."`
	ClosedWeekdays       route.Opt[[]int64]           `json:"closedWeekdays,omitzero" maxItems:"7" minimum:"0" maximum:"6" description:"Days of the week on which nothing takes place; 0 is Sunday. What is sent replaces all."`
	Slots                route.Opt[[]ReservationSlot] `json:"slots,omitzero" maxItems:"100" description:"The slots of each date, needed in mode date_time. What is sent replaces all: one that is left out is removed, or paused while it has bookings."`
}

// ReservationSlot is a slot in a request: a span of time on each date that can be booked by itself.
type ReservationSlot struct {
	ID        string           `json:"id,omitzero" maxLength:"40" description:"The id of a slot that is there, which so keeps its bookings; without it label and times tell which it is."`
	Label     string           `json:"label" required:"true" format:"name" minLength:"1" maxLength:"100" example:"Morning" description:"What the slot is called."`
	StartTime string           `json:"startTime" required:"true" maxLength:"5" example:"09:00" description:"When it starts, as HH:MM on the clocks of the event's zone."`
	EndTime   string           `json:"endTime" required:"true" maxLength:"5" example:"12:00" description:"When it ends, as HH:MM; at or before startTime it is on the next day."`
	Capacity  route.Opt[int64] `json:"capacity,omitzero" minimum:"0" maximum:"1000000" description:"At most so many tickets for the slot on a date; null: as many as the date has."`
	SortOrder int64            `json:"sortOrder,omitzero" minimum:"-1000000" maximum:"1000000" description:"The place among the slots, the lowest first; 0 without it. Equals are sorted by start."`
	Status    string           `json:"status,omitzero" enum:"active,paused" description:"paused: it can't be booked, and the public does not see it. active without it."`
}

// Reservation says how a reservation event is booked, in the event's record. The public sees only Mode, Slots
// and MaxAdvanceDays.
type Reservation struct {
	Mode                 string     `json:"mode" enum:"date_only,date_time" description:"date_only: one books a date; date_time: a slot of a date."`
	DailyCapacity        *int64     `json:"dailyCapacity,omitzero" description:"At most so many tickets for a date, over all slots; -1 is unlimited. Only the organization is shown it."`
	MaxPerCustomerPerDay *int64     `json:"maxPerCustomerPerDay,omitzero" description:"At most so many tickets for a date that one buyer's e-mail has. Only the organization is shown it."`
	MaxAdvanceDays       int64      `json:"maxAdvanceDays" description:"How many days ahead dates can be booked, from tomorrow on."`
	AllowGroups          *bool      `json:"allowGroups,omitzero" description:"False: an order has one ticket for a date. Only the organization is shown it."`
	AllowMultiDay        *bool      `json:"allowMultiDay,omitzero" description:"True: an order may be for several dates. Only the organization is shown it."`
	ClosedDates          []string   `json:"closedDates,omitzero" description:"Dates on which nothing takes place. Only the organization is shown them; the public reads them in the availability."`
	ClosedWeekdays       []int      `json:"closedWeekdays,omitzero" description:"Days of the week on which nothing takes place; 0 is Sunday. Only the organization is shown them."`
	Slots                []SlotView `json:"slots" description:"The slots of each date by sortOrder, then by start; the public does not see paused ones."`
}

// SlotView is a slot of a reservation event, in the event's record.
type SlotView struct {
	ID        string `json:"id" description:"The slot's id, by which it is booked."`
	Label     string `json:"label" description:"What the slot is called."`
	StartTime string `json:"startTime" description:"When it starts, as HH:MM on the clocks of the event's zone."`
	EndTime   string `json:"endTime" description:"When it ends, as HH:MM; at or before startTime it is on the next day."`
	Capacity  *int64 `json:"capacity" description:"At most so many tickets for the slot on a date; null: as many as the date has."`
	SortOrder int64  `json:"sortOrder" description:"The place among the slots, the lowest first."`
	Status    string `json:"status" enum:"active,paused" description:"paused: it can't be booked."`
}

// FindDates asks which dates and slots of a reservation event can be booked.
type FindDates struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	From    string `query:"from" format:"date" description:"The first date to answer; the window's first without it."`
	To      string `query:"to" format:"date" description:"The last date to answer; the window's last without it."`
}

// Availability says which dates of a reservation event can be booked.
type Availability struct {
	Mode        string    `json:"mode" enum:"date_only,date_time" description:"date_only: one books a date; date_time: a slot of a date."`
	WindowStart string    `json:"windowStart" format:"date" description:"The first date that can be booked: tomorrow in the event's zone."`
	WindowEnd   string    `json:"windowEnd" format:"date" description:"The last date that can be booked, maxAdvanceDays ahead."`
	Days        []DayView `json:"days" description:"Every date of the window between from and to, closed and sold-out ones too."`
}

// DayView says how many tickets are left for one date.
type DayView struct {
	Date      string     `json:"date" format:"date" description:"The date in the event's zone."`
	Remaining *int64     `json:"remaining" description:"How many tickets are left for the date, over all slots; null: unlimited."`
	SoldOut   bool       `json:"soldOut" description:"True if nothing is left for the date, also because it is closed."`
	Closed    bool       `json:"closed" description:"True if nothing takes place on the date."`
	Slots     []SlotLeft `json:"slots,omitzero" description:"What is left of each slot, in mode date_time; paused ones are left out."`
}

// SlotLeft says how many tickets are left for a slot of one date.
type SlotLeft struct {
	SlotID    string `json:"slotId" description:"The slot's id, by which it is booked."`
	Label     string `json:"label" description:"What the slot is called."`
	StartTime string `json:"startTime" description:"When it starts, as HH:MM on the clocks of the event's zone."`
	EndTime   string `json:"endTime" description:"When it ends, as HH:MM; at or before startTime it is on the next day."`
	Remaining *int64 `json:"remaining" description:"How many tickets are left for it; null: unlimited."`
}

package catalog

import (
	"cmp"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/calendar"
	"boxoffice/engine/event"
	"boxoffice/engine/velocity"
)

const (
	maxCapacity   = 1_000_000        // most tickets of one event; a larger capacity is lowered to this
	defaultWindow = 15 * time.Minute // how long an order waits for its payment, unless the organizer sets another time
	maxEventYears = 5                // how long an event may last
	// editTries is how often an edit is tried in all, if other edits come between its reading and its writing.
	editTries = 5
)

// createEvent makes a draft. It draws the event's number first, because the public id, the slug and the rows of a
// course contain it. A repeat of the request gets the same number, and the actor then answers with the event that
// exists already.
func (h *Handlers) createEvent(c *route.Call, in *api.CreateEvent) (*api.Event, error) {
	org, err := route.FindOrganization(c, in.OrgID, in.QueryOrg)
	if err != nil {
		return nil, err
	}
	if err := h.checkDrafts(c, org); err != nil {
		return nil, err
	}
	if err := h.CheckFiles(c, org, in); err != nil {
		return nil, err
	}
	number, err := live.NumberOf(c, h.Events, org)
	if err != nil {
		return nil, err
	}
	// The random end of the public id makes it impossible to guess the ids of other events from their numbers.
	var tail [10]byte
	_, _ = rand.Read(tail[:]) // never fails
	t := event.Details{
		Org: org, PublicID: engine.NewID(number, tail[:]), Slug: eventSlug(in.Title, number),
		Title: in.Title, Category: in.Category, StartAt: in.StartDate.UnixMilli(), Timezone: in.Timezone,
		VenueType: in.VenueType, Visibility: "public", Capacity: event.NoCapacity, Currency: h.defaultCurrency(),
		OrderWindow: defaultWindow.Milliseconds(),
	}
	issues := slices.Concat(applyFields(&t, &in.EventFields), route.CurrencyIssues("currency", t.Currency, h.Currencies), zoneIssues(&t, in.StartDate))
	if in.StartDate.Before(c.Now) {
		issues = append(issues, route.Issue{Path: "startDate", Code: route.IssueMinimum, Message: "must be in the future"})
	}
	// All issues of the request are collected before it is refused, so that the organizer can correct them
	// together.
	conf, wrong, err := h.calendarOf(c, 0, &t, in.Reservation)
	if err != nil {
		return nil, err
	}
	if issues = slices.Concat(issues, ruleIssues(&t), wrong, newCourseIssues(&t, &in.CourseFields)); len(issues) > 0 {
		return nil, route.Invalid(issues...)
	}
	// The content of a course is stored before the event is made, and the calendar configured after it: neither
	// is shown without the event, and a repeat of the request completes what is missing.
	taught, err := h.writeCourse(c, number, &t, &in.EventFields)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), event.Create{Details: t})
	if err != nil {
		return nil, err
	}
	booked, err := h.configure(c, number, conf)
	if err != nil {
		return nil, err
	}
	// The read model may not have the event yet, so this node remembers that it exists.
	h.Known.Remember(number, r.Details)
	h.Pages.Refresh(c.Context, number)
	v := view.Event(r)
	v.Reservation = reservationView(booked, true)
	showCourse(v, taught)
	return v, nil
}

// defaultCurrency returns the currency of an event whose organizer names none: dollars, or the deployment's first
// currency if it does not sell in dollars.
func (h *Handlers) defaultCurrency() string {
	if slices.ContainsFunc(h.Currencies, func(c engine.Currency) bool { return c.Code == "USD" }) {
		return "USD"
	}
	return h.Currencies[0].Code
}

// maxDrafts is how many drafts an organization may have at a time. Drafts cost an organization nothing, and
// nobody else sees them, so without a bound a program in a loop could fill the tables.
const maxDrafts = 1_000

// checkDrafts refuses another draft to an organization that has as many as it may. A node whose LimitsScale is 0
// has no such limit.
func (h *Handlers) checkDrafts(c *route.Call, org int64) error {
	most := int64(limit.Scale(maxDrafts, h.LimitsScale))
	used, err := h.Read.CountDrafts(c.Context, org, most)
	if err != nil || most < 1 || used < most {
		return err
	}
	return &engine.Refusal{Code: engine.QuotaExceeded, Message: "The organization has as many drafts as it may have.", Details: map[string]int64{"quota": most, "used": used}}
}

// zoneIssues returns an issue for the start of a course that is not in UTC. A course takes place everywhere at
// the same time, so its start has no other zone, and must be sent with a Z.
func zoneIssues(t *event.Details, start time.Time) []route.Issue {
	if t.Category != event.Course || start.Location() == time.UTC {
		return nil
	}
	return []route.Issue{{Path: "startDate", Code: route.IssueFormat, Message: "must be in UTC, with a trailing Z, for a course"}}
}

// getOwnEvent shows an event to its organization, with the schedule, the sections, the page's settings, the ticket
// types, and the content of a course or the settings of a calendar. Without the scope tickets:read it leaves out
// hidden types, presale codes and what types deliver.
func (h *Handlers) getOwnEvent(c *route.Call, in *api.ByID) (*api.Event, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), event.Get{})
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.Event(c.Context, number)
	if err != nil {
		return nil, err
	}
	v := view.Event(r)
	v.Schedule, v.Sections = sessionViews(p.Told.Sessions), sectionViews(p.Told.Sections)
	if v.Page, err = pageOf(p.Told.Customization); err != nil {
		return nil, err
	}
	if v.ProductType == event.ProductReservation {
		booked, err := cluster.AskFor[calendar.Record](c.Context, h.Node, engine.CalendarRef(number), calendar.Get{})
		if err != nil && !isRefused(err, engine.NotFound) {
			return nil, err
		}
		v.Reservation = reservationView(booked, true)
	}
	if v.Category == event.Course {
		taught, err := h.Courses.Read(c.Context, number)
		if err != nil {
			return nil, err
		}
		showCourse(v, taught)
	}
	g, _ := c.Principal.Grant(r.Details.Org) // FindOwn has checked that there is one
	v.TicketTypes, err = h.typesView(c, p, g.Scopes&route.TicketsRead != 0)
	return v, err
}

// updateEvent changes an event. It reads the record, applies the sent fields and sends the result to the actor with
// the revision that it read; if another edit came between, it starts over, and after editTries it refuses with
// CONFLICT. With shiftWindows, it changes the dates of the ticket types after the event itself has moved.
func (h *Handlers) updateEvent(c *route.Call, in *api.UpdateEvent) (*api.Event, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	if err := h.Texts.Change(c, number); err != nil {
		return nil, err
	}
	ref := engine.EventRef(number)
	for range editTries {
		r, err := cluster.AskFor[event.Record](c.Context, h.Node, ref, event.Get{})
		if err != nil {
			return nil, err
		}
		if err := h.CheckFiles(c, r.Details.Org, in); err != nil {
			return nil, err
		}
		t := *r.Details
		in.Title.Into(&t.Title)
		in.Category.Into(&t.Category)
		in.Timezone.Into(&t.Timezone)
		in.VenueType.Into(&t.VenueType)
		issues := applyFields(&t, &in.EventFields)
		if t.Currency != r.Details.Currency {
			issues = append(issues, route.CurrencyIssues("currency", t.Currency, h.Currencies)...)
		}
		if in.StartDate.Set {
			issues = append(issues, zoneIssues(&t, in.StartDate.Value)...)
			if t.StartAt = in.StartDate.Value.UnixMilli(); t.StartAt != r.Details.StartAt && in.StartDate.Value.Before(c.Now) {
				issues = append(issues, route.Issue{Path: "startDate", Code: route.IssueMinimum, Message: "must be in the future"})
			}
			// Buyers may give tickets back after a move. A draft that has sold nothing has no buyers, so its moves
			// don't count.
			if t.StartAt != r.Details.StartAt && (r.Status != event.StatusDraft || r.Sold) {
				t.MovedAt = c.Now.UnixMilli()
			}
			// The doors keep their distance to the start, unless the request says when they open.
			if in.ShiftWindows && t.DoorsAt != 0 && !in.DoorOpenTime.Set {
				t.DoorsAt += t.StartAt - r.Details.StartAt
			}
		}
		conf, wrong, err := h.calendarOf(c, number, &t, in.Reservation)
		if err != nil {
			return nil, err
		}
		if issues = slices.Concat(issues, ruleIssues(&t), wrong, notACourse(&t, &in.CourseFields)); len(issues) > 0 {
			return nil, route.Invalid(issues...)
		}
		// The move is judged before anything is written, so that a request which is refused because of it has
		// changed nothing.
		moved, err := h.planMove(c, r, &t, in.ShiftWindows)
		if err != nil {
			return nil, err
		}
		taught, err := h.writeCourse(c, number, &t, &in.EventFields)
		if err != nil {
			return nil, err
		}
		after, err := cluster.AskFor[event.Record](c.Context, h.Node, ref, event.Update{Details: t, Revision: r.Revision})
		if err == nil {
			err = h.takeAlong(c, moved)
			if err != nil {
				return nil, err
			}
			v, err := h.finishUpdate(c, r, after, conf)
			if err != nil {
				return nil, err
			}
			showCourse(v, taught)
			return v, nil
		}
		if !conflict(err) {
			return nil, err
		}
	}
	return nil, &engine.Refusal{Code: engine.Conflict}
}

// finishUpdate configures the calendar of an event that was updated, if conf is not nil, and refreshes the
// cached page. If only the calendar has changed, the event's actor has made no fact, so finishUpdate makes it
// journal one, which becomes the public fact event.updated.
func (h *Handlers) finishUpdate(c *route.Call, before, after *event.Record, conf *calendar.Config) (*api.Event, error) {
	v := view.Event(after)
	if conf != nil {
		was, err := cluster.AskFor[calendar.Record](c.Context, h.Node, engine.CalendarRef(after.Number), calendar.Get{})
		if err != nil && !isRefused(err, engine.NotFound) {
			return nil, err
		}
		booked, err := h.configure(c, after.Number, conf)
		if err != nil {
			return nil, err
		}
		v.Reservation = reservationView(booked, true)
		if was != nil && was.Revision != booked.Revision && before.Revision == after.Revision {
			return v, h.tellOfChange(c, after.Number)
		}
	}
	h.Pages.Refresh(c.Context, after.Number)
	return v, nil
}

// conflict reports whether an actor refused an edit because another edit was written first. The caller then makes
// the edit again on the newer record.
func conflict(err error) bool {
	var r *engine.Refusal
	return errors.As(err, &r) && r.Code == engine.Conflict
}

// applyFields writes into an event the optional fields that were sent. It returns issues for those that the
// tags of the request type can't check. A null visibility makes the event public, and a null capacity lifts the
// limit. A reservation calendar loses its line-up and its end, whatever was sent.
func applyFields(t *event.Details, f *api.EventFields) []route.Issue {
	f.Subcategory.Into(&t.Subcategory)
	f.ShortDesc.Into(&t.ShortDesc)
	f.Description.Into(&t.Description)
	f.Tags.Into(&t.Tags)
	if f.Visibility.Set {
		if t.Visibility = f.Visibility.Value; f.Visibility.Null {
			t.Visibility = "public"
		}
	}
	if f.Capacity.Set {
		if t.Capacity = min(f.Capacity.Value, maxCapacity); f.Capacity.Null {
			t.Capacity = event.NoCapacity
		}
	}
	setMillis(f.EndDate, &t.EndAt)
	setMillis(f.DoorOpenTime, &t.DoorsAt)
	f.VenueName.Into(&t.VenueName)
	f.VenueAddress.Into(&t.VenueAddress)
	f.VenueCity.Into(&t.VenueCity)
	f.VenueCountry.Into(&t.VenueCountry)
	setPointer(f.VenueLat, &t.VenueLat)
	setPointer(f.VenueLng, &t.VenueLng)
	f.OnlineLink.Into(&t.OnlineLink)
	f.OnlineLinkNote.Into(&t.OnlineNote)
	f.ReturnPolicy.Into(&t.ReturnPolicy)
	f.HighlightVideoURL.Into(&t.Highlight)
	f.CoverImage.Into(&t.CoverImage)
	f.CoverVideo.Into(&t.CoverVideo)
	f.Gallery.Into(&t.Gallery)
	f.Currency.Into(&t.Currency)
	f.AbsorbFees.Into(&t.AbsorbFees)
	f.RotatingOnly.Into(&t.RotatingOnly)
	f.OfflineDoorCodes.Into(&t.OfflineDoorCodes)
	f.Exits.Into(&t.Exits)
	f.InsideLimit.Into(&t.InsideLimit)
	f.TransferDays.Into(&t.TransferDays)
	if f.Extensions.Set {
		t.NoExtensions = !f.Extensions.Value
	}
	if f.Rescheduling.Set {
		t.NoRescheduling = !f.Rescheduling.Value
	}
	f.Entities.Into(&t.Entities)
	if event.ProductType(t.Category) == event.ProductReservation {
		t.Entities, t.EndAt = nil, 0 // A reservation calendar has no line-up and no end.
	}
	if f.OrderWindow.Set {
		t.OrderWindow = (time.Duration(f.OrderWindow.Value) * time.Minute).Milliseconds()
	}
	editVelocity(&t.Velocity, f.Velocity)
	issues := setObject("branding", f.Branding, &t.Branding)
	issues = append(issues, setObject("seoData", f.SEOData, &t.SEO)...)
	var branding struct {
		RequireIDCheck bool `json:"requireIdCheck"`
	}
	// Gates ask for an identity card if the branding says so. The actor does not read the branding, so the flag is
	// copied.
	t.IDCheck = json.Unmarshal(view.Object(t.Branding), &branding) == nil && branding.RequireIDCheck
	return issues
}

// editVelocity writes into v the velocity limits that were sent. A null for all of them, or for one, restores
// the default.
func editVelocity(v *velocity.Limits, f route.Opt[api.Velocity]) {
	if f.Null {
		*v = velocity.Limits{}
	}
	f.Value.OrdersPerBuyer.Into(&v.OrdersPerBuyer)
	f.Value.OrdersPerAddress.Into(&v.OrdersPerAddress)
	f.Value.OpenOrdersPerBuyer.Into(&v.OpenOrdersPerBuyer)
	f.Value.PresaleTries.Into(&v.PresaleTries)
	f.Value.PaymentAttempts.Into(&v.PaymentAttempts)
}

// setMillis stores a moment that was sent, in unix milliseconds; null makes it 0.
func setMillis(f route.Opt[time.Time], dst *int64) {
	switch {
	case f.Null:
		*dst = 0
	case f.Set:
		*dst = f.Value.UnixMilli()
	}
}

// setPointer stores a value that was sent; null makes it nil.
func setPointer[T any](f route.Opt[T], dst **T) {
	switch {
	case f.Null:
		*dst = nil
	case f.Set:
		*dst = &f.Value
	}
}

// setObject stores a JSON object byte for byte as it was sent. The bytes are copied, because the request's
// memory is used again. Null removes the object.
func setObject(path string, f route.Opt[api.JSON], dst *[]byte) []route.Issue {
	if !f.Set || f.Null {
		if f.Null {
			*dst = nil
		}
		return nil
	}
	if f.Value.Kind() != '{' {
		return []route.Issue{{Path: path, Code: route.IssueType, Message: "must be an object"}}
	}
	*dst = f.Value.Clone()
	return nil
}

// ruleIssues returns what is wrong by the rules that span several fields of an event, and by the rule for its video:
// the end comes after the start and within maxEventYears, and only an event of the product type event needs one;
// doors do not open after the start; the highlight video is on a known host.
func ruleIssues(t *event.Details) []route.Issue {
	var issues []route.Issue
	add := func(path, code, message string) {
		issues = append(issues, route.Issue{Path: path, Code: code, Message: message})
	}
	switch {
	case t.EndAt == 0 && event.ProductType(t.Category) == event.ProductEvent:
		add("endDate", route.IssueRequired, "is required for this category")
	case t.EndAt != 0 && t.EndAt <= t.StartAt:
		add("endDate", route.IssueMinimum, "must be after startDate")
	case t.EndAt > time.UnixMilli(t.StartAt).UTC().AddDate(maxEventYears, 0, 0).UnixMilli():
		add("endDate", route.IssueMaximum, "must be within 5 years of startDate")
	}
	if t.DoorsAt > t.StartAt {
		add("doorOpenTime", route.IssueMaximum, "must not be after startDate")
	}
	if t.Highlight != "" && !videoHost(t.Highlight) {
		add("highlightVideoUrl", route.IssueFormat, "must be on YouTube or Vimeo")
	}
	return issues
}

// videoHost reports whether an address leads to one of the hosts for highlight videos, or to a subdomain of
// one, by https.
func videoHost(address string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(address), "https://")
	host, _, _ := strings.Cut(rest, "/")
	for _, h := range []string{"youtube.com", "youtu.be", "vimeo.com"} {
		if ok && (host == h || strings.HasSuffix(host, "."+h)) {
			return true
		}
	}
	return false
}

// eventSlug makes the part of an address that names an event: up to 60 ASCII letters, digits and dashes made of its
// title ("event" if there are none), and after the last dash the event's number in base 36, so that no two events have
// the same slug.
func eventSlug(title string, number int64) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 60 {
			break
		}
	}
	return cmp.Or(strings.Trim(b.String(), "-"), "event") + "-" + strconv.FormatInt(number, 36)
}

// publishEvent publishes a draft. An event that is live already is left as it is, which makes the request safe to
// repeat. It warns if no payment provider takes the event's currency.
func (h *Handlers) publishEvent(c *route.Call, in *api.ByID) (*api.PublishedEvent, error) {
	e, err := h.move(c, in.ID, event.Move{To: event.StatusPublished, Live: true})
	if err != nil {
		return nil, err
	}
	out := &api.PublishedEvent{Event: *e, Warnings: []api.EventWarning{}}
	_, known, err := h.Known.ReadID(c.Context, in.ID)
	if err != nil {
		return nil, err
	}
	fitting, err := h.Gateways.Fitting(c.Context, e.Currency, known.Org)
	if err != nil {
		return nil, err
	}
	if len(fitting) == 0 {
		out.Warnings = append(out.Warnings, api.EventWarning{
			Code: string(engine.CurrencyNotSupported), Message: "No payment provider here takes " + e.Currency + ": only what is free can be ordered.",
		})
	}
	return out, nil
}

// unpublishEvent takes an event back to draft. The actor refuses that for an event that has begun.
func (h *Handlers) unpublishEvent(c *route.Call, in *api.ByID) (*api.Event, error) {
	return h.move(c, in.ID, event.Move{To: event.StatusDraft})
}

// setEventStatus moves an event by hand. Afterwards its sale windows, stock and dates move it on as before.
func (h *Handlers) setEventStatus(c *route.Call, in *api.SetStatus) (*api.Event, error) {
	return h.move(c, in.ID, event.Move{To: in.Status})
}

// move asks an event's actor to move the event to a status. The actor decides whether the move is allowed. Only
// whether a course is complete is checked here, because the actor does not have its content.
func (h *Handlers) move(c *route.Call, id string, to event.Move) (*api.Event, error) {
	number, err := h.Known.FindOwn(c, id)
	if err != nil {
		return nil, err
	}
	if err := h.checkCourse(c, number, to); err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), to)
	if err != nil {
		return nil, err
	}
	h.Pages.Refresh(c.Context, number)
	return view.Event(r), nil
}

// deleteEvent removes a draft that has sold nothing, and cancels any other event. The actor decides which of the
// two it is, or refuses.
func (h *Handlers) deleteEvent(c *route.Call, in *api.DeleteEvent) (*api.Deleted, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), event.Delete{Reason: in.Reason})
	if err != nil {
		return nil, err
	}
	h.Pages.Refresh(c.Context, number)
	if r.Status == event.StatusCancelled {
		return &api.Deleted{Cancelled: true, Event: view.Event(r)}, nil
	}
	return &api.Deleted{Deleted: true}, nil
}

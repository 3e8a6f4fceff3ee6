package view

import (
	"strconv"
	"time"

	"boxoffice/edge/api"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/order"
	"boxoffice/engine/velocity"
)

// Event returns an event's record as its organization sees it. Other readers are shown parts of it. Optional fields
// that the organization has not set are null, or empty if they are lists or objects.
func Event(r *event.Record) *api.Event {
	t := r.Details
	v := &api.Event{
		ID: t.PublicID.String(), NumericID: strconv.FormatInt(r.Number, 10), OrganizationID: strconv.FormatInt(t.Org, 10),
		Slug: t.Slug, Title: t.Title, Category: t.Category, ProductType: event.ProductType(t.Category),
		Subcategory: Optional(t.Subcategory), ShortDesc: Optional(t.ShortDesc), Description: Optional(t.Description),
		Tags: List(t.Tags), Status: r.Status, CancelReason: t.CancelReason, Visibility: t.Visibility,
		StartDate: api.At(t.StartAt), EndDate: api.At(t.EndAt), MovedAt: api.At(t.MovedAt), Timezone: t.Timezone, VenueType: t.VenueType,
		DoorOpenTime: api.At(t.DoorsAt), VenueName: Optional(t.VenueName), VenueAddress: Optional(t.VenueAddress),
		VenueCity: Optional(t.VenueCity), VenueCountry: Optional(t.VenueCountry), VenueLat: t.VenueLat, VenueLng: t.VenueLng,
		OnlineLink: api.Shown(t.OnlineLink), OnlineLinkNote: api.Shown(t.OnlineNote), ReturnPolicy: Optional(t.ReturnPolicy),
		HighlightVideoURL: Optional(t.Highlight), CoverImage: Optional(t.CoverImage), CoverVideo: Optional(t.CoverVideo),
		Gallery: List(t.Gallery), Currency: t.Currency, AbsorbFees: t.AbsorbFees, RotatingOnly: &t.RotatingOnly, OfflineDoorCodes: t.OfflineDoorCodes, Exits: t.Exits, Rescheduling: !t.NoRescheduling, Extensions: !t.NoExtensions,
		Branding: Object(t.Branding), SEOData: Object(t.SEO), Entities: List(t.Entities),
		OrderWindowMinutes: t.OrderWindow / time.Minute.Milliseconds(), Velocity: viewVelocity(&t.Velocity),
		CreatedAt: api.At(r.CreatedAt), UpdatedAt: api.At(r.UpdatedAt),
	}
	if t.TransferDays != 0 {
		v.TransferDays = &t.TransferDays
	}
	if t.InsideLimit != 0 {
		v.InsideLimit = &t.InsideLimit
	}
	if t.Capacity != event.NoCapacity {
		v.Capacity = &t.Capacity
	}
	if v.ProductType == event.ProductReservation {
		// An event that is booked by date has no entities, not even an empty list.
		v.Entities = nil
	}
	return v
}

// TicketType returns a ticket type of an event. If own is set, it also has what only the
// organization may see: the presale code, the delivered address with its note, and the number of
// tickets sold.
func TicketType(r *inventory.Record, e *event.Details, own bool) *api.TicketType {
	t := &r.Details
	v := &api.TicketType{
		ID: inventory.TypeID(r.Ref).String(), Name: t.Name, Type: t.Type,
		SaleStart: Moment(t.SaleStart), SaleEnd: Moment(t.SaleEnd), Price: Decimal(t.Price, t.Currency), Currency: t.Currency,
		// Buyers see the total first, so it includes the fees that they pay.
		PriceTotal:    Decimal(order.PriceTotal(t.Price, e.AbsorbFees), t.Currency),
		QuantityTotal: t.Quantity, MaxPerOrder: t.MaxPerOrder, MaxPerCustomer: t.MaxPerCustomer,
		Transferable: t.Transferable, Refundable: t.Refundable, RefundDeadline: api.At(t.RefundDeadline),
		PresaleRequired: t.PresaleCode != "", WaitlistEnabled: t.WaitlistEnabled, Description: Optional(t.Description),
		DigitalAccess: t.AccessURL != "" || event.ProductType(e.Category) == event.ProductDigital && e.OnlineLink != "",
		RefundHours:   t.RefundHours, Seated: t.Seated, SectionID: Optional(t.SectionID), SortOrder: t.SortOrder, Status: "active",
	}
	if t.Hidden {
		v.Status = "hidden"
	}
	// An Available below 0 means that the stock is not limited.
	if r.Available >= 0 {
		v.Available = &r.Available
	}
	if own {
		v.PresaleCode, v.AccessURL, v.AccessNote = api.Shown(t.PresaleCode), api.Shown(t.AccessURL), api.Shown(t.AccessNote)
		v.Sold = &r.Sold
	}
	return v
}

// viewVelocity shows the limits of the velocity rules that an event sets itself. A limit is null if
// the service's default applies.
func viewVelocity(v *velocity.Limits) *api.OwnVelocity {
	own := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	return &api.OwnVelocity{
		OrdersPerBuyer: own(v.OrdersPerBuyer), OrdersPerAddress: own(v.OrdersPerAddress),
		OpenOrdersPerBuyer: own(v.OpenOrdersPerBuyer), PresaleTries: own(v.PresaleTries), PaymentAttempts: own(v.PaymentAttempts),
	}
}

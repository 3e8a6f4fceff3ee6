package event

import (
	"bytes"
	"encoding/json"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/velocity"
)

// NoCapacity is the capacity of an event without a limit.
const NoCapacity = -1

// Details is an event's record, as organizers edit it. Times are unix milliseconds, and 0 means
// none. A Details is replaced as a whole and never changed, so states, snapshots and replies may
// share it.
type Details struct {
	Org          int64           `cbor:"1,keyasint"`
	PublicID     engine.EventID  `cbor:"2,keyasint"`
	Slug         string          `cbor:"3,keyasint"`
	Title        string          `cbor:"4,keyasint"`
	Category     string          `cbor:"5,keyasint"`
	Subcategory  string          `cbor:"6,keyasint,omitempty"`
	ShortDesc    string          `cbor:"7,keyasint,omitempty"`
	Description  string          `cbor:"8,keyasint,omitempty"`
	Tags         []string        `cbor:"9,keyasint,omitempty"`
	Visibility   string          `cbor:"10,keyasint"`
	StartAt      int64           `cbor:"11,keyasint"`
	EndAt        int64           `cbor:"12,keyasint,omitempty"` // unix milliseconds; 0 if there is no end, as for a digital product that is always available
	Timezone     string          `cbor:"13,keyasint"`
	VenueType    string          `cbor:"14,keyasint"`
	Capacity     int64           `cbor:"15,keyasint"` // NoCapacity or 1-1,000,000
	DoorsAt      int64           `cbor:"16,keyasint,omitempty"`
	VenueName    string          `cbor:"17,keyasint,omitempty"`
	VenueAddress string          `cbor:"18,keyasint,omitempty"`
	VenueCity    string          `cbor:"19,keyasint,omitempty"`
	VenueCountry string          `cbor:"20,keyasint,omitempty"`
	VenueLat     *float64        `cbor:"21,keyasint,omitempty"`
	VenueLng     *float64        `cbor:"22,keyasint,omitempty"`
	OnlineLink   string          `cbor:"23,keyasint,omitempty"`
	OnlineNote   string          `cbor:"24,keyasint,omitempty"`
	ReturnPolicy string          `cbor:"25,keyasint,omitempty"`
	Highlight    string          `cbor:"26,keyasint,omitempty"` // address of a video
	CoverImage   string          `cbor:"27,keyasint,omitempty"`
	CoverVideo   string          `cbor:"28,keyasint,omitempty"`
	Gallery      []string        `cbor:"29,keyasint,omitempty"`
	Currency     string          `cbor:"30,keyasint"`
	AbsorbFees   bool            `cbor:"31,keyasint,omitempty"`
	Branding     []byte          `cbor:"32,keyasint,omitempty"` // a JSON object
	SEO          []byte          `cbor:"33,keyasint,omitempty"` // a JSON object
	Entities     []Entity        `cbor:"34,keyasint,omitempty"`
	OrderWindow  int64           `cbor:"35,keyasint"` // milliseconds that a pending order lives
	IDCheck      bool            `cbor:"36,keyasint,omitempty"`
	Velocity     velocity.Limits `cbor:"37,keyasint,omitempty"`
	RotatingOnly bool            `cbor:"38,keyasint,omitempty"` // whether gates refuse scanned codes that don't rotate (printed ones, and door codes); typed codes are accepted
	// OfflineDoorCodes says that devices at gates recognize door codes without a network.
	OfflineDoorCodes bool `cbor:"45,keyasint,omitempty"`
	// NoRescheduling says that nobody may move a ticket to another date.
	NoRescheduling bool `cbor:"46,keyasint,omitempty"`
	// NoExtensions says that buyers get no more time for their orders and held seats.
	NoExtensions bool `cbor:"48,keyasint,omitempty"`
	// TransferDays is how many days an order waits for its bank transfer; 0 stands for the deployment's
	// default.
	TransferDays int64 `cbor:"49,keyasint,omitempty"`
	// MovedAt is when the event got its present StartAt, if it was no draft any more or had sold tickets at that
	// time; 0: it never moved.
	MovedAt int64 `cbor:"47,keyasint,omitempty"`
	// CancelReason is why the event was cancelled, in the organizer's words; "": it was not, or nothing was said.
	CancelReason string `cbor:"50,keyasint,omitempty"`
	// Exits says that gates let holders out, and in again.
	Exits bool `cbor:"51,keyasint,omitempty"`
	// InsideLimit is how many people may be inside before gates are warned; 0: they never are.
	InsideLimit int64 `cbor:"52,keyasint,omitempty"`
}

// moneyBackMillis is how long after a move the holders of tickets may ask for their money back, in
// milliseconds.
const moneyBackMillis = 14 * 24 * 60 * 60 * 1000

// MoneyBackUntil returns until when the money of a ticket may be asked back because the event has moved since
// the ticket was sold. It does not depend on the ticket's terms. The right lasts 14 days, or until the event
// begins if that is earlier. The result is 0 if the event has not moved since the sale, or is a reservation
// calendar or a digital product. sold and the result are unix milliseconds.
func (t *Details) MoneyBackUntil(sold int64) int64 {
	if t.MovedAt == 0 || sold >= t.MovedAt || ProductType(t.Category) != ProductEvent {
		return 0
	}
	return min(t.MovedAt+moneyBackMillis, t.StartAt)
}

// HasHall reports whether people come to the event at a place. It may be streamed as well.
func (t *Details) HasHall() bool {
	return ProductType(t.Category) != ProductDigital && t.VenueType != "online"
}

// TakesPaper reports whether the event has gates that take codes on paper.
func (t *Details) TakesPaper() bool { return t.HasHall() && !t.RotatingOnly }

// Entity is one entry of the lineup.
type Entity struct {
	Kind     string `cbor:"1,keyasint" json:"kind" required:"true" enum:"artist,dj,speaker,host,guest,sponsor,partner,team,feature" description:"What it is to the event."`
	Name     string `cbor:"2,keyasint" json:"name" required:"true" format:"name" minLength:"1" maxLength:"200" example:"Adaeze Obi" description:"The name, of a person, a band or a firm."`
	Role     string `cbor:"3,keyasint,omitempty" json:"role,omitzero" maxLength:"200" example:"Saxophone" description:"What they do there, in words."`
	ImageURL string `cbor:"4,keyasint,omitempty" json:"imageUrl,omitzero" format:"hosted" maxLength:"2048" description:"A picture: an http(s) address, or /media/<id> of an image of the organization's."`
	Bio      string `cbor:"5,keyasint,omitempty" json:"bio,omitzero" maxLength:"5000" description:"A few words about them."`
	SetTime  string `cbor:"6,keyasint,omitempty" json:"setTime,omitzero" maxLength:"100" description:"When they are on, in words."`
	Link     string `cbor:"7,keyasint,omitempty" json:"link,omitzero" format:"hosted" maxLength:"2048" description:"Where to read more: an http(s) address or /media/<id>."`
}

// These are the product types. They follow from the category alone, so a record can't contradict
// itself.
const (
	ProductEvent       = "event"
	ProductReservation = "reservation"
	ProductDigital     = "digital"
)

// Digital lists the categories whose buyers get access at once on purchase.
var Digital = []string{"online-course", "digital-product", "e-books", "downloadable-files", "online-service"}

// ProductType returns the product type of a category (docs/products.md).
func ProductType(category string) string {
	switch {
	case category == "reservations":
		return ProductReservation
	case slices.Contains(Digital, category):
		return ProductDigital
	default:
		return ProductEvent
	}
}

// Course is the category of online courses, which are digital products. The content of a course
// differs much from other products. Therefore an event that has ticket types can neither become a
// course nor stop being one.
const Course = "online-course"

// sameProduct reports whether an event with ticket types may change from one category to the other.
func sameProduct(a, b string) bool {
	return a == b || ProductType(a) == ProductType(b) && a != Course && b != Course
}

// normalize turns empty lists into nil, so that two records with the same content have the same
// bytes.
func (t *Details) normalize() {
	t.Tags, t.Gallery, t.Entities = orNil(t.Tags), orNil(t.Gallery), orNil(t.Entities)
	t.Branding, t.SEO = orNil(t.Branding), orNil(t.SEO)
}

// orNil returns nil for an empty list.
func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// equal reports whether two records have the same content. It compares their JSON, because records
// have slices.
func (t Details) equal(other Details) bool {
	// Both values are copies, so the state is not changed.
	t.normalize()
	other.normalize()
	a, err := json.Marshal(t)
	if err != nil {
		return false // one superfluous change is better than a lost one
	}
	b, err := json.Marshal(other)
	return err == nil && bytes.Equal(a, b)
}

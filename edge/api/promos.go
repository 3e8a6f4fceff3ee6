package api

import (
	"time"

	"boxoffice/edge/route"
)

// ListPromoCodes asks for an organization's promo codes, the newest first.
type ListPromoCodes struct {
	OrgID   string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	EventID string `query:"eventId" maxLength:"128" description:"Only codes of this event, by its UUID or number. Codes for all events are then left out."`
	Page
}

// PromoFields are the optional fields of a promo code, which CreatePromoCode and UpdatePromoCode share.
type PromoFields struct {
	Description        route.Opt[string]      `json:"description,omitzero" maxLength:"200" description:"What the code is for, for yourself; null or an empty text removes it."`
	MaxUses            route.Opt[int64]       `json:"maxUses,omitzero" minimum:"1" maximum:"1000000" description:"How many orders may use it in all; null: without a limit."`
	MaxUsesPerCustomer route.Opt[int64]       `json:"maxUsesPerCustomer,omitzero" minimum:"1" maximum:"1000" description:"How many orders of one buyer's address may use it; null: without a limit."`
	MinOrderValue      route.Opt[route.Money] `json:"minOrderValue,omitzero" minimum:"0" maximum:"100000000" description:"The least subtotal of an order that may use it; 0 by default."`
	ApplicableTypes    route.Opt[[]string]    `json:"applicableTypes,omitzero" maxItems:"200" format:"uuid" description:"The ticket types that it takes something off, by their UUIDs; none or null: all."`
}

// CreatePromoCode makes a promo code for one event, or for all events of an organization.
type CreatePromoCode struct {
	OrgID         string      `json:"orgId,omitzero" maxLength:"40" description:"The number of the organization, if the caller acts for several; it may stand in the query instead."`
	QueryOrgID    string      `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several; it may stand in the body instead."`
	EventID       string      `json:"eventId,omitzero" maxLength:"128" description:"The event that it is for, by its UUID or number; left out or null: all of the organization's."`
	Code          string      `json:"code" required:"true" minLength:"3" maxLength:"50" example:"EARLY-10" description:"What buyers type: letters, digits, - and _, kept in upper case. A code stands once per event, and once for all events."`
	DiscountType  string      `json:"discountType" required:"true" enum:"percentage,flat" description:"percentage takes a share off the tickets that it is for, flat an amount off all of them together."`
	DiscountValue route.Money `json:"discountValue" required:"true" minimum:"0.01" maximum:"100000" example:"10" description:"Percent, at most 100, or the flat amount in the event's currency."`
	ValidFrom     time.Time   `json:"validFrom" required:"true" example:"2031-05-01T00:00:00Z" description:"From when orders may use it."`
	ValidUntil    time.Time   `json:"validUntil" required:"true" example:"2031-06-01T00:00:00Z" description:"When it ends, after validFrom: an order of this very moment may not use it."`
	PromoFields
}

// PromoCodeID names a promo code by its number.
type PromoCodeID struct {
	ID string `path:"id" format:"id" maxLength:"128"`
}

// UpdatePromoCode changes those fields of a promo code that are sent.
type UpdatePromoCode struct {
	PromoCodeID
	Code          route.Opt[string]      `json:"code,omitzero" minLength:"3" maxLength:"50" nullable:"false" example:"EARLY-20" description:"The new name; one that an order has been completed with keeps its name."`
	DiscountType  route.Opt[string]      `json:"discountType,omitzero" enum:"percentage,flat" nullable:"false" description:"percentage or flat; orders that are placed keep their discount."`
	DiscountValue route.Opt[route.Money] `json:"discountValue,omitzero" minimum:"0.01" maximum:"100000" nullable:"false" description:"Percent, at most 100, or the flat amount in the event's currency."`
	ValidFrom     route.Opt[time.Time]   `json:"validFrom,omitzero" nullable:"false" description:"From when orders may use it."`
	ValidUntil    route.Opt[time.Time]   `json:"validUntil,omitzero" nullable:"false" description:"When it ends, after validFrom."`
	PromoFields
}

// PromoCode is a promo code's record.
type PromoCode struct {
	ID                 string   `json:"id" example:"31" description:"The promo code's number."`
	Code               string   `json:"code" example:"EARLY-10" description:"What buyers type, in upper case."`
	EventID            *string  `json:"eventId" description:"The event that it is for, by its UUID; null: all of the organization's."`
	DiscountType       string   `json:"discountType" enum:"percentage,flat" description:"Whether it takes a share of the price off, or an amount."`
	DiscountValue      string   `json:"discountValue" example:"10.00" description:"Percent, or the flat amount in the event's currency, as a decimal."`
	ValidFrom          Time     `json:"validFrom" description:"From when orders may use it."`
	ValidUntil         Time     `json:"validUntil" description:"When it ends."`
	Description        *string  `json:"description" example:"For whoever comes early" description:"What the code is for, for yourself; null if nothing was said."`
	MaxUses            *int64   `json:"maxUses" description:"How many orders may use it in all; null: without a limit."`
	MaxUsesPerCustomer *int64   `json:"maxUsesPerCustomer" description:"How many orders of one buyer's address may use it; null: without a limit."`
	MinOrderValue      string   `json:"minOrderValue" example:"0.00" description:"The least subtotal of an order that may use it, as a decimal."`
	ApplicableTypes    []string `json:"applicableTypes" description:"The ticket types that it takes something off, by their UUIDs; empty: all."`
	UsedCount          int64    `json:"usedCount" description:"How many completed orders have used it. Open orders hold a use that is not counted here."`
	Status             string   `json:"status" enum:"active,disabled" description:"disabled: it is kept for the orders that have used it, and holds for no new one."`
	CreatedAt          Time     `json:"createdAt" description:"When it was made."`
}

// PromoCodes is a page of an organization's promo codes.
type PromoCodes struct {
	PromoCodes []PromoCode `json:"promoCodes" description:"The codes of this page, the newest first."`
	NextCursor *string     `json:"nextCursor" description:"What the next page takes as its cursor, opaque; null on the last page."`
	route.Freshness
}

// PromoCodeGone is the answer to the deletion of a promo code. The code was removed, or it was only disabled
// because orders have used or reserved it.
type PromoCodeGone struct {
	Deleted   bool       `json:"deleted,omitzero" description:"true: no order has used it, and it is gone."`
	Disabled  bool       `json:"disabled,omitzero" description:"true: orders have used it, and it is kept but holds for no new one."`
	PromoCode *PromoCode `json:"promoCode,omitzero" description:"The code that was disabled; left out of one that is gone."`
}

// ValidateCode asks whether an order could use a promo code now. It reserves nothing.
type ValidateCode struct {
	Code          string                 `json:"code" required:"true" minLength:"1" maxLength:"50" example:"EARLY-10" description:"What the buyer typed, in any case."`
	EventID       string                 `json:"eventId,omitzero" maxLength:"128" description:"The event, by its UUID, slug or number. It may be left out beside ticketTypeIds."`
	TicketTypeIDs []string               `json:"ticketTypeIds,omitzero" maxItems:"50" format:"uuid" description:"What the buyer has chosen, by the types' UUIDs: one of them must be what the code is for."`
	Subtotal      route.Opt[route.Money] `json:"subtotal,omitzero" minimum:"0" maximum:"10000000000" example:"50.00" description:"What the chosen tickets cost that the code is for, as a number: the discount is computed of it."`
	Items         []CartLine             `json:"items,omitzero" maxItems:"20" description:"The cart, line by line, instead of ticketTypeIds and subtotal: the verdict then has a quote, which is what an order of these lines would cost now."`
}

// CartLine is a line of a cart, before the buyer places an order.
type CartLine struct {
	TicketTypeID string `json:"ticketTypeId" required:"true" format:"uuid" description:"The ticket type, by its UUID. All lines are of one event."`
	Quantity     int64  `json:"quantity" required:"true" minimum:"1" maximum:"100" example:"2" description:"How many tickets, 1 to 100."`
}

// CartQuote says what an order of the cart's lines would cost now, with the promo code.
type CartQuote struct {
	Subtotal string `json:"subtotal" example:"50.00" description:"The tickets' prices added up, without discount and fees."`
	Discount string `json:"discount" example:"5.00" description:"What the code takes off the subtotal; 0.00 of one that would not hold."`
	Fees     string `json:"fees" example:"2.25" description:"The checkout's fee that the buyer pays on top; 0.00 if the organizer absorbs it."`
	Total    string `json:"total" example:"47.25" description:"What the buyer pays: subtotal - discount + fees, as the order has it."`
	Currency string `json:"currency" example:"NGN" description:"The currency of these amounts, by ISO 4217."`
}

// CodeVerdict is the answer to ValidateCode: whether an order could use the code now, and how much the code
// would take off.
type CodeVerdict struct {
	Valid         bool       `json:"valid" description:"Whether an order now could use the code."`
	Discount      string     `json:"discount" example:"5.00" description:"What it takes off the subtotal that was sent, as a decimal; 0.00 without one."`
	DiscountType  *string    `json:"discountType" enum:"percentage,flat" description:"Whether it takes a share of the price off, or an amount; null of a code that does not exist."`
	DiscountValue *string    `json:"discountValue" example:"10.00" description:"Percent, or the flat amount in the event's currency, as a decimal; null of a code that does not exist."`
	Reason        *string    `json:"reason" enum:"CODE_NOT_FOUND,NOT_YET_ACTIVE,EXPIRED,MAX_USES_REACHED,BELOW_MIN_ORDER,NOT_APPLICABLE_TO_THESE_TICKETS" description:"Why it would not hold; null when it would. A code that was disabled is told as one that does not exist."`
	Quote         *CartQuote `json:"quote,omitzero" description:"What the lines that were sent would cost, with the code if it would hold; left out without lines."`
}

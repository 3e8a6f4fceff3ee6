// Package edge puts the API together: it holds the areas and lists all their operations. Package edge/server brings
// requests to the handlers, and package edge/route defines what a row of the route table says.
package edge

import (
	"slices"

	"boxoffice/edge/catalog"
	"boxoffice/edge/files"
	"boxoffice/edge/gates"
	"boxoffice/edge/holders"
	"boxoffice/edge/identity"
	"boxoffice/edge/learning"
	"boxoffice/edge/money"
	"boxoffice/edge/outward"
	"boxoffice/edge/people"
	"boxoffice/edge/receipts"
	"boxoffice/edge/refunds"
	"boxoffice/edge/rooms"
	"boxoffice/edge/route"
	"boxoffice/edge/sales"
	"boxoffice/edge/venues"
	"boxoffice/edge/waitlists"
)

// Areas are the handlers of a node. Routes works on the zero value too, for documents and tests, which read the table
// but call no handler.
type Areas struct {
	Identity   *identity.Handlers
	Catalog    *catalog.Handlers
	Venues     *venues.Handlers
	Files      *files.Handlers
	Rooms      *rooms.Handlers
	Sales      *sales.Handlers
	Receipts   *receipts.Handlers
	Waitlists  *waitlists.Handlers
	Holders    *holders.Handlers
	Refunds    *refunds.Handlers
	Gates      *gates.Handlers
	Money      *money.Handlers
	Learning   *learning.Handlers
	Outward    *outward.Handlers
	People     *people.Handlers
	Operations *Operations
}

// Routes returns the route table, which has every operation once. Registration, validation, the OpenAPI document and
// many tests are derived from it.
func (a *Areas) Routes() []route.Op {
	return slices.Concat(a.Identity.Routes(), a.Catalog.Routes(), a.Venues.Routes(), a.Files.Routes(), a.Rooms.Routes(), a.Sales.Routes(), a.Receipts.Routes(), a.Waitlists.Routes(), a.Holders.Routes(),
		a.Refunds.Routes(), a.Gates.Routes(), a.Money.Routes(), a.Learning.Routes(), a.Outward.Routes(), a.People.Routes(), a.Operations.Routes())
}

// Package edge is the whole API: its areas, and the one list of their operations. How
// requests come to a handler is edge/server; what a row says is edge/route.
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

// Areas are the handlers of a node. The zero value has the table of operations, which
// documents and tests read, and can answer none.
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

// Routes is the route table: every operation, once. Registration, validation,
// the document and the suites are derived from it.
func (a *Areas) Routes() []route.Op {
	return slices.Concat(a.Identity.Routes(), a.Catalog.Routes(), a.Venues.Routes(), a.Files.Routes(), a.Rooms.Routes(), a.Sales.Routes(), a.Receipts.Routes(), a.Waitlists.Routes(), a.Holders.Routes(),
		a.Refunds.Routes(), a.Gates.Routes(), a.Money.Routes(), a.Learning.Routes(), a.Outward.Routes(), a.People.Routes(), a.Operations.Routes())
}

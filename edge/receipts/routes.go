package receipts

import (
	"boxoffice/edge/route"
	"boxoffice/edge/statements"
	"boxoffice/engine"
)

// Routes returns the area's rows: to mark one order as paid, and to import a bank statement and list what it brought.
func (h *Handlers) Routes() []route.Op {
	return route.Table([]route.Group{
		{
			Prefix: "/api/v1/organizer/orders",
			Tag:    "Organizer orders",
			Auth:   route.Member | route.Key,
			Write:  route.OrdersWrite,
			Tier:   route.TierAdmin,
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/{id}/paid",
					ID:          "markPaid",
					Spends:      true,
					Summary:     "Say that the transfer for an order has come",
					Description: "For an order whose buyer pays by bank transfer: somebody has seen the money on the account. Less than the price leaves the order waiting, and what is more than the price becomes a refund that a person sends.",
					Errors:      []engine.Code{engine.OrderNotFound, engine.OrderNotPayable},
					Timeout:     providerTime,
					Handler:     route.Handle(h.markPaid),
				},
			},
		},
		// Only people may import statements. With an API key, a program could make many orders
		// count as paid.
		{
			Prefix: "/api/v1/organizer",
			Tag:    "Organizer orders",
			Auth:   route.Member,
			Read:   route.Manage,
			Write:  route.Manage,
			Tier:   route.TierAdmin,
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/statements",
					ID:          "importStatement",
					Spends:      true,
					Summary:     "Import a bank statement",
					Description: "The body is the file as the bank gives it, up to 4 MiB: CAMT.053, MT940, or the CSV of the German savings banks, of N26 or of Wise. Each line with an order's reference counts for that order, and a line that was imported before counts once.",
					MaxBody:     statements.MaxBytes,
					Timeout:     providerTime,
					Handler:     route.HandleRaw("application/octet-stream", h.importStatement),
				},
				{
					Method:      "GET",
					Path:        "/receipts",
					ID:          "listReceipts",
					Summary:     "List transfers that did not fit",
					Description: "Money that came by bank transfer and is less or more than its order asks for, in another currency, or without an order. A receipt leaves the list when what came for its order is what it asks for.",
					Handler:     route.Handle(h.listReceipts),
				},
			},
		},
	}...)
}

package gates

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes are the area's rows.
func (h *Handlers) Routes() []route.Op {
	return []route.Op{
		{Method: "POST", Path: "/api/v1/checkin/scan", ID: "scanTicket", Tag: "Check-in", Summary: "Scan a ticket at a gate", Auth: own, Scope: route.CheckinWrite, Tier: route.TierCheckin, Idempotency: route.ByActor, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(h.scanTicket)},
		{Method: "GET", Path: "/api/v1/checkin/event/{id}/stats", ID: "getGateStats", Tag: "Check-in", Summary: "Read the gates' counters", Auth: own, Scope: route.CheckinWrite, Tier: route.TierCheckin, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(h.gateStats)},
	}
}

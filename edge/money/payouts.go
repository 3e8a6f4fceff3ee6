package money

import (
	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// listPayouts answers with an empty list. Payouts can be read, but this service makes none yet.
func (h *Handlers) listPayouts(c *route.Call, in *api.ListPayouts) (*api.List[api.Payout], error) {
	if _, err := route.FindOrganization(c, in.OrgID); err != nil {
		return nil, err
	}
	if in.Cursor != "" { // there is never a second page, so no cursor is valid
		return nil, cursors.Invalid("cursor")
	}
	return &api.List[api.Payout]{Items: []api.Payout{}}, nil
}

// getPayout finds nothing, because no payout has been made.
func (h *Handlers) getPayout(c *route.Call, in *api.GetPayout) (*api.Payout, error) {
	if _, err := route.FindOrganization(c, in.OrgID); err != nil {
		return nil, err
	}
	return nil, &engine.Refusal{Code: engine.PayoutNotFound}
}

package identity

import (
	"strconv"

	"boxoffice/edge/api"
	"boxoffice/edge/limit"
	"boxoffice/edge/route"
	"boxoffice/persistence/apikeys"
)

// keyTiers are the tiers in which each API key has a bucket of its own. The tier of scans at a gate is not among
// them, because scans are counted by device.
var keyTiers = []route.Tier{route.TierPublic, route.TierStrict, route.TierAdmin}

// getLimits returns how much of their limits an organization and its keys have left: the rates of requests as
// this node counts them, what may still be written today, and the place for files.
func (h *Handlers) getLimits(c *route.Call, in *api.GetLimits) (*api.LimitsLeft, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	out := &api.LimitsLeft{Rates: []api.RateLeft{}, Quotas: []api.QuotaLeft{}}
	// c.Gate is nil in a deployment without rate limits, and the answer then has no rates.
	if c.Gate != nil {
		keys, err := h.APIKeys.ListUnrevoked(c.Context, org)
		if err != nil {
			return nil, err
		}
		out.Rates = ratesLeft(c, org, keys)
	}
	day, err := h.Quota.Look(c.Context, org, c.Now)
	if err != nil {
		return nil, err
	}
	if day != nil { // it is nil in a deployment that does not limit writes
		out.Quotas = append(out.Quotas, api.QuotaLeft{Name: "written_today", Limit: day.Most, Used: day.Used, ResetsAt: &day.Ends})
	}
	used, most, err := h.FilesOf(c.Context, org)
	if err != nil {
		return nil, err
	}
	out.Quotas = append(out.Quotas, api.QuotaLeft{Name: "files", Limit: most, Used: used})
	return out, nil
}

// ratesLeft reads, for each of keyTiers, the bucket that all keys share and the bucket of each key that works and is
// not a gate's. Reading does not count as a request. The figures are of this node alone, because every node keeps
// buckets of its own.
func ratesLeft(c *route.Call, org int64, keys []*apikeys.Key) (rates []api.RateLeft) {
	add := func(key *string, tier route.Tier, subject string, perMinute int) {
		left := c.Gate.Left(tier, subject, perMinute)
		rates = append(rates, api.RateLeft{KeyID: key, Tier: string(tier), Limit: left.Limit, Remaining: left.Remaining, ResetsAt: left.Resets.UTC()})
	}
	// All keys of an organization share limit.Ceiling times the limit of one key.
	for _, tier := range keyTiers {
		add(nil, tier, limit.OrganizationName(org), limit.Ceiling*route.Limits[tier].PerMinute)
	}
	for _, k := range keys {
		if !k.Live(c.Now) || k.Events != nil { // a gate's key is for scans
			continue
		}
		for _, tier := range keyTiers {
			most := route.Limits[tier].PerMinute
			// Only the strict tier can be raised or lowered for a single key.
			if tier == route.TierStrict && k.StrictPerMinute != nil {
				most = *k.StrictPerMinute
			}
			add(new(strconv.FormatInt(k.ID, 10)), tier, route.KeySubject(k.ID), most)
		}
	}
	return rates
}

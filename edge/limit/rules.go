package limit

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// RateRule is one rate limit of a node.
type RateRule struct {
	Name       string
	Most       int           // the most requests within the span, also at once
	Span       time.Duration // the time in which an empty bucket becomes full again
	CountedPer string        // whom the rule counts, in words for people
}

// These are the rules besides the tiers' rules. A caller can invent names such as an e-mail
// address, a checkout session or a device. A limit for such a name alone would be useless, so
// another rule also counts the network or the credential.
var (
	RuleEmail       = RateRule{"email", 200, time.Minute, "e-mail address whose password is tried, from all networks"}
	RuleHolders     = RateRule{"holders", 600, time.Minute, "client network, for all of its checkout sessions"}
	RuleRepeats     = RateRule{"repeats", 600, time.Minute, "client network without a credential, for requests with an Idempotency-Key"}
	RuleDevices     = RateRule{"devices", 12_000, time.Minute, "credential, for all of its devices"}
	RuleDeviceCodes = RateRule{"wrong-codes-device", 10, time.Minute, "credential and device, for wrong door codes"}
	RuleCodes       = RateRule{"wrong-codes-credential", 60, time.Minute, "credential, for wrong door codes"}
	RuleNetCodes    = RateRule{"wrong-codes-network", 60, time.Minute, "client network, for wrong door codes"}
	RulePromos      = RateRule{"wrong-promo-codes-credential", 20, promoSpan, "credential, for promo codes that do not exist"}
	RuleNetPromos   = RateRule{"wrong-promo-codes-network", 20, promoSpan, "client network, for promo codes that do not exist"}
	RuleTransfers   = RateRule{"transfers", 10, 24 * time.Hour, "client network and event, for orders that wait days for a bank transfer"}
	RuleExtensions  = RateRule{"extensions", 20, 10 * time.Minute, "client network and event, for unpaid orders that are given more time"}
	RuleTexts       = RateRule{"text_changes", 30, time.Minute, "event, ticket type, session, section or event's page, for changes of it"}
	RuleForeign     = RateRule{"foreign-codes", 600, time.Minute, "credential, for codes of other events that are journaled"}
)

// promoSpan is longer than the span of most rules, because a promo code is valid for weeks and can
// be guessed all that time.
const promoSpan = 10 * time.Minute

// RateRules returns the rate limits of requests, the tiers' limits first. They are not scaled yet: the node
// multiplies each by BOXOFFICE_LIMITS_SCALE (Scale).
func RateRules() []RateRule {
	var all []RateRule
	for _, tier := range slices.Sorted(maps.Keys(route.Limits)) {
		all = append(all, RateRule{string(tier), route.Limits[tier].PerMinute, time.Minute, route.Limits[tier].CountedPer})
	}
	return append(all, RuleEmail, RuleHolders, RuleRepeats, RuleDevices, RuleDeviceCodes, RuleCodes, RuleNetCodes, RulePromos, RuleNetPromos, RuleTransfers, RuleExtensions, RuleTexts, RuleForeign)
}

// Ceiling limits what the callers of one network, or the API keys of one organization, may send
// together: Ceiling times a tier's limit.
const Ceiling = 10

// Scale returns a limit multiplied by the configured scale and rounded up.
func Scale(perMinute int, scale float64) int {
	return int(min(math.Ceil(float64(perMinute)*scale), math.MaxInt32))
}

// Refuse makes the refusal of a request that a tier's bucket does not allow. A payment provider
// gets OVERLOADED instead of RATE_LIMITED, because providers send a notice again after that status.
func Refuse(tier route.Tier, v Verdict) error {
	code := engine.RateLimited
	if tier == route.TierProvider {
		code = engine.Overloaded
	}
	return &engine.Refusal{Code: code, Retry: int((v.Retry + time.Second - 1) / time.Second)}
}

// DeviceName returns the name by which a credential's device is counted.
func DeviceName(p *route.Principal, device string) string {
	return CredentialName(p) + "/" + device
}

// OrganizationName returns the name by which all API keys of an organization are counted together.
func OrganizationName(org int64) string { return "organization/" + strconv.FormatInt(org, 10) }

// CredentialName returns the name by which a signed-in user, or otherwise an API key, is counted.
func CredentialName(p *route.Principal) string {
	if p.Kinds.Has(route.User) {
		return route.UserSubject(p.User)
	}
	return route.KeySubject(p.Key)
}

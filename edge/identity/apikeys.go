package identity

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/persistence/apikeys"
)

// createAPIKey makes a key and answers with its secret. Only the hash of a secret is stored. A repeat of the command finds
// the key that it has made and draws it a new secret, because the first one is known to nobody any more. So what
// the node has cached about the key is forgotten.
func (h *Handlers) createAPIKey(c *route.Call, in *api.CreateAPIKey) (*api.ServerKeySecret, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	allow, issues := readAllowlist(in.IPAllowlist.Value)
	if issues = append(issues, checkExpiry(c, in.ExpiresAt)...); len(issues) > 0 {
		return nil, route.Invalid(issues...)
	}
	environment := cmp.Or(in.Environment, h.Env)
	var plaintext string
	k, err := h.APIKeys.Create(c.Context, c.CommandID(), &apikeys.Key{
		Org: org, Name: in.Name, Environment: environment, Scopes: scopes(in.Scopes),
		Allowlist: allow, ExpiresAt: in.ExpiresAt, CreatedBy: c.Principal.User,
	}, drawInto(&plaintext))
	if err != nil {
		return nil, keyRefusal(err)
	}
	h.forgetProofs(route.KeySubject(k.ID))
	return &api.ServerKeySecret{ServerKey: *keyView(k), Secret: plaintext}, nil
}

// listAPIKeys returns a page of an organization's keys, the newest first. No view of a key has its secret.
func (h *Handlers) listAPIKeys(c *route.Call, in *api.ListAPIKeys) (*api.List[*api.ServerKey], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	return view.ListByNumber(in.Cursor, in.Limit, func(before int64, limit int) ([]*apikeys.Key, error) {
		return h.APIKeys.List(c.Context, org, before, limit)
	}, func(k *apikeys.Key) int64 { return k.ID }, keyView)
}

// updateAPIKey changes the fields that the request names. A null allowlist or expiry takes the limit away, and
// null scopes are all scopes. The store refuses a change of a revoked key.
func (h *Handlers) updateAPIKey(c *route.Call, in *api.UpdateAPIKey) (*api.ServerKey, error) {
	org, id, err := h.ownKey(c, in.OrgID, in.KeyID)
	if err != nil {
		return nil, err
	}
	allow, issues := readAllowlist(in.IPAllowlist.Value)
	var expires *time.Time
	if in.ExpiresAt.Set && !in.ExpiresAt.Null {
		expires = &in.ExpiresAt.Value
	}
	if issues = append(issues, checkExpiry(c, expires)...); len(issues) > 0 {
		return nil, route.Invalid(issues...)
	}
	k, err := h.APIKeys.Update(c.Context, org, id, func(k *apikeys.Key) error {
		in.Name.Into(&k.Name)
		in.Status.Into(&k.Status)
		if in.Scopes.Set {
			k.Scopes = scopes(in.Scopes)
		}
		if in.IPAllowlist.Set {
			k.Allowlist = allow
		}
		if in.ExpiresAt.Set {
			k.ExpiresAt = expires
		}
		return nil
	})
	return h.keyChanged(k, err)
}

// rotateAPIKey gives a key a new secret. The old one is worth nothing from then on.
func (h *Handlers) rotateAPIKey(c *route.Call, in *api.ServerKeyID) (*api.ServerKeySecret, error) {
	org, id, err := h.ownKey(c, in.OrgID, in.KeyID)
	if err != nil {
		return nil, err
	}
	var plaintext string
	v, err := h.keyChanged(h.APIKeys.Rotate(c.Context, org, id, drawInto(&plaintext)))
	if err != nil {
		return nil, err
	}
	return &api.ServerKeySecret{ServerKey: *v, Secret: plaintext}, nil
}

// drawInto draws API keys, and leaves the plaintext of the last one, which is the one that was
// stored, in plaintext.
func drawInto(plaintext *string) apikeys.Draw {
	return func(environment string) (publicID string, hash [sha256.Size]byte) {
		*plaintext, publicID, hash = secrets.NewAPIKey(environment)
		return publicID, hash
	}
}

// revokeAPIKey ends a key for good. A repeat answers the revoked key, with no error.
func (h *Handlers) revokeAPIKey(c *route.Call, in *api.ServerKeyID) (*api.ServerKey, error) {
	org, id, err := h.ownKey(c, in.OrgID, in.KeyID)
	if err != nil {
		return nil, err
	}
	return h.keyChanged(h.APIKeys.Revoke(c.Context, org, id))
}

// limitAPIKey gives a key a limit of strict writes of its own, or with null the tier's again.
func (h *Handlers) limitAPIKey(c *route.Call, in *api.LimitAPIKey) (*api.ServerKey, error) {
	if !in.StrictPerMinute.Set {
		return nil, route.Invalid(route.Issue{Path: "strictPerMinute", Code: route.IssueRequired, Message: "is required"})
	}
	// No organization is looked up: only the platform's administrators set limits, of any organization's key.
	id, ok := route.ReadNumber(in.KeyID)
	if !ok {
		return nil, noKey
	}
	var perMinute *int
	if !in.StrictPerMinute.Null {
		perMinute = &in.StrictPerMinute.Value
	}
	return h.keyChanged(h.APIKeys.SetStrictLimit(c.Context, id, perMinute))
}

var noKey = &engine.Refusal{Code: engine.NotFound, Message: "No such API key."}

// ownKey reads a path that names one of an organization's keys, and makes sure that the caller may
// manage that organization's keys.
func (h *Handlers) ownKey(c *route.Call, orgID, keyID string) (org, id int64, err error) {
	if org, err = route.FindOrganization(c, orgID); err != nil {
		return 0, 0, err
	}
	id, ok := route.ReadNumber(keyID)
	if !ok {
		return 0, 0, noKey
	}
	return org, id, nil
}

// keyChanged answers a change of a key; a nil key means that there is no such key.
func (h *Handlers) keyChanged(k *apikeys.Key, err error) (*api.ServerKey, error) {
	if err != nil {
		return nil, keyRefusal(err)
	}
	if k == nil {
		return nil, noKey
	}
	h.forgetProofs(route.KeySubject(k.ID))
	return keyView(k), nil
}

// keyRefusal is what a client is told about the store's errors.
func keyRefusal(err error) error {
	switch {
	case errors.Is(err, apikeys.ErrTooMany):
		return &engine.Refusal{
			Code: engine.Conflict, Message: fmt.Sprintf("An organization has at most %d API keys; revoke one that you do not need.", apikeys.MaxPerOrg),
		}
	case errors.Is(err, apikeys.ErrRevoked):
		return &engine.Refusal{Code: engine.Conflict, Message: "The API key is revoked, which is final."}
	}
	return err
}

// scopes returns the scopes of a request, each once; nil means all.
func scopes(o route.Opt[[]string]) []string {
	if !o.Set || o.Null {
		return nil
	}
	return route.ScopesOf(o.Value).Names()
}

// checkExpiry returns an issue if a key would end before now.
func checkExpiry(c *route.Call, at *time.Time) []route.Issue {
	if at == nil || at.After(c.Now) {
		return nil
	}
	return []route.Issue{{Path: "expiresAt", Code: route.IssueMinimum, Message: "must be in the future"}}
}

// readAllowlist reads addresses and CIDR blocks, each once. It reports an issue for every text that is
// neither.
func readAllowlist(texts []string) (blocks []netip.Prefix, issues []route.Issue) {
	for i, text := range texts {
		p, ok := readBlock(text)
		switch {
		case !ok:
			issues = append(issues, route.Issue{
				Path: fmt.Sprintf("ipAllowlist[%d]", i), Code: route.IssueFormat, Message: "must be an IP address or a CIDR block",
			})
		case !slices.Contains(blocks, p):
			blocks = append(blocks, p)
		}
	}
	return blocks, issues
}

// readBlock reads an address or a CIDR block. An IPv4 address written as IPv6 becomes an IPv4 address,
// as the addresses of clients do.
func readBlock(text string) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, false
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	// The first 96 bits of such an address are the same for all of IPv4, so a shorter block reaches beyond IPv4.
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return netip.Prefix{}, false
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), true
}

// keyView is a key as its organization sees it: Display has the part of the key that is no secret.
func keyView(k *apikeys.Key) *api.ServerKey {
	prefix := secrets.APIKeyPrefix(k.Environment, k.PublicID)
	v := &api.ServerKey{
		ID: strconv.FormatInt(k.ID, 10), OrganizationID: strconv.FormatInt(k.Org, 10), Name: k.Name, Prefix: prefix, Display: prefix + "…",
		Environment: k.Environment, IPAllowlist: make([]string, 0, len(k.Allowlist)), Status: k.Status,
		ExpiresAt: view.UTC(k.ExpiresAt), LastUsedAt: view.UTC(k.LastUsedAt), StrictPerMinute: k.StrictPerMinute,
		CreatedAt: k.CreatedAt.UTC(), UpdatedAt: k.UpdatedAt.UTC(),
	}
	if k.Scopes != nil {
		v.Scopes = route.Some(k.Scopes)
	}
	for _, p := range k.Allowlist {
		text := p.String()
		if p.IsSingleIP() {
			text = p.Addr().String()
		}
		v.IPAllowlist = append(v.IPAllowlist, text)
	}
	return v
}

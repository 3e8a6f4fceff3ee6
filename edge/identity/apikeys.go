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

// createAPIKey makes a key and answers with its secret. The table keeps only the hash of the
// secret, so this answer is the only place where a client ever reads it. A repeat of the command,
// after a lost answer, finds the key that was made and draws a new secret for it, because nobody
// knows the first one.
func (h *Handlers) createAPIKey(c *route.Call, in *api.CreateAPIKey) (*api.ServerKeySecret, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	allow, issues := readAllowlist(in.IPAllowlist.Value)
	if issues = append(issues, checkExpiry(c, in.ExpiresAt)...); len(issues) > 0 {
		return nil, route.Invalid(issues...)
	}
	// A key works in one environment only. A request that names no environment gets a key of this deployment's.
	environment := cmp.Or(in.Environment, h.Env)
	var plaintext string
	k, err := h.APIKeys.Create(c.Context, c.CommandID(), &apikeys.Key{
		Org: org, Name: in.Name, Environment: environment, Scopes: scopes(in.Scopes),
		Allowlist: allow, ExpiresAt: in.ExpiresAt, CreatedBy: c.Principal.User,
	}, drawInto(&plaintext))
	if err != nil {
		return nil, keyRefusal(err)
	}
	// After a repeat the first secret no longer works. This node drops at once the proof that it may have of that
	// secret (type proof); the other nodes read the change from the table.
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

// updateAPIKey changes the fields that the request names. A null allowlist or expiry removes that restriction,
// and null scopes mean all scopes. The store refuses a change of a revoked key.
func (h *Handlers) updateAPIKey(c *route.Call, in *api.UpdateAPIKey) (*api.ServerKey, error) {
	// A change may add scopes and raise limits as well as take away from them, but the key stays in its
	// organization: ownKey has checked the caller's right to manage that organization.
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
	// The store runs this function while it holds the key's row, so two updates cannot lose each
	// other's fields. The function must only set fields.
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

// rotateAPIKey gives a key a new secret and a new public prefix. The old secret stops working: on
// this node at once, on the others within a second.
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

// drawInto makes the function that draws a key for the store. The store may call it again if another key already
// has the public id. plaintext then holds the last key drawn, which is the one that was stored.
func drawInto(plaintext *string) apikeys.Draw {
	return func(environment string) (publicID string, hash [sha256.Size]byte) {
		*plaintext, publicID, hash = secrets.NewAPIKey(environment)
		return publicID, hash
	}
}

// revokeAPIKey makes a key unusable for good. A repeat answers with the revoked key and no error, so a client
// may send the request again after a lost answer.
func (h *Handlers) revokeAPIKey(c *route.Call, in *api.ServerKeyID) (*api.ServerKey, error) {
	org, id, err := h.ownKey(c, in.OrgID, in.KeyID)
	if err != nil {
		return nil, err
	}
	return h.keyChanged(h.APIKeys.Revoke(c.Context, org, id))
}

// limitAPIKey sets how many requests of the strict tier a key may make in a minute. A null sets it back to the
// limit of the tier; a missing field is refused. The key may be any organization's.
func (h *Handlers) limitAPIKey(c *route.Call, in *api.LimitAPIKey) (*api.ServerKey, error) {
	// The field may be null but must not be missing, because a request that forgot it must not remove the key's
	// limit.
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

// noKey also answers requests for a key of another organization, so that nobody learns which keys exist.
var noKey = &engine.Refusal{Code: engine.NotFound, Message: "No such API key."}

// ownKey reads the organization and the key from a path and makes sure that the caller may manage
// that organization. It does not check that the key exists: the store looks it up under the
// organization, and finds no key of another one.
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

// keyChanged makes the answer to a change of a key from what the store returned. A nil key means that there is
// no such key. After a change this node checks the key again at its next request.
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

// keyRefusal translates the store's errors into refusals that a client can act on. It passes every other error
// on.
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

// scopes returns the scopes that a request asks for, each once. A nil result means all scopes, also
// those that later versions add; an empty list means none.
func scopes(o route.Opt[[]string]) []string {
	if !o.Set || o.Null {
		return nil
	}
	return route.ScopesOf(o.Value).Names()
}

// checkExpiry returns an issue if a key would have ended before it could be used. A nil time means
// that the key never ends.
func checkExpiry(c *route.Call, at *time.Time) []route.Issue {
	if at == nil || at.After(c.Now) {
		return nil
	}
	return []route.Issue{{Path: "expiresAt", Code: route.IssueMinimum, Message: "must be in the future"}}
}

// readAllowlist reads the addresses and CIDR blocks from which a key may be used, and drops repeats. It reports
// an issue with the position of every text that is neither an address nor a block, so that a client can correct
// all of them at once.
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

// readBlock reads an address or a CIDR block. A single address becomes a block of one. An IPv4
// address written as IPv6 becomes an IPv4 address, because the addresses of clients are normalized
// in the same way and the two are compared.
func readBlock(text string) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		// A zone names a network interface of one machine, so it means nothing to a server.
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, false
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	// An IPv4 address in IPv6 form has 96 fixed bits before it. A block with a shorter prefix would contain
	// addresses that are not IPv4, so it is refused.
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return netip.Prefix{}, false
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	// Masking clears the bits after the prefix, so that two spellings of one block are equal.
	return p.Masked(), true
}

// keyView shows a key to its organization. It shows the key's prefix, which is no secret, so that people can
// tell their keys apart.
func keyView(k *apikeys.Key) *api.ServerKey {
	prefix := secrets.APIKeyPrefix(k.Environment, k.PublicID)
	v := &api.ServerKey{
		ID: strconv.FormatInt(k.ID, 10), OrganizationID: strconv.FormatInt(k.Org, 10), Name: k.Name, Prefix: prefix, Display: prefix + "…",
		Environment: k.Environment, IPAllowlist: make([]string, 0, len(k.Allowlist)), Status: k.Status,
		ExpiresAt: view.UTC(k.ExpiresAt), LastUsedAt: view.UTC(k.LastUsedAt), StrictPerMinute: k.StrictPerMinute,
		CreatedAt: k.CreatedAt.UTC(), UpdatedAt: k.UpdatedAt.UTC(),
	}
	// The field stays null for a key with all scopes, because an empty list would mean that the key may do
	// nothing.
	if k.Scopes != nil {
		v.Scopes = route.Some(k.Scopes)
	}
	for _, p := range k.Allowlist {
		text := p.String()
		// A block of one address is shown as that address, without the length of a prefix.
		if p.IsSingleIP() {
			text = p.Addr().String()
		}
		v.IPAllowlist = append(v.IPAllowlist, text)
	}
	return v
}

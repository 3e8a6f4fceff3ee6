package identity

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/persistence/apikeys"
)

// proofLife and proofMax bound how long a proof is trusted and how much memory the proofs take. So an outage
// cannot keep an old proof valid, and a flood of valid credentials cannot use up the memory.
const (
	proofLife = time.Minute // longest time that a proof is trusted
	proofMax  = 100_000     // most proofs that are kept
	keyPrefix = "vt_"
	jwtPrefix = "eyJ" // every JWT begins with this, the base64url of its header's first two characters {"
)

// noBearer refuses a text that is neither a JWT nor an API key. Most often it is an order's access
// token in the wrong place, so the message says where that belongs.
var noBearer = &engine.Refusal{
	Code:    engine.Unauthorized,
	Message: "This is neither a user's access token nor an API key. An order's access token is no Bearer: send it as token, in the query or in the body.",
}

// proof is the result of checking a credential. It is trusted for proofLife at most, not after the credential
// has expired, and only while stillHolds says so (watch.go).
type proof struct {
	principal route.Principal
	allow     []netip.Prefix // addresses that the credential may be used from; empty: all
	// until is when the credential expires. It is zero if the credential never does.
	until time.Time
	at    time.Time // when its making began, before the tables were read
	rests []string  // the subjects whose changes end it
}

// Authenticate finds out who sends a request, by a user's JWT or an organization's API key. It
// passes on a token in the query unchecked: only the handler knows to which order such a token
// belongs.
func (h *Handlers) Authenticate(ctx context.Context, c route.Credentials) (route.Principal, error) {
	if c.Bearer == "" {
		return route.Principal{Kinds: route.QueryToken, Token: c.Token}, nil
	}
	// A longer text is none of our tokens, and hashing it would cost time.
	if len(c.Bearer) > maxToken {
		return route.Principal{}, &engine.Refusal{Code: engine.Unauthorized}
	}
	sum := sha256.Sum256([]byte(c.Bearer))
	key := string(sum[:])
	// The tables are read only if there is no valid proof. A proof that is older than a change is made again.
	p, ok := h.proofs.Get(key)
	if !ok || !h.stillHolds(p, c.Now) {
		var err error
		if p, err = h.prove(ctx, c, sum); err != nil {
			return route.Principal{}, err
		}
		h.proofs.SetWithTTL(key, p, 1, proofLife)
	}
	// The time is checked at each request: a proof outlives its credential by up to proofLife in
	// the cache.
	if !p.until.IsZero() && !c.Now.Before(p.until) {
		return route.Principal{}, &engine.Refusal{Code: engine.Unauthorized}
	}
	// The allowlist is checked at each request too, because one proof serves requests from
	// different addresses.
	if len(p.allow) > 0 && !route.Within(p.allow, c.Client) {
		return route.Principal{}, engine.Refuse(engine.Forbidden, route.Reason{Reason: "IP_NOT_ALLOWED"})
	}
	if p.principal.Kinds.Has(route.Key) {
		h.used.note(p.principal.Key, c.Now)
	}
	// The principal is a copy, so that the token of this request does not get into the shared proof.
	principal := p.principal
	principal.Token = c.Token
	return principal, nil
}

// prove checks a credential against the tables. It notes the time before it reads them, so that a change during
// the reading counts as later than the proof and ends it.
func (h *Handlers) prove(ctx context.Context, c route.Credentials, sum [sha256.Size]byte) (*proof, error) {
	// This is the clock of the process and not the time of the request, because changes are noted by the same
	// clock (forgetProofs).
	at := time.Now()
	var p *proof
	var err error
	switch {
	case strings.HasPrefix(c.Bearer, keyPrefix):
		p, err = h.proveKey(ctx, c, sum)
	case strings.HasPrefix(c.Bearer, jwtPrefix):
		p, err = h.proveUser(ctx, c)
	default:
		return nil, noBearer
	}
	if err == nil {
		p.at = at
	}
	return p, err
}

// proveUser checks an access token and that its session still exists, and reads what its user may
// do. A valid signature alone is not enough, because sessions end before their tokens do.
func (h *Handlers) proveUser(ctx context.Context, c route.Credentials) (*proof, error) {
	cl, err := h.parseAccess(ctx, c.Bearer)
	if err != nil {
		return nil, err
	}
	user, err := strconv.ParseInt(cl.Subject, 10, 64)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.Unauthorized}
	}
	s, err := h.Accounts.Principal(ctx, user, cl.Session)
	if err != nil {
		return nil, err
	}
	// Alive is false for a session that has ended, was revoked or is not this user's.
	if !s.Alive {
		return nil, &engine.Refusal{Code: engine.Unauthorized}
	}
	p := &proof{
		principal: route.Principal{Kinds: route.User, User: user, Email: s.Email, EmailProven: s.EmailProven, Session: cl.Session},
		// The signature check allows for clocks that differ by accessLeeway, so the proof may last that much
		// longer too.
		until: cl.ExpiresAt.Add(accessLeeway),
		// Changes of the session, of the user's memberships and of the signing keys all end this
		// proof.
		rests: []string{"session/" + cl.Session, "user/" + cl.Subject, "signing"},
	}
	for i, org := range s.Orgs {
		p.principal.Kinds |= route.Member
		p.principal.Grants = append(p.principal.Grants, route.Grant{Org: org, Role: s.Roles[i], Scopes: route.RoleScopes(s.Roles[i])})
	}
	if s.PlatformAdmin {
		p.principal.Kinds |= route.Admin
	}
	return p, nil
}

// proveKey checks an API key of this environment. A key of the other environment gets a special answer, because
// developers mix the two up. All other keys that prove nothing get the same answer.
func (h *Handlers) proveKey(ctx context.Context, c route.Credentials, sum [sha256.Size]byte) (*proof, error) {
	env, publicID, ok := secrets.ParseAPIKey(c.Bearer)
	if !ok {
		return nil, &engine.Refusal{Code: engine.Unauthorized}
	}
	if env != h.Env {
		return nil, &engine.Refusal{Code: engine.WrongEnv}
	}
	k, err := h.APIKeys.ByPublicID(ctx, publicID)
	if err != nil {
		return nil, err
	}
	// All conditions lead to one answer, so that nobody learns which of them failed.
	if k == nil || !k.Proves(sum) || k.Environment != env || !k.Live(c.Now) {
		return nil, &engine.Refusal{Code: engine.Unauthorized}
	}
	return &proof{principal: keyPrincipal(k), allow: k.Allowlist, until: expiryOf(k), rests: []string{fmt.Sprintf("key/%d", k.ID)}}, nil
}

// keyPrincipal returns what a key may do: in its own organization only, and a gate's key only at
// the events that it is bound to.
func keyPrincipal(k *apikeys.Key) route.Principal {
	// A key without a list of scopes has all of them.
	scopes := route.AllScopes
	if k.Scopes != nil {
		scopes = route.ScopesOf(k.Scopes)
	}
	p := route.Principal{Kinds: route.Key, Key: k.ID, Grants: []route.Grant{{Org: k.Org, Scopes: scopes}}}
	if k.StrictPerMinute != nil {
		p.Strict = *k.StrictPerMinute
	}
	if k.Events != nil {
		p.Bound = &route.Binding{Events: k.Events, Gate: k.Gate}
	}
	return p
}

// expiryOf returns when an API key ends, or the zero time if it never ends.
func expiryOf(k *apikeys.Key) time.Time {
	if k.ExpiresAt == nil {
		return time.Time{}
	}
	return *k.ExpiresAt
}

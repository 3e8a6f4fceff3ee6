package edge

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/crypto/argon2"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/persistence/accounts"
)

const (
	accessLife    = 15 * time.Minute
	accessLeeway  = 30 * time.Second
	refreshLife   = 30 * 24 * time.Hour
	principalLife = time.Minute // verified claims are remembered this long at most
	issuer        = "boxoffice"
	maxToken      = 4 << 10
)

// Password hashing (decisions.md section 1): argon2id, 19 MiB, two passes, one
// lane; as many at once as there are cores, and a short queue before 503.
const (
	argonMemory = 19 << 10 // KiB
	argonTime   = 2
	argonKey    = 32
	argonSalt   = 16
	hashWait    = 2 * time.Second
)

var hashesAtOnce = runtime.GOMAXPROCS(0)

// claims are those of an access token.
type claims struct {
	Session string `json:"sid"`
	jwt.RegisteredClaims
}

// Authenticate proves an access token or takes an order token along for the
// handler to match.
func (d *Desk) Authenticate(ctx context.Context, op *route.Op, c Credentials) (route.Principal, error) {
	if c.Bearer == "" || !op.Auth.Has(route.Organizer) {
		if c.OrderToken == "" {
			return route.Principal{}, &engine.Refusal{Code: engine.Unauthorized}
		}
		return route.Principal{Kind: route.OrderToken, OrderToken: c.OrderToken}, nil
	}
	if len(c.Bearer) > maxToken {
		return route.Principal{}, &engine.Refusal{Code: engine.Unauthorized}
	}
	sum := sha256.Sum256([]byte(c.Bearer))
	key := string(sum[:])
	p, ok := d.principals.Get(key)
	if !ok {
		var life time.Duration
		var err error
		if p, life, err = d.prove(ctx, c.Bearer); err != nil {
			return route.Principal{}, err
		}
		d.principals.SetWithTTL(key, p, 1, life)
	}
	p.OrderToken = c.OrderToken
	return p, nil
}

// prove checks an access token and looks its user's organizations up.
func (d *Desk) prove(ctx context.Context, token string) (route.Principal, time.Duration, error) {
	var cl claims
	_, err := jwt.ParseWithClaims(token, &cl, func(*jwt.Token) (any, error) { return d.signing.Public(), nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithExpirationRequired(),
		jwt.WithIssuer(issuer), jwt.WithAudience(d.Env), jwt.WithLeeway(accessLeeway))
	if err != nil || cl.Session == "" {
		return route.Principal{}, 0, &engine.Refusal{Code: engine.Unauthorized}
	}
	user, err := strconv.ParseInt(cl.Subject, 10, 64)
	if err != nil {
		return route.Principal{}, 0, &engine.Refusal{Code: engine.Unauthorized}
	}
	member, err := d.Accounts.Memberships(ctx, user)
	if err != nil {
		return route.Principal{}, 0, err
	}
	p := route.Principal{Kind: route.Organizer, UserID: cl.Subject, SessionID: cl.Session}
	for _, m := range member {
		p.OrgIDs = append(p.OrgIDs, strconv.FormatInt(m.Org.ID, 10))
	}
	return p, min(principalLife, time.Until(cl.ExpiresAt.Time)), nil
}

// belongs says whether the caller is of the organization.
func belongs(p route.Principal, org int64) bool {
	return p.Kind == route.Organizer && slices.Contains(p.OrgIDs, strconv.FormatInt(org, 10))
}

// organization is the one that the caller acts for: the one named, or the only
// one there is.
func organization(p route.Principal, named ...string) (int64, error) {
	org := ""
	for _, n := range named {
		if n != "" && org != "" && n != org {
			return 0, route.Invalid(route.Issue{Path: "orgId", Code: route.IssueDuplicate, Message: "is not the same in query and body"})
		}
		if n != "" {
			org = n
		}
	}
	if org == "" && len(p.OrgIDs) == 1 {
		org = p.OrgIDs[0]
	}
	if org == "" {
		return 0, route.Invalid(route.Issue{Path: "orgId", Code: route.IssueRequired, Message: "is required: you belong to several organizations"})
	}
	if !slices.Contains(p.OrgIDs, org) {
		return 0, &engine.Refusal{Code: engine.NotFound, Message: "No such organization."}
	}
	id, _ := numeric(org)
	return id, nil
}

func (d *Desk) register(c *route.Call, in *api.Register) (*api.Session, error) {
	hash, err := d.hash(c.Context, in.Password)
	if err != nil {
		return nil, err
	}
	name := in.OrganizationName
	if name == "" {
		if name = strings.TrimSpace(in.FirstName + " " + in.LastName); name == "" {
			name, _, _ = strings.Cut(in.Email, "@")
		}
	}
	u, err := d.Accounts.Register(c.Context, accounts.Registration{
		Email: normalEmail(in.Email), PasswordHash: hash, FirstName: in.FirstName, LastName: in.LastName,
		Phone: in.Phone, Organization: name,
	})
	if errors.Is(err, accounts.ErrEmailTaken) {
		return nil, &engine.Refusal{Code: engine.EmailTaken}
	}
	if err != nil {
		return nil, err
	}
	return d.session(c, u)
}

func (d *Desk) login(c *route.Call, in *api.Login) (*api.Session, error) {
	u, err := d.Accounts.UserByEmail(c.Context, normalEmail(in.Email))
	if err != nil {
		return nil, err
	}
	hash := dummyHash // an unknown address takes as long as a known one
	if u != nil {
		hash = u.PasswordHash
	}
	same, err := d.matches(c.Context, hash, in.Password)
	if err != nil {
		return nil, err
	}
	if u == nil || !same {
		return nil, &engine.Refusal{Code: engine.Unauthorized, Message: "The e-mail or the password is wrong."}
	}
	return d.session(c, u)
}

// session opens a session and signs its access token.
func (d *Desk) session(c *route.Call, u *accounts.User) (*api.Session, error) {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	refresh := base64.RawURLEncoding.EncodeToString(secret[:])
	sid, err := d.Accounts.CreateSession(c.Context, u.ID, sha256.Sum256([]byte(refresh)), c.Now.Add(refreshLife))
	if err != nil {
		return nil, err
	}
	access, err := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims{
		Session: sid,
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Audience: jwt.ClaimStrings{d.Env}, Subject: strconv.FormatInt(u.ID, 10),
			IssuedAt: jwt.NewNumericDate(c.Now), ExpiresAt: jwt.NewNumericDate(c.Now.Add(accessLife)),
		},
	}).SignedString(d.signing)
	if err != nil {
		return nil, fmt.Errorf("sign access token: %w", err)
	}
	member, err := d.Accounts.Memberships(c.Context, u.ID)
	if err != nil {
		return nil, err
	}
	return &api.Session{
		User: userView(u, member), AccessToken: access, RefreshToken: refresh,
		ExpiresIn: int(accessLife / time.Second),
	}, nil
}

func userView(u *accounts.User, member []accounts.Membership) api.User {
	v := api.User{
		ID: u.PublicID, Email: u.Email, FirstName: u.FirstName, LastName: u.LastName,
		Phone: optional(u.Phone), Organizations: []api.Organization{}, CreatedAt: u.CreatedAt.UTC(),
	}
	for _, m := range member {
		v.Organizations = append(v.Organizations, api.Organization{
			ID: strconv.FormatInt(m.Org.ID, 10), PublicID: m.Org.PublicID, Name: m.Org.Name, Slug: m.Org.Slug, Role: m.Role,
		})
	}
	return v
}

// normalEmail is the form in which addresses are compared.
func normalEmail(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// hash is the stored form of a password: $argon2id$<salt>$<key>.
func (d *Desk) hash(ctx context.Context, password string) (string, error) {
	var salt [argonSalt]byte
	_, _ = rand.Read(salt[:]) // never fails
	key, err := d.stretch(ctx, password, salt[:])
	if err != nil {
		return "", err
	}
	return "$argon2id$" + base64.RawStdEncoding.EncodeToString(salt[:]) + "$" + base64.RawStdEncoding.EncodeToString(key), nil
}

var dummyHash = "$argon2id$" + base64.RawStdEncoding.EncodeToString(make([]byte, argonSalt)) +
	"$" + base64.RawStdEncoding.EncodeToString(make([]byte, argonKey))

func (d *Desk) matches(ctx context.Context, hash, password string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 4 || parts[1] != "argon2id" {
		return false, errors.New("auth: a stored password hash is malformed")
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[2])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[3])
	if err := errors.Join(err1, err2); err != nil {
		return false, fmt.Errorf("auth: a stored password hash is malformed: %w", err)
	}
	got, err := d.stretch(ctx, password, salt)
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1, err
}

// stretch hashes a password when a core is free for it. Who waits too long is
// told to come back: hashing never starves a sale.
func (d *Desk) stretch(ctx context.Context, password string, salt []byte) ([]byte, error) {
	wait := time.NewTimer(hashWait)
	defer wait.Stop()
	select {
	case d.hashing <- struct{}{}:
		defer func() { <-d.hashing }()
		return argon2.IDKey([]byte(password), salt, argonTime, argonMemory, 1, argonKey), nil
	case <-wait.C:
		return nil, &engine.Refusal{Code: engine.Overloaded}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

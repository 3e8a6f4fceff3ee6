package people

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
)

// field is a value of one field, and the issue that it is refused with; "" when
// it is accepted and answered unchanged.
type field struct {
	name  string
	value any
	path  string // of the issue, if not the name
	code  string
}

func TestMe(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Call("GET", "/users/me", nil).Is(401, "UNAUTHORIZED")
	body := nodetest.Object{"email": "Ada@example.org", "password": "correct horse", "firstName": "Ada", "lastName": "Moss", "phone": "+49 30 1", "organizationName": "Club"}
	ada := s.As(s.Patient("POST", "/auth/register", body).Is(201, "").Str("accessToken"))
	me := ada.Own("GET", "/users/me", nil).Is(200, "")
	require.Equal(t, nodetest.Words("id email fullName phone locale twoFactorEnabled organizations createdAt"), me.Keys(""))
	require.Equal(t, nodetest.Words("id name role"), me.Keys("organizations.0"))
	for name, want := range map[string]any{"email": "ada@example.org", "fullName": "Ada Moss", "phone": "+49 30 1", "locale": nil, "twoFactorEnabled": false} {
		require.Equal(t, want, me.Data(name), name)
	}
	require.Equal(t, "Club", me.Str("organizations.0.name"))
	require.Equal(t, "owner", me.Str("organizations.0.role"))

	buyer := s.Buyer("bob@example.org").Own("GET", "/users/me", nil).Is(200, "")
	require.Equal(t, "Grace Hopper", buyer.Str("fullName"))
	require.Equal(t, []any{}, buyer.Data("organizations"))
}

func TestMembers(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	path := s.Members()
	for _, f := range []field{
		{"email", nodetest.Absent, "", "required"},
		{"email", "x", "", "format"},
		{"role", nodetest.Absent, "", "required"},
		{"role", "boss", "", "enum"},
		{"name", "", "", "min_length"},
		{"name", nodetest.Text(101), "", "max_length"},
	} {
		s.Own("POST", path, nodetest.With(nodetest.Object{"email": "bob@example.org", "role": "member"}, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	began := time.Now()
	retry := append(s.Bearer(), "Idempotency-Key", uuid.NewString())
	body := nodetest.Object{"email": "Bob@Example.org", "role": "member", "name": "Bob Hill"}
	bob := s.Call("POST", path, body, retry...).Is(201, "")
	require.Equal(t, nodetest.Words("userId email fullName role joinedAt"), bob.Keys(""))
	require.Equal(t, "bob@example.org", bob.Str("email"))
	require.Equal(t, "Bob Hill", bob.Str("fullName"))
	invitation := s.Mail(t, "bob@example.org", "invitation", began)
	require.Contains(t, invitation.Text, "owner")
	_, err := s.Pool().Exec(t.Context(), `DELETE FROM idempotency`)
	require.NoError(t, err)
	require.Equal(t, bob.Body, s.Call("POST", path, body, retry...).Is(201, "").Body, "a retry finds the member")
	s.Own("POST", path, body).Is(409, "CONFLICT")

	list := s.Own("GET", path+"?limit=1", nil).Is(200, "")
	require.Len(t, list.Data("items"), 1)
	require.Equal(t, "owner@example.org", list.Str("items.0.email"))
	list = s.Own("GET", path+"?cursor="+list.Str("nextCursor"), nil).Is(200, "")
	require.Equal(t, "bob@example.org", list.Str("items.0.email"))
	require.Nil(t, list.Data("nextCursor"))

	t.Log("Bob signs in with a code and sells, but manages nothing and sees no money")
	staff := s.Buyer("bob@example.org")
	require.Equal(t, "member", staff.Own("GET", "/users/me", nil).Is(200, "").Str("organizations.0.role"))
	staff.Own("POST", "/organizer/events", nodetest.EventBody()).Is(201, "")
	manage := nodetest.Object{"required": []string{"manage"}, "granted": route.RoleScopes("member").Names()}
	staff.Own("GET", path, nil).Refused(403, "FORBIDDEN", manage)
	staff.Own("POST", path, nodetest.Object{"email": "eve@example.org", "role": "member"}).Refused(403, "FORBIDDEN", manage)
	staff.Own("DELETE", path+"/"+bob.Str("userId"), nil).Refused(403, "FORBIDDEN", manage)
	staff.Own("GET", strings.TrimSuffix(path, "/members"), nil).Is(403, "FORBIDDEN")
	staff.Own("POST", s.Keys(), nodetest.Object{"name": "Mine"}).Refused(403, "FORBIDDEN", manage)

	t.Log("as an admin he manages, but makes no owner")
	require.Equal(t, "admin", s.Own("PUT", path+"/"+bob.Str("userId"), nodetest.Object{"role": "admin"}).Is(200, "").Str("role"))
	staff.Own("GET", path, nil).Is(200, "")
	staff.Own("POST", s.Keys(), nodetest.Object{"name": "Mine"}).Is(201, "")
	eve := staff.Own("POST", path, nodetest.Object{"email": "eve@example.org", "role": "member"}).Is(201, "").Str("userId")
	owner := s.Own("GET", "/users/me", nil).Str("id")
	for _, refused := range []nodetest.Answer{
		staff.Own("POST", path, nodetest.Object{"email": "kim@example.org", "role": "owner"}),
		staff.Own("PUT", path+"/"+eve, nodetest.Object{"role": "owner"}),
		staff.Own("PUT", path+"/"+owner, nodetest.Object{"role": "member"}),
		staff.Own("DELETE", path+"/"+owner, nil),
	} {
		refused.Is(403, "FORBIDDEN")
	}

	t.Log("who is removed is out at once")
	require.Equal(t, bob.Str("userId"), s.Own("DELETE", path+"/"+bob.Str("userId"), nil).Is(200, "").Str("userId"))
	staff.Own("GET", path, nil).Is(403, "FORBIDDEN") // he belongs to no organization
	staff.Own("GET", "/users/me", nil).Is(200, "")
	s.Own("DELETE", path+"/"+bob.Str("userId"), nil).Is(404, "NOT_FOUND")

	t.Log("another organization's members are not there")
	other := s.Register("kim@example.org")
	other.Own("GET", path, nil).Is(404, "NOT_FOUND")
	other.Own("DELETE", path+"/"+eve, nil).Is(404, "NOT_FOUND")
	other.Own("DELETE", other.Members()+"/"+eve, nil).Is(404, "NOT_FOUND")
	for _, id := range []string{"x", "1", uuid.NewString()} {
		s.Own("PUT", path+"/"+id, nodetest.Object{"role": "member"}).Is(404, "NOT_FOUND")
	}
}

func TestLastOwner(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	path, me := s.Members(), s.Own("GET", "/users/me", nil).Str("id")
	a := s.Own("DELETE", path+"/"+me, nil).Is(409, "CONFLICT")
	require.Contains(t, a.Get("error.message"), "owner")
	s.Own("PUT", path+"/"+me, nodetest.Object{"role": "admin"}).Is(409, "CONFLICT")

	second := s.Invite("bob@example.org", "owner")
	bob := s.Buyer("bob@example.org")
	t.Log("both leave at once: one stays")
	var wg sync.WaitGroup
	statuses := make([]int, 2)
	wg.Go(func() { statuses[0] = s.Own("DELETE", path+"/"+me, nil).Status })
	wg.Go(func() { statuses[1] = bob.Own("DELETE", path+"/"+second, nil).Status })
	wg.Wait()
	require.ElementsMatch(t, []int{200, 409}, statuses)
}

// Somebody who registered another person's address does not get what that person is invited
// to.
func TestInvitationOfARegisteredAddress(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	path := s.Members()
	squatter := s.Register("bob@example.org")
	s.Invite("bob@example.org", "admin")
	squatter.Own("GET", path, nil).Is(404, "NOT_FOUND")
	require.Len(t, squatter.Own("GET", "/users/me", nil).Data("organizations"), 1)
	bob := s.Buyer("bob@example.org")
	bob.Own("GET", path, nil).Is(200, "")
	require.Len(t, bob.Own("GET", "/users/me", nil).Data("organizations"), 2)
	bob.Own("POST", "/organizer/events", nodetest.EventBody()).Invalid("orgId", "required")
	bob.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"orgId": s.Org()})).Is(201, "")
	squatter.Own("GET", path, nil).Is(401, "UNAUTHORIZED") // his session has ended with the proof
}

func TestOrganization(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	path := "/organizer/organizations/" + s.Org()
	a := s.Own("GET", path, nil).Is(200, "")
	require.Equal(t, nodetest.Words("organization wallets"), a.Keys(""))
	require.Equal(t, nodetest.Words(`id publicId name slug description website contactEmail contactPhone logoUrl type verified status socialLinks
		pageTheme embedOrigins createdAt`), a.Keys("organization"))
	require.Equal(t, s.Org(), a.Str("organization.id"))
	require.Equal(t, "owner", a.Str("organization.name"))
	require.Equal(t, nodetest.Object{}, a.Data("organization.socialLinks"))
	require.Equal(t, []any{}, a.Data("organization.embedOrigins"))
	require.IsType(t, []any{}, a.Data("wallets"))

	reader := s.As(s.Key(nodetest.Object{"scopes": []string{"payouts:read"}}).Str("secret"))
	require.Equal(t, a.Body, reader.Own("GET", path, nil).Is(200, "").Body)
	s.As(s.Key(nodetest.Object{"scopes": []string{"events:read"}}).Str("secret")).Own("GET", path, nil).
		Refused(403, "FORBIDDEN", nodetest.Object{"required": []string{"payouts:read"}, "granted": []string{"events:read"}})
	other := s.Register(s.Email("bob"))
	for _, id := range []string{other.Org(), "999999", "0", "x", a.Str("organization.publicId")} {
		s.Own("GET", "/organizer/organizations/"+id, nil).Is(404, "NOT_FOUND")
		reader.Own("GET", "/organizer/organizations/"+id, nil).Is(404, "NOT_FOUND")
	}
	s.Call("GET", path, nil).Is(401, "UNAUTHORIZED")
}

// TestEmbedOrigins holds the list of sites that may frame an organization's events, and what the page says of it.
func TestEmbedOrigins(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	path := "/organizer/organizations/" + s.Org()
	event, _ := s.Sell(nil, nodetest.TypeBody(25, 100))
	slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
	framed := func(page string) (policy, header string) {
		res, _ := s.Get(page)
		return res.Header.Get("Content-Security-Policy"), res.Header.Get("X-Frame-Options")
	}
	policy, header := framed("/embed/e/" + slug)
	require.Contains(t, policy, "frame-ancestors 'none'")
	require.Equal(t, "DENY", header)

	s.Own("PUT", path, nodetest.Object{"embedOrigins": []string{"https://Bücher.example/", "http://localhost:3000", "https://a.example:443", "https://a.example"}}).Is(200, "")
	list := s.Own("GET", path, nil).Is(200, "").Data("organization.embedOrigins")
	require.Equal(t, []any{"http://localhost:3000", "https://a.example", "https://xn--bcher-kva.example"}, list)
	s.Becomes("", func() string {
		policy, header = framed("/embed/e/" + slug)
		return header
	})
	require.Contains(t, policy, "frame-ancestors http://localhost:3000 https://a.example https://xn--bcher-kva.example")
	for _, page := range []string{"/e/" + slug, "/e/" + slug + "/checkout", "/e/" + slug + "/seats", "/", "/organizer", "/docs", "/embed/e/none", "/api/v1/events"} {
		policy, header = framed(page)
		require.Contains(t, policy, "frame-ancestors 'none'", page)
		require.Equal(t, "DENY", header, page)
	}

	for _, wrong := range []string{"http://a.example", "https://a.example/x", "https://*.example", "*", "https://a.example https://b.example", "https://a.example;script-src", "https://u@a.example", "https://a.example?", "https://a.example:0", "javascript:alert(1)", ""} {
		s.Own("PUT", path, nodetest.Object{"embedOrigins": []string{wrong}}).Is(400, "VALIDATION_ERROR")
	}
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprintf("https://s%d.example", i)
	}
	s.Own("PUT", path, nodetest.Object{"embedOrigins": many}).Is(400, "VALIDATION_ERROR")
	s.Own("PUT", path, nodetest.Object{"embedOrigins": nil}).Is(200, "")
	require.Equal(t, []any{}, s.Own("GET", path, nil).Is(200, "").Data("organization.embedOrigins"))
}

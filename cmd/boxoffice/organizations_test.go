package main

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
)

// members is the path of the organizer's members.
func (s *shop) members() string { return "/organizer/organizations/" + s.org() + "/members" }

// invite makes the owner of an address a member, and returns their id.
func (s *shop) invite(email, role string) string {
	s.t.Helper()
	return s.own("POST", s.members(), object{"email": email, "role": role}).is(201, "").str("userId")
}

func TestMe(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.call("GET", "/users/me", nil).is(401, "UNAUTHORIZED")
	body := object{"email": "Ada@example.org", "password": "correct horse", "firstName": "Ada", "lastName": "Moss", "phone": "+49 30 1", "organizationName": "Club"}
	ada := s.as(s.call("POST", "/auth/register", body).is(201, "").str("accessToken"))
	me := ada.own("GET", "/users/me", nil).is(200, "")
	require.Equal(t, words("id email fullName phone locale twoFactorEnabled organizations createdAt"), me.keys(""))
	require.Equal(t, words("id name role"), me.keys("organizations.0"))
	for name, want := range map[string]any{"email": "ada@example.org", "fullName": "Ada Moss", "phone": "+49 30 1", "locale": nil, "twoFactorEnabled": false} {
		require.Equal(t, want, me.data(name), name)
	}
	require.Equal(t, "Club", me.str("organizations.0.name"))
	require.Equal(t, "owner", me.str("organizations.0.role"))

	buyer := s.buyer("bob@example.org").own("GET", "/users/me", nil).is(200, "")
	require.Equal(t, "Grace Hopper", buyer.str("fullName"))
	require.Equal(t, []any{}, buyer.data("organizations"))
}

func TestMembers(t *testing.T) {
	t.Parallel()
	s := open(t)
	path := s.members()
	for _, f := range []field{
		{"email", absent, "", "required"},
		{"email", "x", "", "format"},
		{"role", absent, "", "required"},
		{"role", "boss", "", "enum"},
		{"name", "", "", "min_length"},
		{"name", text(101), "", "max_length"},
	} {
		s.own("POST", path, with(object{"email": "bob@example.org", "role": "member"}, object{f.name: f.value})).invalid(f.name, f.code)
	}
	began := time.Now()
	retry := append(s.bearer(), "Idempotency-Key", uuid.NewString())
	body := object{"email": "Bob@Example.org", "role": "member", "name": "Bob Hill"}
	bob := s.call("POST", path, body, retry...).is(201, "")
	require.Equal(t, words("userId email fullName role joinedAt"), bob.keys(""))
	require.Equal(t, "bob@example.org", bob.str("email"))
	require.Equal(t, "Bob Hill", bob.str("fullName"))
	invitation := s.mail(t, "bob@example.org", "invitation", began)
	require.Contains(t, invitation.Text, "owner")
	_, err := s.pool.Exec(t.Context(), `DELETE FROM idempotency`)
	require.NoError(t, err)
	require.Equal(t, bob.body, s.call("POST", path, body, retry...).is(201, "").body, "a retry finds the member")
	s.own("POST", path, body).is(409, "CONFLICT")

	list := s.own("GET", path+"?limit=1", nil).is(200, "")
	require.Len(t, list.data("items"), 1)
	require.Equal(t, "owner@example.org", list.str("items.0.email"))
	list = s.own("GET", path+"?cursor="+list.str("nextCursor"), nil).is(200, "")
	require.Equal(t, "bob@example.org", list.str("items.0.email"))
	require.Nil(t, list.data("nextCursor"))

	t.Log("Bob signs in with a code and sells, but manages nothing and sees no money")
	staff := s.buyer("bob@example.org")
	require.Equal(t, "member", staff.own("GET", "/users/me", nil).is(200, "").str("organizations.0.role"))
	staff.own("POST", "/organizer/events", eventBody()).is(201, "")
	manage := object{"required": []string{"manage"}, "granted": route.RoleScopes("member").Names()}
	staff.own("GET", path, nil).refused(403, "FORBIDDEN", manage)
	staff.own("POST", path, object{"email": "eve@example.org", "role": "member"}).refused(403, "FORBIDDEN", manage)
	staff.own("DELETE", path+"/"+bob.str("userId"), nil).refused(403, "FORBIDDEN", manage)
	staff.own("GET", strings.TrimSuffix(path, "/members"), nil).is(403, "FORBIDDEN")
	staff.own("POST", s.keys(), object{"name": "Mine"}).refused(403, "FORBIDDEN", manage)

	t.Log("as an admin he manages, but makes no owner")
	require.Equal(t, "admin", s.own("PUT", path+"/"+bob.str("userId"), object{"role": "admin"}).is(200, "").str("role"))
	staff.own("GET", path, nil).is(200, "")
	staff.own("POST", s.keys(), object{"name": "Mine"}).is(201, "")
	eve := staff.own("POST", path, object{"email": "eve@example.org", "role": "member"}).is(201, "").str("userId")
	owner := s.own("GET", "/users/me", nil).str("id")
	for _, refused := range []answer{
		staff.own("POST", path, object{"email": "kim@example.org", "role": "owner"}),
		staff.own("PUT", path+"/"+eve, object{"role": "owner"}),
		staff.own("PUT", path+"/"+owner, object{"role": "member"}),
		staff.own("DELETE", path+"/"+owner, nil),
	} {
		refused.is(403, "FORBIDDEN")
	}

	t.Log("who is removed is out at once")
	require.Equal(t, bob.str("userId"), s.own("DELETE", path+"/"+bob.str("userId"), nil).is(200, "").str("userId"))
	staff.own("GET", path, nil).is(403, "FORBIDDEN") // he belongs to no organization
	staff.own("GET", "/users/me", nil).is(200, "")
	s.own("DELETE", path+"/"+bob.str("userId"), nil).is(404, "NOT_FOUND")

	t.Log("another organization's members are not there")
	other := s.register("kim@example.org")
	other.own("GET", path, nil).is(404, "NOT_FOUND")
	other.own("DELETE", path+"/"+eve, nil).is(404, "NOT_FOUND")
	other.own("DELETE", other.members()+"/"+eve, nil).is(404, "NOT_FOUND")
	for _, id := range []string{"x", "1", uuid.NewString()} {
		s.own("PUT", path+"/"+id, object{"role": "member"}).is(404, "NOT_FOUND")
	}
}

func TestLastOwner(t *testing.T) {
	t.Parallel()
	s := open(t)
	path, me := s.members(), s.own("GET", "/users/me", nil).str("id")
	a := s.own("DELETE", path+"/"+me, nil).is(409, "CONFLICT")
	require.Contains(t, a.get("error.message"), "owner")
	s.own("PUT", path+"/"+me, object{"role": "admin"}).is(409, "CONFLICT")

	second := s.invite("bob@example.org", "owner")
	bob := s.buyer("bob@example.org")
	t.Log("both leave at once: one stays")
	var wg sync.WaitGroup
	statuses := make([]int, 2)
	wg.Go(func() { statuses[0] = s.own("DELETE", path+"/"+me, nil).status })
	wg.Go(func() { statuses[1] = bob.own("DELETE", path+"/"+second, nil).status })
	wg.Wait()
	require.ElementsMatch(t, []int{200, 409}, statuses)
}

// Who registered somebody else's address does not get what that person is
// invited to.
func TestInvitationOfARegisteredAddress(t *testing.T) {
	t.Parallel()
	s := open(t)
	path := s.members()
	squatter := s.register("bob@example.org")
	s.invite("bob@example.org", "admin")
	squatter.own("GET", path, nil).is(404, "NOT_FOUND")
	require.Len(t, squatter.own("GET", "/users/me", nil).data("organizations"), 1)
	bob := s.buyer("bob@example.org")
	bob.own("GET", path, nil).is(200, "")
	require.Len(t, bob.own("GET", "/users/me", nil).data("organizations"), 2)
	bob.own("POST", "/organizer/events", eventBody()).invalid("orgId", "required")
	bob.own("POST", "/organizer/events", with(eventBody(), object{"orgId": s.org()})).is(201, "")
	squatter.own("GET", path, nil).is(401, "UNAUTHORIZED") // his session has ended with the proof
}

func TestOrganization(t *testing.T) {
	t.Parallel()
	s := open(t)
	path := "/organizer/organizations/" + s.org()
	a := s.own("GET", path, nil).is(200, "")
	require.Equal(t, words("organization wallets"), a.keys(""))
	require.Equal(t, words(`id publicId name slug description website contactEmail contactPhone logoUrl type verified status socialLinks
		pageTheme createdAt`), a.keys("organization"))
	require.Equal(t, s.org(), a.str("organization.id"))
	require.Equal(t, "owner", a.str("organization.name"))
	require.Equal(t, object{}, a.data("organization.socialLinks"))
	require.IsType(t, []any{}, a.data("wallets"))

	reader := s.as(s.key(object{"scopes": []string{"payouts:read"}}).str("secret"))
	require.Equal(t, a.body, reader.own("GET", path, nil).is(200, "").body)
	s.as(s.key(object{"scopes": []string{"events:read"}}).str("secret")).own("GET", path, nil).
		refused(403, "FORBIDDEN", object{"required": []string{"payouts:read"}, "granted": []string{"events:read"}})
	other := s.register("bob@example.org")
	for _, id := range []string{other.org(), "999999", "0", "x", a.str("organization.publicId")} {
		s.own("GET", "/organizer/organizations/"+id, nil).is(404, "NOT_FOUND")
		reader.own("GET", "/organizer/organizations/"+id, nil).is(404, "NOT_FOUND")
	}
	s.call("GET", path, nil).is(401, "UNAUTHORIZED")
}

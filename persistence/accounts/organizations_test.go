package accounts_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/accounts"
)

// club is an organization with its first owner.
type club struct {
	*book
	org   int64
	owner *accounts.User
}

func newClub(t *testing.T) *club {
	t.Helper()
	b := open(t)
	u, err := b.Register(t.Context(), accounts.Registration{Email: "ada@example.org", PasswordHash: "x", FirstName: "Ada", LastName: "Moss", Organization: "Club"})
	require.NoError(t, err)
	m, err := b.Memberships(t.Context(), u.ID)
	require.NoError(t, err)
	return &club{b, m[0].Org.ID, u}
}

func (c *club) add(email, role string) *accounts.Member {
	c.t.Helper()
	m, err := c.AddMember(c.t.Context(), c.org, c.owner.ID, accounts.NewMember{Command: uuid.New(), Email: email, Role: role})
	require.NoError(c.t, err)
	return m
}

func TestProfile(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	p, err := c.Profile(t.Context(), c.org)
	require.NoError(t, err)
	require.Equal(t, "Club", p.Name)
	require.Equal(t, "organizer", p.Type)
	require.Equal(t, "active", p.Status)
	require.False(t, p.Verified)
	require.JSONEq(t, `{}`, string(p.SocialLinks))
	p, err = c.Profile(t.Context(), 999)
	require.NoError(t, err)
	require.Nil(t, p)
}

func TestAddMember(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	n := accounts.NewMember{Command: uuid.New(), Email: "bob@example.org", Name: "Bob", Role: "member"}
	bob, err := c.AddMember(t.Context(), c.org, c.owner.ID, n)
	require.NoError(t, err)
	require.Equal(t, "Bob", bob.Name)
	require.Equal(t, "member", bob.Role)
	u, err := c.UserByEmail(t.Context(), "bob@example.org")
	require.NoError(t, err)
	require.Empty(t, u.PasswordHash)
	require.Equal(t, bob.PublicID, u.PublicID)

	t.Log("the same command finds the member, another is refused")
	again, err := c.AddMember(t.Context(), c.org, c.owner.ID, n)
	require.NoError(t, err)
	require.Equal(t, bob, again)
	n.Command = uuid.New()
	_, err = c.AddMember(t.Context(), c.org, c.owner.ID, n)
	require.ErrorIs(t, err, accounts.ErrMember)

	t.Log("an account that is there keeps its name, which is not told")
	eve, err := c.Register(t.Context(), accounts.Registration{Email: "eve@example.org", PasswordHash: "x", FirstName: "Eve", Organization: "Other"})
	require.NoError(t, err)
	m := c.add("eve@example.org", "admin")
	require.Equal(t, eve.PublicID, m.PublicID)
	require.Empty(t, m.Name)

	var emails []string
	for after := int64(0); ; {
		page, err := c.Members(t.Context(), c.org, after, 2)
		require.NoError(t, err)
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			emails = append(emails, m.Email)
		}
		after = page[len(page)-1].User
	}
	require.Equal(t, []string{"ada@example.org", "bob@example.org", "eve@example.org"}, emails)
}

func TestRolesAreKept(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	admin, staff, second := c.add("admin@example.org", "admin"), c.add("staff@example.org", "member"), c.add("second@example.org", "owner")
	stranger, err := c.Register(t.Context(), accounts.Registration{Email: "eve@example.org", PasswordHash: "x", Organization: "Other"})
	require.NoError(t, err)
	fresh := 0
	add := func(actor int64, role string) error {
		fresh++
		_, err := c.AddMember(t.Context(), c.org, actor, accounts.NewMember{Command: uuid.New(), Email: fmt.Sprintf("new%d@example.org", fresh), Role: role})
		return err
	}
	set := func(actor int64, user, role string) error {
		_, err := c.SetRole(t.Context(), c.org, actor, user, role)
		return err
	}
	remove := func(actor int64, user string) error {
		_, err := c.RemoveMember(t.Context(), c.org, actor, user)
		return err
	}
	for _, actor := range []int64{staff.User, stranger.ID, 999} {
		require.ErrorIs(t, add(actor, "member"), accounts.ErrNotAdmin)
		require.ErrorIs(t, set(actor, staff.PublicID, "admin"), accounts.ErrNotAdmin)
		require.ErrorIs(t, remove(actor, staff.PublicID), accounts.ErrNotAdmin)
	}
	require.ErrorIs(t, add(admin.User, "owner"), accounts.ErrNotOwner)
	require.ErrorIs(t, set(admin.User, admin.PublicID, "owner"), accounts.ErrNotOwner)
	require.ErrorIs(t, set(admin.User, second.PublicID, "member"), accounts.ErrNotOwner)
	require.ErrorIs(t, remove(admin.User, second.PublicID), accounts.ErrNotOwner)

	require.NoError(t, add(admin.User, "admin"))
	require.NoError(t, set(admin.User, staff.PublicID, "admin"))
	require.NoError(t, remove(admin.User, staff.PublicID))
	gone, err := c.SetRole(t.Context(), c.org, c.owner.ID, staff.PublicID, "member")
	require.NoError(t, err)
	require.Nil(t, gone, "who was removed is no member")
	gone, err = c.RemoveMember(t.Context(), c.org, c.owner.ID, stranger.PublicID)
	require.NoError(t, err)
	require.Nil(t, gone, "another organization's member is none")

	require.NoError(t, set(c.owner.ID, second.PublicID, "owner"))
	require.NoError(t, remove(c.owner.ID, c.owner.PublicID), "an owner may leave while there is another")
	require.ErrorIs(t, set(second.User, second.PublicID, "admin"), accounts.ErrLastOwner)
	require.ErrorIs(t, remove(second.User, second.PublicID), accounts.ErrLastOwner)
}

// TestRefusedMemberIsNotMade makes sure that a refused invitation makes no account.
func TestRefusedMemberIsNotMade(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	admin := c.add("admin@example.org", "admin")
	_, err := c.AddMember(t.Context(), c.org, admin.User, accounts.NewMember{Command: uuid.New(), Email: "new@example.org", Role: "owner"})
	require.ErrorIs(t, err, accounts.ErrNotOwner)
	u, err := c.UserByEmail(t.Context(), "new@example.org")
	require.NoError(t, err)
	require.Nil(t, u)
}

// TestLastOwnerUnderARace makes sure that one owner stays, whatever owners do to one another at
// once.
func TestLastOwnerUnderARace(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	one := c.member(c.owner)
	for round := range 10 {
		two := c.add(fmt.Sprintf("leave%d@example.org", round), "owner")
		pair := []*accounts.Member{one, two}
		require.Equal(t, map[error]int{nil: 1, accounts.ErrLastOwner: 1}, together(t, 2, func(i int) error {
			_, err := c.RemoveMember(t.Context(), c.org, pair[i].User, pair[i].PublicID)
			return err
		}, accounts.ErrLastOwner), "both leave")
		one = c.onlyOwner()

		c.owner.ID = one.User
		two = c.add(fmt.Sprintf("demote%d@example.org", round), "owner")
		pair = []*accounts.Member{one, two}
		require.Equal(t, map[error]int{nil: 1, accounts.ErrNotOwner: 1}, together(t, 2, func(i int) error {
			_, err := c.SetRole(t.Context(), c.org, pair[i].User, pair[1-i].PublicID, "admin")
			return err
		}, accounts.ErrNotOwner), "each demotes the other")
		one = c.onlyOwner()
		c.owner.ID = one.User
	}
}

func (c *club) member(u *accounts.User) *accounts.Member {
	return &accounts.Member{User: u.ID, PublicID: u.PublicID}
}

func (c *club) onlyOwner() *accounts.Member {
	c.t.Helper()
	members, err := c.Members(c.t.Context(), c.org, 0, 100)
	require.NoError(c.t, err)
	owners := slices.DeleteFunc(members, func(m accounts.Member) bool { return m.Role != "owner" })
	require.Len(c.t, owners, 1)
	return &owners[0]
}

// TestInvitationsNeedTheMailbox makes sure that an invitation is only for somebody who has the
// mailbox, because anybody may have registered the address before its owner was invited.
func TestInvitationsNeedTheMailbox(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	squatter, err := c.Register(t.Context(), accounts.Registration{Email: "eve@example.org", PasswordHash: "x", Organization: "Other"})
	require.NoError(t, err)
	c.add("eve@example.org", "admin")
	for proven, want := range map[bool]int{false: 1, true: 2} {
		id, err := c.OpenSession(t.Context(), accounts.SignIn{User: squatter.ID, EmailProven: proven})
		require.NoError(t, err)
		st, err := c.Principal(t.Context(), squatter.ID, id.String())
		require.NoError(t, err)
		require.Len(t, st.Orgs, want)
		require.Len(t, st.Roles, want)
		require.Equal(t, proven, slices.Contains(st.Orgs, c.org))
	}
}

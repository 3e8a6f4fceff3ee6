package nodetest

// Members returns the path of the organizer's members.
func (s *Shop) Members() string { return "/organizer/organizations/" + s.Org() + "/members" }

// Invite makes the owner of an address a member, and returns their id.
func (s *Shop) Invite(email, role string) string {
	s.T.Helper()
	return s.Own("POST", s.Members(), Object{"email": email, "role": role}).Is(201, "").Str("userId")
}

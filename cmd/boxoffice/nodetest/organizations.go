package nodetest

// Members returns the path at which the members of the organizer's organization are managed.
func (s *Shop) Members() string { return "/organizer/organizations/" + s.Org() + "/members" }

// Invite makes the person with an address a member, and returns the member's id.
func (s *Shop) Invite(email, role string) string {
	s.T.Helper()
	return s.Own("POST", s.Members(), Object{"email": email, "role": role}).Is(201, "").Str("userId")
}

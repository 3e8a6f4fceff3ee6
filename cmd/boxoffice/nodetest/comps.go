package nodetest

// CompsPath returns the path at which an organizer gives tickets of an event away.
func CompsPath(event string) string { return "/organizer/growth/events/" + event + "/comps" }

// CompsBody returns the body of a request that gives each address a ticket of a type.
func CompsBody(ticketType string, emails ...string) Object {
	recipients := make([]Object, len(emails))
	for i, e := range emails {
		recipients[i] = Object{"email": e}
	}
	return Object{"ticketTypeId": ticketType, "recipients": recipients}
}

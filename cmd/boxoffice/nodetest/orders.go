package nodetest

// Lines returns the lines of an order, from pairs of a ticket type and a quantity.
func Lines(of ...any) []Object {
	var out []Object
	for i := 0; i < len(of); i += 2 {
		out = append(out, Object{"ticketTypeId": of[i], "quantity": of[i+1]})
	}
	return out
}

// IssueBody returns the body of a request that issues tickets of a type, with a line for each
// quantity.
func IssueBody(ticketType string, quantities ...int) Object {
	items := make([]Object, len(quantities))
	for i, n := range quantities {
		items[i] = Object{"ticketTypeId": ticketType, "quantity": n}
	}
	return Object{"items": items}
}

package orders

import (
	"strings"

	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/persistence/readmodel"
)

// Ask reads a search text for a list of orders or people: words, an order's number or id, or a ticket's code, door code
// or id. It tries a code on each of the given events, and does not check whether the ticket exists.
func Ask(m *secrets.Master, text string, events []int64) readmodel.Asked {
	a := readmodel.Asked{Patterns: readmodel.AskForWords(text)}
	if a.Patterns == nil {
		return a
	}
	clean := secrets.CleanShown(text)
	id, err := engine.ParseID(strings.ToLower(strings.TrimSpace(text)))
	if number, ok := secrets.ReadOrderNumber(text); ok {
		a.Order = number
	} else if err == nil {
		a.Order = id
	}
	for _, event := range events {
		codes := m.Event(event)
		if serial, ok := codes.FromTicketID(id); ok && err == nil && id.Event() == event {
			a.Tickets = append(a.Tickets, readmodel.TicketKey{Event: event, Serial: serial})
		}
		if s := codes.Typed(clean); s.Verdict == secrets.Genuine {
			a.Tickets = append(a.Tickets, readmodel.TicketKey{Event: event, Serial: s.Serial})
		}
	}
	return a
}

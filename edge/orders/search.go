package orders

import (
	"strings"

	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/persistence/readmodel"
)

// Ask reads the text by which a list of people or orders is searched. The text is looked for as words. If it
// has such a form, it is also looked for as an order's number or id, and as a ticket's id, code or door code of
// one of the events. Whether these orders and tickets exist is not checked.
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

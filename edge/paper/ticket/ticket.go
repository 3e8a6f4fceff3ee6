// Package ticket lays a ticket out on paper: what its page says, in which language and where. The areas that hand
// tickets out call it. They decide which tickets a document has, and which codes the reader may see.
//
// It keeps no state and starts no goroutine, so nothing has to be stopped.
package ticket

import (
	"cmp"

	"boxoffice/edge/api"
	"boxoffice/edge/mail"
	"boxoffice/edge/paper"
)

// These are the measures of a ticket's page, in millimetres.
const (
	pageWidth = 210.0
	margin    = 20.0
	codeSide  = 70.0 // the side of the QR code
)

// Sheet is a ticket on paper.
type Sheet struct {
	Language    mail.Language
	Ticket      *api.Ticket
	Event       *mail.Event // if it is cancelled, the page says that the ticket admits nobody
	Order       string      // the number of the order
	Code, Short string      // the printed payload and the door code; "" if no gate accepts this ticket on paper
	Live        string      // the address that shows the rotating code, if the gates accept only that; else ""
}

// words are the words of a ticket on paper in one language.
type words struct {
	when, where, ticket, holder, section, row, seat, organizer, order string
	door, live, over                                                  string
}

var wordsOf = map[mail.Language]*words{
	mail.English: {
		"When", "Where", "Ticket", "Holder", "Section", "Row", "Seat", "Organizer", "Order",
		"Door code", "The door takes no code on paper. Show the live ticket of your order: ", "Cancelled: it does not take place, and this ticket admits nobody.",
	},
	mail.German: {
		"Wann", "Wo", "Karte", "Für", "Bereich", "Reihe", "Platz", "Veranstalter", "Bestellung",
		"Türcode", "Der Einlass nimmt keinen Code auf Papier. Zeige die Karte in deiner Bestellung: ", "Abgesagt: Es findet nicht statt, und diese Karte gilt für niemanden.",
	},
}

// listRows returns the lines of the ticket, each with its label and its text; a text may be empty.
func (s *Sheet) listRows() [][2]string {
	t, w := s.Ticket, wordsOf[s.Language]
	rows := [][2]string{{w.when, s.Event.When(s.Language)}, {w.where, s.Event.Where(s.Language)}, {w.ticket, t.TierName}}
	if t.Holder != nil && t.Holder.Name != nil {
		rows = append(rows, [2]string{w.holder, *t.Holder.Name})
	}
	if at := t.Seat; at != nil {
		rows = append(rows, [2]string{w.section, at.Section}, [2]string{w.row, at.Row}, [2]string{w.seat, cmp.Or(at.Label, at.ID)})
	}
	return append(rows, [2]string{w.organizer, s.Event.Organizer}, [2]string{w.order, s.Order})
}

// These are the styles of the texts on a ticket's page.
var (
	titleStyle = paper.Style{Size: 24, Bold: true, Color: paper.Color{R: 20, G: 20, B: 30}, Lines: 5}
	labelStyle = paper.Style{Size: 9, Color: paper.Color{R: 110, G: 110, B: 120}}
	textStyle  = paper.Style{Size: 12, Color: paper.Color{R: 20, G: 20, B: 30}, Lines: 3}
	overStyle  = paper.Style{Size: 14, Bold: true, Color: paper.Color{R: 180, G: 20, B: 30}, Lines: 2}
	shortStyle = paper.Style{Size: 18, Bold: true, Color: paper.Color{R: 20, G: 20, B: 30}}
)

// Print adds the ticket's page to a document in portrait: the title, why the ticket admits nobody (if the event is
// cancelled), and its rows. If gates accept the ticket on paper, the QR code and the door code follow; otherwise the
// page only has the address that shows the live code, if there is one. It returns an error if Code does not fit into a
// QR code.
func (s *Sheet) Print(pdf *paper.Paper) error {
	const width, labels = pageWidth - 2*margin, 28.0
	w := wordsOf[s.Language]
	pdf.AddPage()
	y := pdf.Write(s.Event.Title, margin, margin, width, titleStyle) + 6
	if s.Event.Cancelled {
		y = pdf.Write(w.over, margin, y, width, overStyle) + 6
	}
	for _, row := range s.listRows() {
		if row[1] == "" {
			continue
		}
		pdf.Write(row[0], margin, y+1, labels, labelStyle)
		y = pdf.Write(row[1], margin+labels, y, width-labels, textStyle) + 1.5
	}
	y += 8
	if s.Code == "" {
		if s.Live != "" {
			pdf.Write(w.live+s.Live, margin, y, width, textStyle)
		}
		return nil
	}
	if err := pdf.QR(s.Code, margin, y, codeSide); err != nil {
		return err
	}
	y += codeSide + 4
	pdf.Write(w.door, margin, y+2, labels, labelStyle)
	pdf.Write(s.Short, margin+labels, y, width-labels, shortStyle)
	return nil
}

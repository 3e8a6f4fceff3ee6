package web

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"boxoffice/edge/api"
)

// FormPolicy is the Policy of a page with a form that sends to this server. Policy itself forbids all forms.
var FormPolicy = strings.Replace(Policy, "form-action 'none'", "form-action 'self'", 1)

// Room is what the page of a waiting room without scripts shows.
type Room struct {
	German          bool // the reader prefers German
	Now             time.Time
	Event           *api.Event // nil: there is no such event
	Queue           *api.Queue
	Ticket, Receipt string // the visitor's token and receipt, from the page's address; "" for none
	Lost            bool   // no entry of this room has the Ticket
	Invitation      string // the token of a mailed link with which a visitor joins; "" for none
	Party           int    // the number of people that the visitor named when asking for that link
	Mailed          bool   // the page was opened from a mail, so it shows the place only after a press of the button
	Pending         bool   // the visitor has just asked for a link by mail
	// Key is the idempotency key in the page's form. A form that is sent twice has the same key and so makes
	// only one entry. Each time the page is written, its form gets a new key.
	Key     string
	Refused string // the code or the reason of the error with which the visitor could not join; "" for none
}

// MailedRoom is the query parameter of this page's addresses in mails. Mail filters open such addresses to look
// for harm, but if an entry's turn has come, its time to order begins when the page shows its place. So a
// page with this parameter first shows only a button.
const MailedRoom = "mailed"

// These are the seconds that pass until the page loads itself again.
const (
	roomPace     = 15
	roomPaceNext = 5 // for a visitor who is next in line
)

//go:embed room.html
var roomSource string

var roomTemplate = template.Must(template.New("room").Parse(roomSource))

// RoomPage writes the pages of waiting rooms as plain HTML that needs no script.
type RoomPage struct{ style string }

// NewRoomPage returns the page with the style sheet that is among the files.
func NewRoomPage(files []File) (*RoomPage, error) {
	for _, f := range files {
		if strings.HasSuffix(f.Path, "/paper.css") {
			return &RoomPage{f.Path}, nil
		}
	}
	return nil, fmt.Errorf("web: the style sheet of small pages is missing")
}

// roomFact is a figure that the page shows: its name and its value.
type roomFact struct{ Name, Value string }

// shownRoom is what the template of a waiting room's page shows.
type shownRoom struct {
	Words                        *roomWords
	Lang, Style                  string
	Frame                        template.HTML
	Slug, Title, Head, Hint, Key string
	Notices                      []string
	Facts                        []roomFact
	Joins                        bool
	Invitation, Email            string // the token of a mailed link; without one, the label of the field for the address
	Ticket                       string // the token of the place that the button shows; "" for no button
	NeedsEmail                   bool
	Parties                      []int
	Party                        int // the number of people that the form shows as chosen
	Scripts, Receipt             string
	Again                        int // seconds until the page loads itself again; 0: it stays
	zone                         *time.Location
	german                       bool
}

// Write writes the page of a waiting room, with times by the clocks of the event. If r.Event is nil, the page
// says that there is no such event. For a visitor who opens the mailed link to a place, the page has only a
// button that shows the place.
func (p *RoomPage) Write(w io.Writer, r *Room) error {
	words := rooms.in(r.German)
	s := &shownRoom{Words: words, Lang: words.Lang, Style: p.style, Frame: frameIn(r.German), Key: r.Key, Receipt: r.Receipt, Head: words.Gone, Hint: words.GoneHint, zone: time.UTC, german: r.German}
	if r.Event != nil {
		s.Slug, s.Title = r.Event.Slug, r.Event.Title
		if zone, err := time.LoadLocation(r.Event.Timezone); err == nil {
			s.zone = zone
		}
		// Only a press of the button shows the place (see MailedRoom).
		if r.Mailed && r.Ticket != "" {
			s.Ticket, s.Head, s.Hint = r.Ticket, words.Place, ""
		} else {
			s.tellRoom(r)
		}
	}
	if err := roomTemplate.Execute(w, s); err != nil {
		return fmt.Errorf("web: page of a waiting room: %w", err)
	}
	return nil
}

// tellRoom fills in the state of the room, then either the visitor's place or how a visitor joins, and what is still
// on sale. Notices of a lost place and of a refusal come first. If the event has no waiting room now, only that follows.
func (s *shownRoom) tellRoom(r *Room) {
	q, words := r.Queue, s.Words
	if r.Lost {
		s.Notices = append(s.Notices, words.Lost)
	}
	if r.Refused != "" {
		text, ok := words.refused[r.Refused]
		if !ok {
			text = words.refused[""]
		}
		s.Notices = append(s.Notices, text)
	}
	if q.State == "none" {
		s.Head, s.Hint = words.None, words.NoneHint
		return
	}
	if q.Paused {
		s.Notices = append(s.Notices, words.Paused)
	}
	if q.TestBeacon && q.Rules.Mode == "draw" {
		s.Notices = append(s.Notices, words.Test)
	}
	// An entry in an earlier room of the event does not count in this room, so the visitor may join again.
	you := q.You
	if you != nil && you.Draw != q.Draw { // The draw's id names the room.
		you = nil
	}
	if you == nil {
		s.Receipt = ""
		s.tellJoining(q, r)
	} else {
		// The token and the receipt are in the fragment of the address, which browsers do not send to servers.
		s.Scripts = "/e/" + s.Slug + "/queue#" + url.Values{"ticket": {r.Ticket}, "receipt": {r.Receipt}}.Encode()
		s.tellPlace(q, you, r.Now)
	}
	s.tellSale(q)
}

// tellJoining fills in whether and how a visitor can join. The visitor can't while the mailed link has yet to be
// opened, if the room accepts nobody any more, or before registration begins (the state announced). In every
// other state, also before the room opens, the page has a form, or says why joining needs scripts.
func (s *shownRoom) tellJoining(q *api.Queue, r *Room) {
	words, draws := s.Words, q.Rules.Mode == "draw"
	switch {
	case r.Pending:
		s.Head, s.Hint = words.Mailed, words.MailedHint
		return
	case q.Draining:
		s.Head, s.Hint, s.Again = words.Full, words.FullHint, roomPace
		return
	case q.State == "announced":
		s.Head, s.Hint, s.Again = words.Before, words.BeforeHint+s.at(q.RegistersFrom)+".", roomPace
		return
	case !draws:
		s.Hint = words.JoinArrival
	case q.State == "registering":
		s.Hint = words.JoinDraw
	default:
		s.Hint = words.JoinLate
	}
	s.Head = words.JoinHead
	if q.State != "open" {
		s.Facts = append(s.Facts, roomFact{words.Opens, s.at(q.OpensAt)})
	}
	if why := scriptsToJoin(q, r, words); why != "" {
		s.Notices = append(s.Notices, why)
		s.Scripts = "/e/" + s.Slug + "/queue"
		return
	}
	s.Invitation, s.Party = r.Invitation, r.Party
	s.askToJoin(q)
}

// scriptsToJoin returns why joining this room needs scripts, or "" if a form is enough. A room may demand
// work, but a visitor with a mailed link has done it before, to get the link.
func scriptsToJoin(q *api.Queue, r *Room, words *roomWords) string {
	switch {
	case q.Rules.Proof == "account":
		return words.Proof
	case q.Work > 0 && r.Invitation == "":
		return words.Work
	}
	return ""
}

// askToJoin adds the form by which a visitor joins. The form after a mailed link asks for no
// address, because the link's token has it.
func (s *shownRoom) askToJoin(q *api.Queue) {
	s.Joins = true
	for n := range q.Rules.PartyMax {
		s.Parties = append(s.Parties, n+1)
	}
	if s.Invitation != "" {
		return
	}
	s.Email, s.NeedsEmail = s.Words.Email, q.Rules.Proof == "address"
	if s.NeedsEmail {
		s.Email = s.Words.NeededEmail
	}
}

// tellPlace fills in the visitor's place and when their turn will come. If the visitor is admitted, it fills in only
// that and until when they can order. If that time is over, it says so, and adds the form for a new place if a form
// is enough and the room still accepts people.
func (s *shownRoom) tellPlace(q *api.Queue, you *api.QueuePlace, now time.Time) {
	words, draws := s.Words, q.Rules.Mode == "draw"
	s.Again = roomPace
	if a := you.Admission; a != nil {
		s.Head, s.Hint = words.Turn, words.TurnHint
		s.Facts = append(s.Facts, roomFact{words.Until, s.at(a.ExpiresAt)})
		if now.After(*a.ExpiresAt) {
			s.Head, s.Hint, s.Facts, s.Again, s.Scripts = words.Expired, words.ExpiredHint, nil, 0, ""
			// A new place can be had here only if the room asks for no proof and no work, and still
			// takes people.
			if q.Rules.Proof == "none" && q.Work == 0 && !q.Draining {
				s.askToJoin(q)
			}
		}
		return
	}
	switch {
	case you.Place == nil && q.State == "closed":
		s.Head, s.Hint = words.Closed, words.ClosedHint
	case you.Place == nil && draws:
		s.Head, s.Hint = words.In, words.InDraw
	case you.Place == nil:
		s.Head, s.Hint = words.In, words.InArrival
	case q.State == "drawn" && draws:
		s.Head, s.Hint = words.Drawn, words.Stays
	default:
		s.Head, s.Hint = words.Waiting, words.Stays
	}
	if q.Draining {
		s.Notices = append(s.Notices, words.Draining)
	}
	if q.State != "open" {
		s.Facts = append(s.Facts, roomFact{words.Opens, s.at(q.OpensAt)})
	}
	if you.Place == nil {
		return
	}
	s.Facts = append(s.Facts, roomFact{words.Place, strconv.FormatInt(*you.Place, 10)}, roomFact{words.Ahead, strconv.FormatInt(*you.Ahead, 10)},
		roomFact{words.Wait, s.waitOf(you.Estimate, now)})
	// The visitor who is next must soon see that their turn has come.
	if *you.Ahead == 0 && q.State == "open" {
		s.Again = roomPaceNext
	}
}

// tellSale fills in, for each currency, the range of prices of the tickets that are still on sale and whether the
// cheapest are gone. If nothing is on sale, it says that.
func (s *shownRoom) tellSale(q *api.Queue) {
	words := s.Words
	if len(q.OnSale) == 0 {
		s.Facts = append(s.Facts, roomFact{words.Sale, words.SoldOut})
	}
	for i := range q.OnSale {
		stock := &q.OnSale[i]
		price := func(decimal string) string {
			return cmp.Or(showPrice(decimal, stock.Currency, s.german), words.Free)
		}
		text := price(stock.PriceFrom)
		if stock.PriceTo != stock.PriceFrom {
			text += words.To + price(stock.PriceTo)
		}
		if stock.CheapestGone {
			text += ". " + words.Cheapest
		}
		s.Facts = append(s.Facts, roomFact{words.Sale, text})
	}
}

// at returns t in words, in the event's time zone, or "" if t is nil.
func (s *shownRoom) at(t api.Time) string {
	if t == nil {
		return ""
	}
	return t.In(s.zone).Format(s.Words.Clock)
}

// waitOf returns in words how long the visitor has still to wait: the estimate's range in minutes, or a phrase
// if there is no estimate, or less than a minute or more than a day is left.
func (s *shownRoom) waitOf(e *api.QueueEstimate, now time.Time) string {
	if e == nil || e.From == nil || e.To == nil {
		return s.Words.Unknown
	}
	from, to := int(e.From.Sub(now)/time.Minute), int(e.To.Sub(now)/time.Minute)
	switch {
	case to < 1:
		return s.Words.Soon
	case to > 24*60:
		return s.Words.Days
	}
	text := strconv.Itoa(to)
	if from = max(from, 0); from != to {
		text = strconv.Itoa(from) + s.Words.To + text
	}
	return strings.Replace(s.Words.Minutes, "#", text, 1)
}

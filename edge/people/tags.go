package people

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/publicfacts"
)

// tagPattern says what a tag may consist of: 1 to 60 letters and digits of any script, spaces, and a few marks.
var tagPattern = regexp.MustCompile(`^[\pL\pN _.-]{1,60}$`)

// normalTag returns a tag as it is stored and compared: without spaces around it and in lower case,
// so that VIP and vip are one tag.
func normalTag(tag string) string { return strings.ToLower(strings.TrimSpace(tag)) }

// readTag reads a tag from the member "tag" of the request.
func readTag(text string) (string, error) { return readTagAt("tag", text) }

// readTagAt returns a tag in its stored form. member is the name of the request's member that has the tag, which the
// issue of a bad tag names.
func readTagAt(member, text string) (string, error) {
	tag := normalTag(text)
	if !tagPattern.MatchString(tag) {
		return "", route.Invalid(route.Issue{Path: member, Code: route.IssueFormat, Message: "must have 1 to 60 letters, digits, spaces or _ . -"})
	}
	return tag, nil
}

// tagTickets gives a tag to tickets of an organization. It tags all of them, or none if one does
// not exist. The answer counts all tickets that the request names, also those that had the tag
// before.
func (h *Handlers) tagTickets(c *route.Call, in *api.TagTickets) (*api.TagApplied, error) {
	org, tickets, tag, err := h.readTagging(c, in)
	if err != nil {
		return nil, err
	}
	if err := h.Attendees.TagTickets(c.Context, tickets, tag, h.taggedFact(org, c.Now)); err != nil {
		return nil, noAttendee(err)
	}
	return &api.TagApplied{Tag: tag, Tickets: int64(len(tickets))}, nil
}

// untagTickets removes a tag from tickets. Its answer counts only the tickets that had the tag.
func (h *Handlers) untagTickets(c *route.Call, in *api.TagTickets) (*api.TagsRemoved, error) {
	_, tickets, tag, err := h.readTagging(c, in)
	if err != nil {
		return nil, err
	}
	removed, err := h.Attendees.UntagTickets(c.Context, tickets, tag)
	if err != nil {
		return nil, noAttendee(err)
	}
	return &api.TagsRemoved{Removed: removed}, nil
}

// noAttendee turns the store's error for a ticket without an attendee into the refusal for a
// missing ticket. It passes other errors on.
func noAttendee(err error) error {
	if errors.Is(err, attendees.ErrNotFound) {
		return noTicket
	}
	return err
}

// readTagging reads the tickets and the tag of a request. It drops repeated tickets, because the answer counts
// tickets, and refuses a ticket of another organization as missing. It first waits for the read model, so that new
// tickets are found.
func (h *Handlers) readTagging(c *route.Call, in *api.TagTickets) (org int64, tickets []attendees.Place, tag string, err error) {
	if tag, err = readTag(in.Tag); err != nil {
		return 0, nil, "", err
	}
	if org, err = route.FindOrganization(c, in.OrgID); err != nil {
		return 0, nil, "", err
	}
	if err = h.Settled(c.Context); err != nil { // A ticket may be new.
		return 0, nil, "", err
	}
	seen := make(map[attendees.Place]bool, len(in.TicketIDs))
	for _, text := range in.TicketIDs {
		number, serial, err := h.readTicketID(c.Context, text)
		if err != nil {
			return 0, nil, "", err
		}
		known, err := h.Known.Find(c.Context, number)
		if err != nil {
			return 0, nil, "", err
		}
		if known.Org != org {
			return 0, nil, "", noTicket
		}
		if p := (attendees.Place{Event: number, Serial: serial}); !seen[p] {
			seen[p], tickets = true, append(tickets, p)
		}
	}
	return org, tickets, tag, nil
}

// taggedFact returns the function that the store calls for each ticket that did not have the tag before. The function
// makes the public fact attendee.tagged.
func (h *Handlers) taggedFact(org int64, at time.Time) attendees.Telling {
	return func(t *attendees.Tagged) (publicfacts.Own, error) {
		data := api.AttendeeData{Attendee: api.TaggedAttendee{
			TicketID: h.Secrets.Event(t.Event).TicketID(t.Serial).String(), Email: view.Optional(t.Email), Name: view.Optional(t.Name), Tags: view.List(t.Tags),
		}}
		return webhook.NewOwnFact("attendee.tagged", org, fmt.Sprintf("attendee/%d/%d", t.Event, t.Serial), at, data)
	}
}

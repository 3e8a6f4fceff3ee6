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

// tagPattern is what a tag consists of: letters and digits of any script, and a few marks.
var tagPattern = regexp.MustCompile(`^[\pL\pN _.-]{1,60}$`)

// normalTag is a tag as it is stored and compared, so that VIP and vip are one tag.
func normalTag(tag string) string { return strings.ToLower(strings.TrimSpace(tag)) }

// readTag reads a tag from the member "tag" of the request.
func readTag(text string) (string, error) { return readTagAt("tag", text) }

// readTagAt reads a tag from a member of the request that is not called "tag", which the issue names.
func readTagAt(member, text string) (string, error) {
	tag := normalTag(text)
	if !tagPattern.MatchString(tag) {
		return "", route.Invalid(route.Issue{Path: member, Code: route.IssueFormat, Message: "must have 1 to 60 letters, digits, spaces or _ . -"})
	}
	return tag, nil
}

// tagTickets gives tickets of an organization a tag: all of them, or none if one does not exist. The answer counts the
// tickets that were named, also those that had the tag before.
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

// untagTickets takes a tag from tickets. Its answer counts those that had it.
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

// noAttendee makes the refusal for a ticket that has no attendee. Other errors pass through.
func noAttendee(err error) error {
	if errors.Is(err, attendees.ErrNotFound) {
		return noTicket
	}
	return err
}

// readTagging reads which tickets of an organization are to have a tag, each once.
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

// taggedFact makes the fact by which an organization is told of an attendee who was tagged.
func (h *Handlers) taggedFact(org int64, at time.Time) attendees.Telling {
	return func(t *attendees.Tagged) (publicfacts.Own, error) {
		data := api.AttendeeData{Attendee: api.TaggedAttendee{
			TicketID: h.Secrets.Event(t.Event).TicketID(t.Serial).String(), Email: view.Optional(t.Email), Name: view.Optional(t.Name), Tags: view.List(t.Tags),
		}}
		return webhook.NewOwnFact("attendee.tagged", org, fmt.Sprintf("attendee/%d/%d", t.Event, t.Serial), at, data)
	}
}

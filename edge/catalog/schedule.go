package catalog

import (
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/persistence/program"
)

var noSession = &engine.Refusal{Code: engine.NotFound, Message: "The event has no such session."}

// listSessions shows an event's schedule to its organization.
func (h *Handlers) listSessions(c *route.Call, in *api.ByID) (*api.Schedule, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	sessions, err := h.Program.Sessions(c.Context, number)
	if err != nil {
		return nil, err
	}
	return &api.Schedule{Sessions: sessionViews(sessions)}, nil
}

// createSession adds a session to an event's schedule, and then makes the fact that the event has changed.
func (h *Handlers) createSession(c *route.Call, in *api.CreateSession) (*api.ScheduledSession, error) {
	number, e, err := h.findOpen(c, in.ID)
	if err != nil {
		return nil, err
	}
	if err := h.CheckFiles(c, e.Details.Org, in); err != nil {
		return nil, err
	}
	n := &program.Session{ID: rowID(c, number), Event: number, Title: in.SessionTitle, Start: in.StartTime, End: in.EndTime, Day: 1}
	if err := editSession(n, &in.SessionFields); err != nil {
		return nil, err
	}
	if err := h.Program.AddSession(c.Context, n); err != nil {
		return nil, refusalOf(err, noSession)
	}
	if err := h.tellOfChange(c, number); err != nil {
		return nil, err
	}
	return new(sessionView(n)), nil
}

// updateSession changes the fields of a session that the request names. It makes the fact that the event has changed
// only if the session differs afterwards. The event must not have ended, and Texts.Change limits how often one
// session is changed.
func (h *Handlers) updateSession(c *route.Call, in *api.UpdateSession) (*api.ScheduledSession, error) {
	number, e, err := h.findOpen(c, in.ID)
	if err != nil {
		return nil, err
	}
	id, err := readRowID(in.SessionID.SessionID, noSession)
	if err != nil {
		return nil, err
	}
	if err := h.CheckFiles(c, e.Details.Org, in); err != nil {
		return nil, err
	}
	if err := h.Texts.Change(c, number, id); err != nil {
		return nil, err
	}
	var before program.Session
	n, err := h.Program.EditSession(c.Context, number, id, func(n *program.Session) error {
		before = *n
		in.SessionTitle.Into(&n.Title)
		in.StartTime.Into(&n.Start)
		in.EndTime.Into(&n.End)
		return editSession(n, &in.SessionFields)
	})
	if err != nil {
		return nil, refusalOf(err, noSession)
	}
	if !sameSession(&before, n) {
		if err := h.tellOfChange(c, number); err != nil {
			return nil, err
		}
	}
	return new(sessionView(n)), nil
}

// sameSession reports whether two versions of a session say the same. Times are compared as moments, because the
// stored one has another location.
func sameSession(a, b *program.Session) bool {
	c := *b
	if a.Start.Equal(b.Start) && a.End.Equal(b.End) {
		c.Start, c.End = a.Start, a.End
	}
	return *a == c
}

// deleteSession removes a session, and then makes the fact that the event has changed.
func (h *Handlers) deleteSession(c *route.Call, in *api.SessionID) (*api.Gone, error) {
	number, _, err := h.findOpen(c, in.ID)
	if err != nil {
		return nil, err
	}
	id, err := readRowID(in.SessionID, noSession)
	if err != nil {
		return nil, err
	}
	if err := h.Program.RemoveSession(c.Context, number, id); err != nil {
		return nil, refusalOf(err, noSession)
	}
	return &api.Gone{Deleted: true}, h.tellOfChange(c, number)
}

// editSession writes into a session the optional fields that were sent. A session must end after it starts;
// nothing else binds its times.
func editSession(n *program.Session, f *api.SessionFields) error {
	f.DayNumber.Into(&n.Day)
	f.SessionDesc.Into(&n.Description)
	f.SpeakerName.Into(&n.SpeakerName)
	f.SpeakerBio.Into(&n.SpeakerBio)
	f.SpeakerAvatar.Into(&n.SpeakerAvatar)
	f.LocationDetail.Into(&n.Location)
	f.SortOrder.Into(&n.SortOrder)
	if !n.End.After(n.Start) {
		return route.Invalid(route.Issue{Path: "endTime", Code: route.IssueMinimum, Message: "must be after startTime"})
	}
	return nil
}

// sessionViews shows sessions in the order of the schedule that the store keeps.
func sessionViews(sessions []program.Session) []api.ScheduledSession {
	out := make([]api.ScheduledSession, len(sessions))
	for i := range sessions {
		out[i] = sessionView(&sessions[i])
	}
	return out
}

// sessionView shows a session as the organizer has entered it; what is left empty is null.
func sessionView(n *program.Session) api.ScheduledSession {
	return api.ScheduledSession{
		ID: n.ID.String(), SessionTitle: n.Title, StartTime: view.UTC(&n.Start), EndTime: view.UTC(&n.End), DayNumber: n.Day,
		SessionDesc: view.Optional(n.Description), SpeakerName: view.Optional(n.SpeakerName), SpeakerBio: view.Optional(n.SpeakerBio),
		SpeakerAvatar: view.Optional(n.SpeakerAvatar), LocationDetail: view.Optional(n.Location), SortOrder: n.SortOrder,
	}
}

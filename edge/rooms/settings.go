package rooms

import (
	"errors"
	"strconv"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
	"boxoffice/persistence/rooms"
)

const (
	// closesBefore is how many milliseconds before the opening a draw's list is closed: the beacon's round comes
	// draw.BeaconDelay after that, and has to be fetched.
	closesBefore = 180_000
	// registers is how long before the opening visitors may join, unless the organizer sets another time.
	registers = time.Hour
	// drawTime decides the mode if the organizer names none: a room that is made at least this long before its
	// opening draws places, and any other gives them by arrival.
	drawTime = 30 * time.Minute
	// firstRate is the rate with which a steered room begins, in admissions a minute.
	firstRate = 600
)

// setQueue opens, changes or ends a room. Before it asks the actor to open or change the room, it writes the table
// of rooms, so that no node overlooks the room. If a request that opens a room fails in between, the actor has no
// room and everybody may order. The row is then closed later (forgetAfter).
func (h *Handlers) setQueue(c *route.Call, in *api.SetQueue) (*api.Queue, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	if !in.Enabled {
		return h.endQueue(c, number)
	}
	page, err := h.Pages.Event(c.Context, number)
	if err != nil {
		return nil, err
	}
	was, err := cluster.AskFor[queue.Record](c.Context, h.Node, engine.QueueRef(number), queue.Get{})
	if err != nil {
		return nil, err
	}
	settings, err := h.settingsOf(c, in, was, page)
	if err != nil {
		return nil, err
	}
	err = h.Rooms.Open(c.Context, page.Event.Details.Org, number)
	if errors.Is(err, rooms.ErrTooMany) {
		return nil, &engine.Refusal{Code: engine.QuotaExceeded, Message: "The organization has as many waiting rooms as it may have.", Details: map[string]int64{"quota": rooms.MaxPerOrg, "used": rooms.MaxPerOrg}}
	}
	if err != nil {
		return nil, err
	}
	if err := h.Load(c.Context); err != nil {
		return nil, err
	}
	return h.changeRoom(c, number, queue.Open{Settings: *settings})
}

// endQueue ends a room if there is one. It ends the actor's room first and marks it as ended in the table last, so
// that after a failure in between there is still a row by which Keep finds the room.
func (h *Handlers) endQueue(c *route.Call, number int64) (*api.Queue, error) {
	row, found, err := h.Rooms.Find(c.Context, number)
	if err != nil {
		return nil, err
	}
	if !found {
		return h.showQueue(c.Context, c.Now, number, newRoom(&queue.Record{Phase: queue.NoRoom.String()}))
	}
	v, err := h.changeRoom(c, number, queue.End{})
	if err != nil {
		return nil, err
	}
	if err := h.Rooms.Close(c.Context, row); err != nil {
		return nil, err
	}
	return v, h.Load(c.Context)
}

// changeRoom sends a command to the room's actor, and shows the room as it is after that. It drops
// the cached room, so that this node shows the change at once.
func (h *Handlers) changeRoom(c *route.Call, number int64, cmd engine.Command) (*api.Queue, error) {
	r, err := cluster.AskFor[queue.Record](c.Context, h.Node, engine.QueueRef(number), cmd)
	if err != nil {
		return nil, err
	}
	h.Pages.Forget(roomKey(number))
	return h.showQueue(c.Context, c.Now, number, newRoom(r))
}

// pauseQueue stops admissions until resumeQueue. People may still join.
func (h *Handlers) pauseQueue(c *route.Call, in *api.RoomByID) (*api.Queue, error) {
	return h.changeOwn(c, in.ID, queue.Pause{On: true})
}

// resumeQueue lets admissions go on. Time that passed in the pause is not made up for.
func (h *Handlers) resumeQueue(c *route.Call, in *api.RoomByID) (*api.Queue, error) {
	return h.changeOwn(c, in.ID, queue.Pause{})
}

// drainQueue lets nobody join any more. People who are in line are still admitted, and then the
// room ends.
func (h *Handlers) drainQueue(c *route.Call, in *api.RoomByID) (*api.Queue, error) {
	return h.changeOwn(c, in.ID, queue.Drain{})
}

// changeOwn sends a command to the room of one of the caller's own events.
func (h *Handlers) changeOwn(c *route.Call, id string, cmd engine.Command) (*api.Queue, error) {
	number, err := h.Known.FindOwn(c, id)
	if err != nil {
		return nil, err
	}
	if _, found, err := h.Rooms.Find(c.Context, number); err != nil || !found {
		return nil, orNoRoom(err)
	}
	return h.changeRoom(c, number, cmd)
}

var noRoom = &engine.Refusal{Code: engine.NotFound, Message: "The event has no waiting room."}

// orNoRoom returns the error if there is one, and otherwise the refusal that the event has no room.
func orNoRoom(err error) error {
	if err != nil {
		return err
	}
	return noRoom
}

// settingsOf returns the settings that a request asks for. A field that the request leaves out
// stays as it was, or has its default in a new room. A new room draws by default if it is made long
// enough before the opening, and otherwise goes by arrival.
func (h *Handlers) settingsOf(c *route.Call, in *api.SetQueue, was *queue.Record, page *live.Page) (*queue.Settings, error) {
	now, isNew := c.Now.UnixMilli(), was.Phase == queue.NoRoom.String()
	s := &queue.Settings{
		Event: page.Event.Details.PublicID.String(), Chain: h.Beacon.Chain, Rate: firstRate, Auto: true, Hold: (10 * time.Minute).Milliseconds(),
		Rules: draw.Rules{PartyMax: 1, Proof: draw.Classes[draw.ClassNone], VoidAfter: 60},
	}
	if !isNew {
		*s = *was.Settings
	}
	r := &s.Rules
	setInt(&r.PartyMax, in.PartyMax)
	setInt(&r.VoidAfter, in.VoidAfter)
	setInt(&s.Hold, in.HoldMinutes*time.Minute.Milliseconds())
	if in.Proof != "" {
		r.Proof = in.Proof
	}
	if in.Work.Set {
		s.Work = in.Work.Value
	}
	if in.OpensAt.Set {
		r.OpensAt = in.OpensAt.Value.UnixMilli()
	} else if isNew {
		r.OpensAt = saleStart(page, now)
	}
	switch {
	case in.Mode != "":
		r.Mode = in.Mode
	case isNew && r.OpensAt-now >= drawTime.Milliseconds():
		r.Mode = draw.ByDraw
	case isNew:
		r.Mode = draw.ByArrival
	}
	r.ClosesAt = r.OpensAt
	if r.Mode == draw.ByDraw {
		r.ClosesAt -= closesBefore
	}
	if in.RegistersFrom.Set {
		r.RegistersFrom = in.RegistersFrom.Value.UnixMilli()
		// If the opening is moved before anybody could join, registration moves with it.
	} else if isNew || in.OpensAt.Set && now < was.Settings.Rules.RegistersFrom {
		r.RegistersFrom = min(max(now, r.OpensAt-registers.Milliseconds()), r.ClosesAt)
	}
	return s, checkSettings(in, s, was, now)
}

// setInt stores a number that the request has. A 0 means that the request has none.
func setInt[N int | int64](to *N, sent N) {
	if sent != 0 {
		*to = sent
	}
}

// saleStart returns the moment when the first ticket type goes on sale, or now if that moment has
// passed or there is no type.
func saleStart(page *live.Page, now int64) int64 {
	var first int64
	for i := range page.Types {
		if at := page.Types[i].Details.SaleStart; i == 0 || at < first {
			first = at
		}
	}
	return max(first, now)
}

// checkSettings refuses impossible settings, with at most one issue for the times and one for the rate. It
// checks times only while they may still change. It also reads the rate into s: a number or "auto".
func checkSettings(in *api.SetQueue, s *queue.Settings, was *queue.Record, now int64) error {
	var issues []route.Issue
	issue := func(path, code, message string) {
		issues = append(issues, route.Issue{Path: path, Code: code, Message: message})
	}
	if open := was.Phase == queue.NoRoom.String() || now < was.Settings.Rules.RegistersFrom; open {
		switch r := &s.Rules; {
		case in.OpensAt.Set && r.OpensAt < now:
			issue("opensAt", route.IssueMinimum, "must not be in the past")
		case r.Mode == draw.ByDraw && r.ClosesAt <= now:
			issue("opensAt", route.IssueMinimum, "must be more than 180 seconds ahead for a draw, whose list is closed so long before")
		case r.RegistersFrom > r.ClosesAt:
			issue("registersFrom", route.IssueMaximum, "must not be after the list is closed: for a draw 180 seconds before the opening")
		}
	}
	switch text := string(in.AdmitPerMinute); text {
	case "":
	case `"auto"`:
		s.Auto = true
	default:
		rate, err := strconv.ParseInt(text, 10, 64)
		if err != nil || rate < 1 || rate > queue.MaxRate {
			issue("admitPerMinute", route.IssueFormat, `must be "auto" or a whole number from 1 to 1000000`)
		}
		s.Rate, s.Auto = rate, false
	}
	if issues != nil {
		return route.Invalid(issues...)
	}
	return nil
}

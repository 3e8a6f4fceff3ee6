package gates

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/inventory"
)

const (
	// rosterLife is how old a manifest may be. However many devices ask, a node asks the event again only when its
	// manifest is older.
	rosterLife = time.Second
	// maxRosters is how many events' manifests a node keeps. The manifest of 100,000 tickets takes
	// about 10 MB.
	maxRosters = 50
)

// rosters are the manifests of the events whose gates ask this node. mu guards the map; each roster
// has a lock of its own.
type rosters struct {
	mu  sync.Mutex
	all map[int64]*roster
}

// rosterOf returns the manifest of an event, which is empty if the node did not have it yet. If the node already
// keeps maxRosters, it first drops another event's manifest. The devices of that event then get a whole manifest
// again, which costs only time.
func (r *rosters) rosterOf(number int64) *roster {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.all[number]; one != nil {
		return one
	}
	if r.all == nil {
		r.all = map[int64]*roster{}
	}
	for other := range r.all {
		if len(r.all) < maxRosters {
			break
		}
		delete(r.all, other)
	}
	one := &roster{epoch: strconv.FormatUint(rand.Uint64(), 36)} //nolint:gosec // it only differs
	r.all[number] = one
	return one
}

// roster is the manifest of one event, with the time when each of its rows last changed. It is only in the memory of
// one node. After a restart, or on another node, there is a new roster with another epoch, and a device that sends
// a cursor of a different epoch gets all tickets.
type roster struct {
	mu sync.Mutex
	// epoch is random, drawn when the roster is made.
	epoch string
	// asked is when the event was last asked.
	asked time.Time
	// born is when the event was first asked. The roster knows of no change before that.
	born time.Time
	// changedAt is when anything last changed.
	changedAt time.Time
	// change is the number of the last change, which cursors name.
	change int64
	// salt is what the hashed texts begin with (secrets.Codes.Salt).
	salt string
	// doorCodes says that devices may judge door codes without a network, so that rows have hashes of door codes too.
	doorCodes bool
	// rotating says that the gates accept only rotating codes.
	rotating bool
	// exits says that holders may go out and come in again.
	exits bool
	// rows has one row for each holder that a ticket has had, because a device must recognize the codes of earlier
	// holders too.
	rows []rosterRow
	// newest holds the index in rows of each ticket's present holder, by serial - 1.
	newest []int
}

// rosterRow is one code that a ticket has or had. change and at are the number and the time of its last change.
type rosterRow struct {
	ticket api.ManifestTicket
	short  string
	change int64
	at     time.Time
}

// manifest answers with all tickets of an event, or with those that have changed since a cursor or
// a time. Devices keep the manifest to judge scans without a network. It asks the event at most once in
// rosterLife, for all devices together.
func (h *Handlers) manifest(c *route.Call, in *api.GetManifest) (*api.Manifest, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	since, err := readSince(in.Since)
	if err != nil {
		return nil, err
	}
	r := h.rosters.rosterOf(number)
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Now.Sub(r.asked) >= rosterLife {
		if err := h.refreshRoster(c.Context, number, r, c.Now); err != nil {
			return nil, err
		}
	}
	m := &api.Manifest{
		EventID: h.Known.PublicID(number), GeneratedAt: r.changedAt, Cursor: r.epoch + "." + strconv.FormatInt(r.change, 10),
		Full: !since.isKnownTo(r), Salt: r.salt, OfflineDoorCodes: r.doorCodes, RotatingOnly: r.rotating, Exits: r.exits, Tickets: []api.ManifestTicket{},
	}
	for i := range r.rows {
		if row := &r.rows[i]; m.Full || row.change > since.change && row.at.After(since.at) {
			m.Tickets = append(m.Tickets, row.ticket)
		}
	}
	return m, nil
}

// refreshRoster asks the event for the state of its tickets and updates the rows. It dates changes to the
// millisecond, as answers show times, so that a device can ask for the changes after a time that it was shown. The
// caller holds r.mu.
func (h *Handlers) refreshRoster(ctx context.Context, number int64, r *roster, now time.Time) error {
	says, err := cluster.AskFor[admission.Roster](ctx, h.Node, engine.EventRef(number), admission.GateRoster{})
	if err != nil {
		return err
	}
	now = now.Truncate(time.Millisecond)
	codes := h.Secrets.Event(number)
	if r.born.IsZero() {
		r.born, r.changedAt, r.salt = now, api.Moment(now.UnixMilli()), codes.Salt()
	}
	r.asked = now
	anew := r.doorCodes != says.DoorCodes
	r.doorCodes = says.DoorCodes
	if r.rotating != says.RotatingOnly || r.exits != says.Exits { // A change of these settings gets a number, as changes of tickets do.
		r.rotating, r.exits, r.change, r.changedAt = says.RotatingOnly, says.Exits, r.change+1, api.Moment(now.UnixMilli())
	}
	next, group := r.change+1, 0
	// The tickets of one ticket type are neighbours, and First has the serial with which each type
	// begins.
	for i := range says.Letters {
		serial := uint32(i) + 1 //nolint:gosec // serials are uint32
		for group+1 < len(says.First) && says.First[group+1] <= serial {
			group++
		}
		version := max(secrets.Version, says.Versions[serial])
		// A ticket may have changed hands several times since the last look. Each holder gets a
		// row, and the rows of earlier holders are marked as replaced.
		for i == len(r.newest) || r.rows[r.newest[i]].ticket.Version < int(version) {
			v := secrets.Version
			if i == len(r.newest) {
				r.newest = append(r.newest, 0)
			} else {
				old := &r.rows[r.newest[i]]
				v = byte(old.ticket.Version) + 1 //nolint:gosec // it was one
				r.noteRow(old, replacedLetter, next, now)
			}
			hash, short := codes.Hashes(r.salt, serial, v)
			kind := inventory.TypeID(engine.InventoryRef(number, says.Types[group])).String()
			r.newest[i] = len(r.rows)
			r.rows = append(r.rows, rosterRow{ticket: api.ManifestTicket{Hash: hash, Type: kind, Version: int(v)}, short: short})
		}
		row, letter := &r.rows[r.newest[i]], string(says.Letters[i])
		opens, closes := says.Window(serial, group)
		if from, before := opens/1000, closes/1000; row.ticket.Status != letter || row.ticket.From != from || row.ticket.Before != before {
			row.ticket.From, row.ticket.Before = from, before
			r.noteRow(row, letter, next, now)
		}
	}
	// If door codes were switched on or off, every row changes, because each gets or loses a hash.
	for i := range r.rows {
		if anew {
			r.noteRow(&r.rows[i], r.rows[i].ticket.Status, next, now)
		}
	}
	return nil
}

// replacedLetter marks a code that no longer admits because its ticket has another holder.
const replacedLetter = "x"

// noteRow sets a row's letter and its hash of the door code, and dates the row as part of the given change.
func (r *roster) noteRow(row *rosterRow, letter string, change int64, now time.Time) {
	row.ticket.Status, row.ticket.ShortHash = letter, ""
	if r.doorCodes {
		row.ticket.ShortHash = row.short
	}
	row.change, row.at = change, now
	r.change, r.changedAt = change, api.Moment(now.UnixMilli())
}

// since is the point from which changes are asked for: a cursor, with its epoch and change, or a
// time. The zero value asks for all tickets.
type since struct {
	epoch  string
	change int64
	at     time.Time
}

// isKnownTo reports whether a roster knows everything that has changed since s. If not, the device needs all tickets.
func (s since) isKnownTo(r *roster) bool {
	if !s.at.IsZero() {
		return !s.at.Before(r.born)
	}
	return s.epoch == r.epoch
}

// readSince reads the cursor of a manifest, or a time. An empty text is the zero since, which asks for the whole
// manifest.
func readSince(text string) (since, error) {
	if text == "" {
		return since{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return since{at: at}, nil
	}
	epoch, number, ok := strings.Cut(text, ".")
	change, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || change < 0 || epoch == "" {
		return since{}, route.Invalid(route.Issue{Path: "since", Code: route.IssueFormat, Message: "must be a time, or the cursor of a manifest"})
	}
	return since{epoch: epoch, change: change}, nil
}

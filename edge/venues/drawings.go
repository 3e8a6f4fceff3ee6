package venues

import (
	"context"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/seatmap"
)

// forever is the Cache-Control of answers that never change: caches may keep them for a
// year without asking again.
const forever = "public, max-age=31536000, immutable"

// getDrawing returns a published version of a venue map in the form in which it is drawn. Everybody
// who has the map's id may read it, because the public seat maps of events show the same things.
func (h *Handlers) getDrawing(c *route.Call, in *api.ReadDrawing) (*api.Drawing, error) {
	id, err := uuid.Parse(in.ID)
	version, versionErr := strconv.ParseInt(in.Version, 10, 32)
	// Other spellings of the id or the version are refused, so that each drawing has only one
	// address in caches.
	if err != nil || versionErr != nil || version < 1 || in.ID != id.String() || in.Version != strconv.FormatInt(version, 10) {
		return nil, &engine.Refusal{Code: engine.NotFound}
	}
	d, err := live.KeepPage(c.Context, h.Pages, drawingBytes, "drawing/"+in.ID+"/"+in.Version, func() (*api.Drawing, error) {
		return h.draw(c.Context, id, int32(version))
	})
	if err == nil {
		c.SetHeader("Cache-Control", forever)
	}
	return d, err
}

// drawingBytes is the size in bytes for which the cache counts each drawing: the size of a drawing
// of 20,000 seats. Most drawings are smaller, so the cache seldom holds more bytes than it counts.
const drawingBytes = 500 << 10

// draw reads a version of a map and makes its drawing. Text has the JSON that is sent.
func (h *Handlers) draw(ctx context.Context, id uuid.UUID, version int32) (*api.Drawing, error) {
	l, text, err := h.Venues.Layout(ctx, id, version)
	if err != nil {
		return nil, err
	}
	if l == nil {
		return nil, &engine.Refusal{Code: engine.NotFound}
	}
	d := &api.Drawing{
		VenueMapID: id.String(), Version: version, Canvas: api.Canvas{Width: l.Width, Height: l.Height}, Focus: l.Focus[:],
		Sections: make([]api.DrawnSection, len(l.Sections)), Rows: make([]api.DrawnRow, len(l.Rows)),
	}
	if d.Elements, err = readElements(text); err != nil {
		return nil, err
	}
	for i, s := range l.Sections {
		d.Sections[i] = api.DrawnSection{ID: s.ID, Name: s.Name}
	}
	for i := range l.Rows {
		d.Rows[i] = api.DrawnRow{Section: l.Sections[l.Rows[i].Section].ID, Label: l.Rows[i].Label}
	}
	drawRows(d.Rows, l)
	// The JSON is made once, for all readers.
	d.Text, err = json.Marshal(d, route.Encoding)
	d.Rows = nil // Text has the rows; keeping both would take twice the memory
	return d, err
}

// drawRows distributes the seats over their rows. A row has a list for each property, which takes
// less room than a list of seats.
func drawRows(rows []api.DrawnRow, l *seatmap.Layout) {
	for i := range l.Len() {
		r := &rows[l.SeatRow[i]]
		r.IDs, r.Labels = append(r.IDs, l.SeatIDs[i]), append(r.Labels, l.Labels[i])
		r.X, r.Y = append(r.X, l.SeatX[i]), append(r.Y, l.SeatY[i])
		// A row lists the kinds of its seats only if one of the seats is not standard. At the first
		// such seat, the standard seats before it are added to the list.
		if kind := l.SeatKind[i]; kind != seatmap.Standard || r.Kinds != nil {
			for len(r.Kinds) < len(r.IDs)-1 {
				r.Kinds = append(r.Kinds, seatKinds[seatmap.Standard])
			}
			r.Kinds = append(r.Kinds, seatKinds[kind])
		}
	}
}

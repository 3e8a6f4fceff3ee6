package venues

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/route/format"
	"boxoffice/edge/venuemap"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/persistence/venues"
)

var (
	noVenue     = &engine.Refusal{Code: engine.NotFound, Message: "No such venue map."}
	sharedVenue = &engine.Refusal{Code: engine.Forbidden, Message: "This map is shared with everybody. Make one of your own of its document."}
)

// listVenues returns a page of an organization's maps and of the maps that are shared with
// everybody, the newest first.
func (h *Handlers) listVenues(c *route.Call, in *api.ListVenues) (*api.List[*api.Venue], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	return view.ListByNumber(in.Cursor, in.Limit, func(before int64, limit int) ([]*venues.Map, error) {
		return h.Venues.List(c.Context, org, venues.Filter{Search: in.Search, Status: in.Status, Before: before, Limit: limit})
	}, func(m *venues.Map) int64 { return m.ID }, venueView)
}

// createVenue stores a map as a draft. A repeat with the same Idempotency-Key finds the map
// that the first request has made.
func (h *Handlers) createVenue(c *route.Call, in *api.CreateVenue) (*api.Venue, error) {
	org, err := route.FindOrganization(c, in.OrgID, in.QueryOrg)
	if err != nil {
		return nil, err
	}
	draft, err := draftOf(&in.Document)
	if err != nil {
		return nil, err
	}
	m, err := h.Venues.Create(c.Context, c.CommandID(), org, draft)
	return venueSaved(m, err)
}

// updateVenue replaces the draft of a map. Published versions, and the events that use them, stay
// as they are.
func (h *Handlers) updateVenue(c *route.Call, in *api.UpdateVenue) (*api.Venue, error) {
	m, err := h.ownVenue(c, in.ID)
	if err != nil {
		return nil, err
	}
	draft, err := draftOf(&in.Document)
	if err != nil {
		return nil, err
	}
	m, err = h.Venues.Save(c.Context, m.Org, m.PublicID, draft)
	return venueSaved(m, err)
}

// getVenue shows a map with its draft, or with the document of the version that the request names.
func (h *Handlers) getVenue(c *route.Call, in *api.GetVenue) (*api.VenueMap, error) {
	m, err := h.venue(c, in.ID)
	if err != nil {
		return nil, err
	}
	text, err := h.Venues.Document(c.Context, m.PublicID, in.Version)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, &engine.Refusal{Code: engine.NotFound, Message: "The map has no such version."}
	}
	out := &api.VenueMap{Venue: *venueView(m)}
	if in.Version > 0 {
		out.Version = &in.Version
	}
	out.Document, err = venuemap.Parse(text)
	return out, err
}

// publishedCost is how much room a version takes in the database, as a multiple of the size of its document: it
// is kept as document, as layout and as drawing. The organization's quota of written bytes is charged with all
// three.
const publishedCost = 3

// publishVenue makes a version of the present draft, or answers with the newest version if that was made from the
// same draft. A version never changes, and events take their seats only from versions. So the seats of an event do
// not change when somebody edits the draft later.
func (h *Handlers) publishVenue(c *route.Call, in *api.ByID) (*api.VenueVersion, error) {
	m, err := h.ownVenue(c, in.ID)
	if err != nil {
		return nil, err
	}
	draft, err := h.Venues.Document(c.Context, m.PublicID, 0)
	if err != nil {
		return nil, err
	}
	// The quota is charged before the version is made, so a refused request has stored
	// nothing.
	if err := c.Charge(m.Org, publishedCost*int64(len(draft))); err != nil {
		return nil, err
	}
	v, err := h.Venues.Publish(c.Context, c.CommandID(), m.Org, m.PublicID, venuemap.Publishable)
	if err != nil {
		return nil, beyondVenues(err)
	}
	if v == nil {
		return nil, noVenue
	}
	out := versionView(*v)
	return &out, nil
}

// venue finds a map by its id, for a caller who may read it because the map belongs to an
// organization of the caller or is shared with everybody. Otherwise it refuses.
func (h *Handlers) venue(c *route.Call, id string) (*venues.Map, error) {
	public, err := uuid.Parse(id)
	if err != nil || !format.ValidUUID(id) {
		return nil, noVenue
	}
	m, err := h.Venues.Get(c.Context, public)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, noVenue
	}
	// A caller may be a member of several organizations, and may read the map as a member of any of
	// them. If the caller may not as a member of any, the answer is the last refusal.
	for _, g := range c.Principal.Grants {
		if g.Org == m.Org || m.Org == 0 {
			if err = route.ActFor(c, g); err == nil {
				return m, nil
			}
		}
	}
	if err == nil {
		err = noVenue
	}
	return nil, err
}

// ownVenue finds a map as venue does, for a caller who wants to change it. It refuses a map that is
// shared with everybody.
func (h *Handlers) ownVenue(c *route.Call, id string) (*venues.Map, error) {
	m, err := h.venue(c, id)
	if err == nil && m.Org == 0 {
		err = sharedVenue
	}
	return m, err
}

// draftOf checks a document and returns it in the form in which it is stored.
func draftOf(doc *venuemap.Document) (venues.Draft, error) {
	// Expand is called only to find faults and to count the seats. The draft is stored as text.
	layout, issues := doc.Expand()
	if len(issues) > 0 {
		return venues.Draft{}, route.Invalid(issues...)
	}
	text, err := doc.Text()
	if err != nil {
		return venues.Draft{}, err
	}
	return venues.Draft{Name: doc.Name, Seats: layout.Len(), Document: text}, nil
}

// venueSaved answers a request that has stored a map. A nil map means that the map was
// deleted in the meantime.
func venueSaved(m *venues.Map, err error) (*api.Venue, error) {
	if err != nil {
		return nil, beyondVenues(err)
	}
	if m == nil {
		return nil, noVenue
	}
	return venueView(m), nil
}

// beyondVenues turns the store's errors for too many maps or versions into refusals. It passes
// other errors on.
func beyondVenues(err error) error {
	switch {
	case errors.Is(err, venues.ErrTooMany):
		return &engine.Refusal{Code: engine.Conflict, Message: fmt.Sprintf("An organization has up to %d venue maps.", venues.MaxPerOrg)}
	case errors.Is(err, venues.ErrTooManyVersions):
		return &engine.Refusal{Code: engine.Conflict, Message: fmt.Sprintf("A venue map has up to %d versions; make another map of it.", venues.MaxVersions)}
	}
	return err
}

// venueView shows a map without its document. A map that is shared with everybody has no
// organization.
func venueView(m *venues.Map) *api.Venue {
	v := &api.Venue{
		ID: m.PublicID.String(), Name: m.Name, Seats: m.Seats, Versions: make([]api.VenueVersion, len(m.Versions)),
		CreatedAt: view.Moment(m.CreatedAt.UnixMilli()), UpdatedAt: view.Moment(m.UpdatedAt.UnixMilli()),
	}
	if m.Org != 0 {
		org := strconv.FormatInt(m.Org, 10)
		v.OrganizationID = &org
	}
	for i := range m.Versions {
		v.Versions[i] = versionView(m.Versions[i])
	}
	return v
}

// versionView shows when a version was published and how many seats it has.
func versionView(v venues.Version) api.VenueVersion {
	return api.VenueVersion{Version: v.Number, Seats: v.Seats, PublishedAt: view.Moment(v.PublishedAt.UnixMilli())}
}

package catalog

import (
	"bytes"
	"errors"
	"log/slog"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/program"
)

var noSection = &engine.Refusal{Code: engine.NotFound, Message: "The event has no such section."}

// listSections shows an event's sections to its organization.
func (h *Handlers) listSections(c *route.Call, in *api.ByID) (*api.Sections, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	sections, err := h.Program.Sections(c.Context, number)
	if err != nil {
		return nil, err
	}
	return &api.Sections{Sections: sectionViews(sections)}, nil
}

// createSection adds a section. Unlike a change of the schedule, this makes no fact; it only refreshes the cached page.
func (h *Handlers) createSection(c *route.Call, in *api.CreateSection) (*api.Section, error) {
	number, _, err := h.findOpen(c, in.ID)
	if err != nil {
		return nil, err
	}
	n := &program.Section{ID: rowID(c, number), Event: number, Name: in.Name, Capacity: in.Capacity}
	editSection(n, &in.SectionFields)
	if err := h.Program.AddSection(c.Context, n); err != nil {
		return nil, refusalOf(err, noSection)
	}
	h.Pages.Refresh(c.Context, number)
	return new(sectionView(n)), nil
}

// updateSection changes the fields of a section that the request names. The event must not have ended, and
// Texts.Change limits how often one section is changed.
func (h *Handlers) updateSection(c *route.Call, in *api.UpdateSection) (*api.Section, error) {
	number, _, err := h.findOpen(c, in.ID)
	if err != nil {
		return nil, err
	}
	id, err := readRowID(in.SectionID.SectionID, noSection)
	if err != nil {
		return nil, err
	}
	if err := h.Texts.Change(c, number, id); err != nil {
		return nil, err
	}
	n, err := h.Program.EditSection(c.Context, number, id, func(n *program.Section) error {
		in.Name.Into(&n.Name)
		in.Capacity.Into(&n.Capacity)
		editSection(n, &in.SectionFields)
		return nil
	})
	if err != nil {
		return nil, refusalOf(err, noSection)
	}
	h.Pages.Refresh(c.Context, number)
	return new(sectionView(n)), nil
}

// editSection writes into a section the optional fields that were sent.
func editSection(n *program.Section, f *api.SectionFields) {
	f.Description.Into(&n.Description)
	f.SortOrder.Into(&n.SortOrder)
	if f.MapCoordinates.Set {
		n.Map = bytes.Clone(f.MapCoordinates.Value) // It becomes nil if null was sent; the request's memory is not ours to keep.
	}
}

// deleteSection deletes a section that no ticket type names. A request claims a section for a type (program.Use)
// before the type's record names it. So deleteSection checks each claim: it removes claims that have ended together
// with the section, and refuses with SECTION_IN_USE if there is any other claim.
func (h *Handlers) deleteSection(c *route.Call, in *api.SectionID) (*api.Gone, error) {
	number, _, err := h.findOpen(c, in.ID)
	if err != nil {
		return nil, err
	}
	id, err := readRowID(in.SectionID, noSection)
	if err != nil {
		return nil, err
	}
	uses, err := h.Program.Uses(c.Context, id)
	if err != nil {
		return nil, err
	}
	var ended []program.Use
	for _, u := range uses {
		named, err := h.namesSection(c, engine.InventoryRef(number, u.TicketType), id.String())
		if err != nil {
			return nil, err
		}
		// A claim counts as ended if the type does not name the section and either the claim was settled or it
		// is older than any request can be.
		if !named && (u.Pending == 0 || c.Now.Sub(u.Since) > claimTime) {
			ended = append(ended, u)
		}
	}
	if err := h.Program.RemoveSection(c.Context, number, id, ended); err != nil {
		if errors.Is(err, program.ErrInUse) {
			return nil, &engine.Refusal{Code: engine.SectionInUse}
		}
		return nil, refusalOf(err, noSection)
	}
	h.Pages.Refresh(c.Context, number)
	return &api.Gone{Deleted: true}, nil
}

// claimTime is the longest time that a request takes from its claim of a section to the ticket type that names
// it. An older claim of a type that does not name the section has ended even if nobody has settled it: then the
// request has failed, or its node has stopped.
const claimTime = 2 * route.DefaultTimeout

// namesSection reports whether a ticket type's record names a section now.
func (h *Handlers) namesSection(c *route.Call, ref engine.Ref, section string) (bool, error) {
	t, err := cluster.AskFor[inventory.Record](c.Context, h.Node, ref, inventory.Get{})
	if r, ok := errors.AsType[*engine.Refusal](err); ok && r.Code == engine.TicketTypeNotFound {
		return false, nil // it was never made
	}
	if err != nil {
		return false, err
	}
	return t.Details.SectionID == section, nil
}

// claimSection claims a section for a ticket type that will name it, so that nobody can delete the section before. It
// refuses a section that does not exist, and does nothing if the request names no section.
func (h *Handlers) claimSection(c *route.Call, event int64, section route.Opt[string], ticketType int64) error {
	if section.Value == "" {
		return nil
	}
	unknown := route.Invalid(route.Issue{Path: "sectionId", Code: route.IssueEnum, Message: "must be a section of the event"})
	id, err := readRowID(section.Value, nil)
	if err == nil {
		err = h.Program.ClaimSection(c.Context, event, id, ticketType)
	}
	if errors.Is(err, program.ErrNotFound) {
		return unknown
	}
	return err
}

// settleSection notes that the ticket type's record now names the section which was claimed for it. If that fails,
// the section can't be deleted until claimTime has passed, and nothing worse happens.
func (h *Handlers) settleSection(c *route.Call, section route.Opt[string], ticketType int64) {
	if section.Value == "" {
		return
	}
	id, err := readRowID(section.Value, nil)
	if err == nil {
		err = h.Program.SettleSection(c.Context, id, ticketType)
	}
	if err != nil {
		h.Log.WarnContext(c.Context, "a claimed section was not settled", slog.String("section", section.Value), slog.Any("err", err))
	}
}

// sectionViews shows sections in the order of the list.
func sectionViews(sections []program.Section) []api.Section {
	out := make([]api.Section, len(sections))
	for i := range sections {
		out[i] = sectionView(&sections[i])
	}
	return out
}

// sectionView shows a section; one without a place on a map has null there.
func sectionView(n *program.Section) api.Section {
	v := api.Section{
		ID: n.ID.String(), Name: n.Name, Capacity: n.Capacity, Description: view.Optional(n.Description), SortOrder: n.SortOrder,
		MapCoordinates: api.JSON("null"),
	}
	if n.Map != nil {
		v.MapCoordinates = n.Map
	}
	return v
}

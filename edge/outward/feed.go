package outward

import (
	"errors"
	"fmt"
	"math"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/publicfacts"
)

// listFacts is the pull feed: the same facts as webhooks tell, to whoever asks.
func (h *Handlers) listFacts(c *route.Call, in *api.ListFacts) (*api.Facts, error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	q := publicfacts.Query{Org: org, Types: in.Types, Limit: in.Limit}
	for i, name := range in.Types {
		if _, ok := webhook.Find(name); !ok {
			return nil, route.Invalid(route.Issue{
				Path: fmt.Sprintf("types[%d]", i), Code: route.IssueEnum, Message: "is not a type of the catalogue",
			})
		}
	}
	after, err := route.ReadCursorAt("after", in.After, math.MaxInt64, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if after != nil {
		q.After = publicfacts.Cursor{XID: after[0], Position: after[1]}
	}
	page, err := h.Facts.Feed(c.Context, q)
	switch {
	case errors.Is(err, publicfacts.ErrCursor):
		return nil, route.Invalid(route.NotACursor("after"))
	case errors.Is(err, publicfacts.ErrPruned):
		return nil, route.Invalid(route.Issue{
			Path: "after", Code: route.IssueMinimum, Message: "is older than what is kept: facts after it are lost; begin again without it",
		})
	case err != nil:
		return nil, err
	}
	out := &api.Facts{Items: make([]api.Fact, len(page.Facts)), Cursor: *route.CursorOf(page.End.XID, page.End.Position)}
	for i := range page.Facts {
		out.Items[i] = webhook.Body(&page.Facts[i])
	}
	if page.More {
		out.NextCursor = &out.Cursor
	}
	return out, nil
}

// listFactTypes is the catalogue.
func (h *Handlers) listFactTypes(*route.Call, *route.None) (*api.List[api.FactType], error) {
	out := &api.List[api.FactType]{Items: make([]api.FactType, len(webhook.Catalogue))}
	for i := range webhook.Catalogue {
		t := &webhook.Catalogue[i]
		out.Items[i] = api.FactType{
			Type: t.Name, Description: t.Description, DataKeys: t.Keys, Active: t.Active(), Schema: "#/webhooks/" + t.Name,
		}
	}
	return out, nil
}

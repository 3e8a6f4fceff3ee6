package outward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/route"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/publicfacts"
)

// listFacts is the pull feed. It has the same facts as webhooks, for programs that prefer to ask.
// Every answer, even an empty page, has a cursor from which the program continues the next time.
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
	// Two names mean the same place: after, as the feed calls it, and cursor, as every
	// other list does.
	if in.After != "" && in.Cursor != "" && in.After != in.Cursor {
		return nil, route.Invalid(route.Issue{Path: "cursor", Code: route.IssueEnum, Message: "must be left out, or be the same as after"})
	}
	if q.After, err = h.placeInFeed(c.Context, org, cmp.Or(in.After, in.Cursor)); err != nil {
		return nil, err
	}
	page, err := h.Facts.Feed(c.Context, q)
	switch {
	case errors.Is(err, publicfacts.ErrCursor):
		return nil, cursors.Invalid("after")
	// A program that has been away for too long must learn that it has missed facts,
	// instead of going on as if it had not.
	case errors.Is(err, publicfacts.ErrPruned):
		return nil, route.Invalid(route.Issue{
			Path: "after", Code: route.IssueMinimum, Message: "is older than what is kept: facts after it are lost; begin again without it",
		})
	case err != nil:
		return nil, err
	}
	out := &api.Facts{Items: make([]api.Fact, len(page.Facts)), Cursor: *cursors.Of(page.End.XID, page.End.Position)}
	for i := range page.Facts {
		out.Items[i] = webhook.Body(&page.Facts[i])
	}
	if page.More {
		out.NextCursor = &out.Cursor
	}
	return out, nil
}

// fromNow is the cursor of a program that wants only the facts of the future.
const fromNow = "now"

// placeInFeed returns the place in the feed that a cursor names: the beginning without a cursor,
// and the end for fromNow. A cursor has the two numbers of a place: the transaction and the
// position within it.
func (h *Handlers) placeInFeed(ctx context.Context, org int64, cursor string) (publicfacts.Cursor, error) {
	if cursor == fromNow {
		return h.Facts.End(ctx, org)
	}
	at, err := cursors.ReadParameter("after", cursor, math.MaxInt64, math.MaxInt64)
	if err != nil || at == nil {
		return publicfacts.Cursor{}, err
	}
	return publicfacts.Cursor{XID: at[0], Position: at[1]}, nil
}

// listFactTypes returns the catalogue of all types of public facts.
func (h *Handlers) listFactTypes(*route.Call, *route.None) (*api.List[api.FactType], error) {
	return &api.List[api.FactType]{Items: webhook.Types()}, nil
}

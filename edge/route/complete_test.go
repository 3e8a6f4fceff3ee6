package route_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

type noted struct {
	ID   string `path:"id" format:"id" maxLength:"100"`
	Note string `json:"note" maxLength:"100"`
}

// whole is a row that lacks nothing.
func whole() route.Op {
	return route.Op{
		Method: "POST", Path: "/api/v1/things/{id}", ID: "noteThing", Summary: "Note a thing", Tag: "Things",
		Auth: route.Member | route.Key, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay,
		Status: 201, Errors: []engine.Code{engine.NotFound},
		Handler: route.Handle(func(_ *route.Call, in *noted) (*noted, error) { return in, nil }),
	}
}

// TestARowThatLacksSomething: a route without scope, tier, idempotency, schema
// or error codes is found, and so is one that contradicts itself. No node starts
// with it, and TestRouteTable fails.
func TestARowThatLacksSomething(t *testing.T) {
	t.Parallel()
	require.Empty(t, route.Incomplete([]route.Op{whole()}))
	for fault, change := range map[string]func(*route.Op){
		"Auth: who may use it":              func(op *route.Op) { op.Auth, op.Scope = 0, 0 },
		"Scope: what members and API keys":  func(op *route.Op) { op.Scope = 0 },
		"Scope is for members and API keys": func(op *route.Op) { op.Auth = route.User },
		"no API key has the scope manage":   func(op *route.Op) { op.Scope = route.Manage },
		"Tier: what limits it":              func(op *route.Op) { op.Tier = "" },
		"Idempotency: how a write":          func(op *route.Op) { op.Idempotency = "" },
		"Errors: its own refusals":          func(op *route.Op) { op.Errors = nil },
		"Errors: NONSENSE is not":           func(op *route.Op) { op.Errors = []engine.Code{"NONSENSE"} },
		"Errors: NOT_FOUND stands twice":    func(op *route.Op) { op.Errors = []engine.Code{engine.NotFound, engine.NotFound} },
		"Handler: use route.Handle":         func(op *route.Op) { op.Handler = route.Handler{} },
		"Summary and Tag":                   func(op *route.Op) { op.Summary = "" },
		"Status 0 is no success":            func(op *route.Op) { op.Status = 0 },
		"Path is malformed":                 func(op *route.Op) { op.Path = "/api//{id}" },
		"the path has [other], the request": func(op *route.Op) { op.Path = "/api/v1/things/{other}" },
		"Method \"TRACE\"":                  func(op *route.Op) { op.Method = "TRACE" },
		"GET has no body":                   func(op *route.Op) { op.Method, op.Idempotency = "GET", "" },
		"Idempotency: how a write knows":    func(op *route.Op) { op.Method = "GET" },
		"status 204 and route.None":         func(op *route.Op) { op.Status = 204 },
		"Timeout is too long":               func(op *route.Op) { op.Timeout = time.Hour },
		"MaxBody is beyond":                 func(op *route.Op) { op.MaxBody = 1 << 30 },
	} {
		op := whole()
		change(&op)
		found := route.Incomplete([]route.Op{op})
		require.NotEmpty(t, found, fault)
		require.Contains(t, found[0]+found[len(found)-1], fault)
		require.Contains(t, found[0], "noteThing")
	}
	twice := route.Incomplete([]route.Op{whole(), whole()})
	require.Len(t, twice, 2)
	require.Contains(t, twice[0], "the operation id is taken")
	require.Contains(t, twice[1], "the path is taken")
}

// TestAFieldWithoutABound holds that no row is served of which a client could
// make a field as long or as large as it likes.
func TestAFieldWithoutABound(t *testing.T) {
	t.Parallel()
	type id = noted
	for _, tc := range []struct {
		lacking string
		handler route.Handler
	}{
		{".Text has no maxLength", taking[struct {
			id
			Text string `json:"text"`
		}]()},
		{".Text has no maxLength", taking[struct {
			id
			Text string `query:"text"`
		}]()},
		{".Text has no maxLength", taking[struct {
			id
			Text string `header:"X-Text" format:"uri"`
		}]()},
		{".Thing has no maxLength", taking[struct {
			id
			Thing string `path:"thing" format:"id"`
		}]()},
		{".Free has no maxLength", taking[struct {
			id
			Free route.Opt[jsontext.Value] `json:"free" format:"object"`
		}]()},
		{".List has no maxItems", taking[struct {
			id
			List []bool `json:"list"`
		}]()},
		{".List has no maxLength", taking[struct {
			id
			List route.Opt[[]string] `json:"list" maxItems:"1"`
		}]()},
		{".Number has no maximum", taking[struct {
			id
			Number int8 `json:"number" minimum:"0"`
		}]()},
		{".Number has no minimum", taking[struct {
			id
			Number *float64 `json:"number" maximum:"0"`
		}]()},
		{".Number has no maximum", taking[struct {
			id
			Number route.Opt[uint64] `json:"number" minimum:"0"`
		}]()},
		{".Money has no maximum", taking[struct {
			id
			Money []route.Money `query:"money" maxItems:"2" minimum:"0"`
		}]()},
		{".Lines.Number has no maximum", taking[struct {
			id
			Lines []struct {
				Number int `json:"number" minimum:"0"`
			} `json:"lines" maxItems:"3"`
		}]()},
	} {
		op := whole()
		op.Handler = tc.handler
		require.Contains(t, strings.Join(route.Incomplete([]route.Op{op}), "\n"), tc.lacking)
	}
}

// taking is a handler of requests of a type.
func taking[In any]() route.Handler {
	return route.Handle(func(*route.Call, *In) (*noted, error) { return new(noted), nil })
}

func TestScopes(t *testing.T) {
	t.Parallel()
	require.Len(t, route.AllScopes.Names(), 13, "docs/api-keys.md lists them")
	require.Equal(t, route.AllScopes, route.ScopesOf(route.AllScopes.Names()))
	require.Equal(t, route.EventsRead|route.CheckinWrite, route.ScopesOf([]string{"checkin:write", "events:read", "nonsense"}))
	require.Zero(t, route.ScopesOf([]string{"manage", "*"}), "no key may manage")
	require.Equal(t, route.AllScopes|route.Manage, route.RoleScopes(route.RoleOwner))
	require.Zero(t, route.RoleScopes(route.RoleMember)&(route.PayoutsRead|route.PayoutsWrite|route.WebhooksManage|route.Manage))
	require.Zero(t, route.RoleScopes("nonsense"))
}

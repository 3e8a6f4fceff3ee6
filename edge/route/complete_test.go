package route_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

type noted struct {
	ID   string `path:"id"`
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
		".Text has no maxLength": func(op *route.Op) {
			op.Handler = route.Handle(func(*route.Call, *struct {
				ID   string `path:"id"`
				Text string `json:"text"`
			},
			) (*noted, error) {
				return new(noted), nil
			})
		},
		".List has no maxItems": func(op *route.Op) {
			op.Handler = route.Handle(func(*route.Call, *struct {
				ID   string `path:"id"`
				List []int  `json:"list"`
			},
			) (*noted, error) {
				return new(noted), nil
			})
		},
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

func TestScopes(t *testing.T) {
	t.Parallel()
	require.Len(t, route.AllScopes.Names(), 13, "those of the specification")
	require.Equal(t, route.AllScopes, route.ScopesOf(route.AllScopes.Names()))
	require.Equal(t, route.EventsRead|route.CheckinWrite, route.ScopesOf([]string{"checkin:write", "events:read", "nonsense"}))
	require.Zero(t, route.ScopesOf([]string{"manage", "*"}), "no key may manage")
	require.Equal(t, route.AllScopes|route.Manage, route.RoleScopes(route.RoleOwner))
	require.Zero(t, route.RoleScopes(route.RoleMember)&(route.PayoutsRead|route.PayoutsWrite|route.WebhooksManage|route.Manage))
	require.Zero(t, route.RoleScopes("nonsense"))
}

package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"boxoffice/edge/openapi"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

type (
	line struct {
		TypeID   string   `json:"ticketTypeId" required:"true" format:"uuid" description:"Which type." example:"0190b6c1-0000-8000-8000-000000000007"`
		Quantity int      `json:"quantity" required:"true" minimum:"1" maximum:"100" default:"1"`
		SeatIDs  []string `json:"venueSeatIds" maxItems:"100" minLength:"1" maxLength:"80" enum:"A1,B1"`
	}
	create struct {
		Items []line                    `json:"items" required:"true" minItems:"1" maxItems:"20"`
		Price route.Money               `json:"price" minimum:"0" maximum:"1000000" default:"2.5"`
		Start time.Time                 `json:"start"`
		End   *time.Time                `json:"end"`
		Title route.Opt[string]         `json:"title" maxLength:"5"`
		Cap   route.Opt[int]            `json:"cap" minimum:"1" nullable:"false"`
		Line  route.Opt[line]           `json:"line"`
		Cost  route.Opt[route.Money]    `json:"cost" maximum:"5"`
		Free  route.Opt[jsontext.Value] `json:"free" maxLength:"100" format:"object"`
		Any   jsontext.Value            `json:"any" maxLength:"100"`
		Mood  route.Opt[string]         `json:"mood" enum:"glad,sad"`
		Home  string                    `json:"home" format:"uri" maxLength:"100" example:"https://example.org/ada"`
	}
	list struct {
		ID     string   `path:"id" format:"uuid"`
		Limit  int      `query:"limit" minimum:"1" maximum:"100" default:"20"`
		Since  *int64   `query:"since"`
		Status []string `query:"status" maxItems:"3" enum:"paid,open"`
		Agent  string   `header:"X-Agent" maxLength:"5"`
		Token  string   `query:"token" maxLength:"100"`
	}
	order struct {
		ID    string      `json:"id"`
		Total route.Money `json:"total"`
		Lines []line      `json:"lines"`
		Next  *time.Time  `json:"next"`
		Note  *string     `json:"note,omitzero"`
	}
)

func handle[In, Out any]() route.Handler {
	return route.Handle(func(*route.Call, *In) (out Out, err error) { return out, nil })
}

func table() []route.Op {
	return []route.Op{
		{
			Method: "POST", Path: "/api/v1/orders", ID: "createOrder", Summary: "Place an order", Tag: "orders", Auth: route.Public | route.User,
			Tier: route.TierStrict, Idempotency: route.ByActor, Status: 201, Errors: []engine.Code{engine.TicketSoldOut, engine.EventNotFound}, Handler: handle[create, *order](),
		},
		{
			Method: "GET", Path: "/api/v1/events/{id}/orders", ID: "listOrders", Summary: "List orders", Tag: "orders", Auth: route.Member | route.Key | route.OrderToken,
			Scope: route.OrdersRead, Tier: route.TierAdmin, Status: 200, Errors: []engine.Code{}, Handler: handle[list, []order](),
		},
		{
			Method: "DELETE", Path: "/api/v1/orders/{id}", ID: "cancelOrder", Summary: "Cancel", Tag: "orders", Auth: route.Member,
			Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 204, Errors: []engine.Code{}, Handler: handle[struct {
				ID string `path:"id" format:"id" maxLength:"128"`
			}, route.None](),
		},
	}
}

func load(t *testing.T) (*openapi3.T, string) {
	t.Helper()
	return loadTable(t, table())
}

func loadTable(t *testing.T, ops []route.Op) (*openapi3.T, string) {
	t.Helper()
	doc, err := openapi.Print(ops, openapi.Info{Title: "Boxoffice", Version: "1.2.3", BaseURL: "http://localhost:8080"})
	require.NoError(t, err)
	loaded, err := openapi3.NewLoader().LoadFromData(doc.JSON)
	require.NoError(t, err)
	require.NoError(t, loaded.Validate(t.Context()), "%s", doc.JSON)
	var same any
	require.NoError(t, yaml.Unmarshal(doc.YAML, &same))
	again, err := json.Marshal(same)
	require.NoError(t, err)
	require.JSONEq(t, string(doc.JSON), string(again))
	return loaded, string(doc.JSON)
}

func TestDocumentIsValidAndStable(t *testing.T) {
	t.Parallel()
	doc, text := load(t)
	require.Equal(t, "3.1.0", doc.OpenAPI)
	require.Equal(t, "1.2.3", doc.Info.Version)
	_, again := load(t)
	require.Equal(t, text, again)
}

func TestEveryRouteAppearsOnce(t *testing.T) {
	t.Parallel()
	doc, text := load(t)
	n := 0
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			n++
			require.Equal(t, 1, strings.Count(text, `"operationId": "`+o.OperationID+`"`), "%s %s", method, path)
		}
	}
	require.Len(t, table(), n)
	for _, op := range table() {
		o := doc.Paths.Value(op.Path).GetOperation(op.Method)
		require.Equal(t, op.ID, o.OperationID)
		require.Equal(t, op.Summary, o.Summary)
		require.NotNil(t, o.Responses.Status(op.Status), op.ID)
	}
}

func TestRequestSchemas(t *testing.T) {
	t.Parallel()
	doc, text := load(t)
	o := doc.Paths.Value("/api/v1/orders").Post
	require.True(t, o.RequestBody.Value.Required)
	body := o.RequestBody.Value.Content.Get("application/json").Schema.Value
	p := func(name string) *openapi3.Schema { return body.Properties[name].Value }
	require.Equal(t, []string{"items"}, body.Required)
	require.Equal(t, []string{"array"}, p("items").Type.Slice())
	require.EqualValues(t, 1, p("items").MinItems)
	require.EqualValues(t, 20, *p("items").MaxItems)
	item := p("items").Items.Value
	require.Equal(t, []string{"ticketTypeId", "quantity"}, item.Required)
	require.Equal(t, "uuid", item.Properties["ticketTypeId"].Value.Format)
	require.Equal(t, "Which type.", item.Properties["ticketTypeId"].Value.Description)
	seats := item.Properties["venueSeatIds"].Value
	require.EqualValues(t, 100, *seats.MaxItems)
	require.Nil(t, seats.MaxLength)
	require.Empty(t, seats.Enum)
	require.EqualValues(t, 80, *seats.Items.Value.MaxLength)
	require.Equal(t, []any{"A1", "B1"}, seats.Items.Value.Enum)
	require.Equal(t, []string{"number"}, p("price").Type.Slice())
	require.Empty(t, p("price").Format, "an amount has decimals")
	require.EqualValues(t, 1000000, *p("price").Max)
	require.Equal(t, "date-time", p("start").Format)
	require.ElementsMatch(t, []string{"string", "null"}, p("end").Type.Slice())
	require.ElementsMatch(t, []string{"string", "null"}, p("title").Type.Slice())
	require.EqualValues(t, 5, *p("title").MaxLength)
	require.Equal(t, []string{"integer"}, p("cap").Type.Slice())
	require.ElementsMatch(t, []string{"number", "null"}, p("cost").Type.Slice())
	require.Contains(t, p("line").AnyOf[0].Value.Properties, "quantity")
	require.Equal(t, body.Properties["items"].Value.Items.Ref, p("line").AnyOf[0].Ref, "one schema per type")
	require.Equal(t, []string{"null"}, p("line").AnyOf[1].Value.Type.Slice())
	require.Contains(t, p("mood").Enum, nil, "null is one of the values")
	require.Equal(t, "^https?://", p("home").Pattern)
	require.ElementsMatch(t, []string{"object", "null"}, p("free").Type.Slice())
	require.Nil(t, p("any").Type)
	require.NotContains(t, text, "Opt[")
	require.NotContains(t, text, `"Type`)
	require.NotContains(t, text, "JsontextValue")
	require.NotContains(t, text, "RouteMoney")
}

func TestParameters(t *testing.T) {
	t.Parallel()
	doc, _ := load(t)
	post, get, del := operations(doc)
	require.Nil(t, del.RequestBody)
	require.True(t, get.Parameters.GetByInAndName("path", "id").Required)
	limit := get.Parameters.GetByInAndName("query", "limit").Schema.Value
	require.EqualValues(t, 20, limit.Default)
	require.Equal(t, []string{"integer"}, get.Parameters.GetByInAndName("query", "since").Schema.Value.Type.Slice())
	status := get.Parameters.GetByInAndName("query", "status")
	require.False(t, *status.Explode)
	require.Equal(t, []any{"paid", "open"}, status.Schema.Value.Items.Value.Enum)
	require.NotNil(t, get.Parameters.GetByInAndName("header", "X-Agent"))
	require.Nil(t, get.Parameters.GetByInAndName("query", "token"), "it is a credential")

	require.Contains(t, post.Parameters.GetByInAndName("header", "Idempotency-Key").Description, "gets the first answer")
	require.Contains(t, del.Parameters.GetByInAndName("header", "Idempotency-Key").Description, "byte for byte")
	require.Nil(t, get.Parameters.GetByInAndName("header", "Idempotency-Key"))
}

// operations are the table's: placing, listing and cancelling orders.
func operations(doc *openapi3.T) (post, get, del *openapi3.Operation) {
	return doc.Paths.Value("/api/v1/orders").Post, doc.Paths.Value("/api/v1/events/{id}/orders").Get, doc.Paths.Value("/api/v1/orders/{id}").Delete
}

func TestWhoMayUseIt(t *testing.T) {
	t.Parallel()
	doc, _ := load(t)
	post, get, del := operations(doc)
	require.Len(t, doc.Components.SecuritySchemes, 4)
	require.Equal(t, openapi3.SecurityRequirements{{"accessToken": {}}, {}}, *post.Security)
	require.Equal(t, openapi3.SecurityRequirements{{"accessToken": {}}, {"apiKey": {}}, {"orderToken": {}}}, *get.Security)
	require.Equal(t, openapi3.SecurityRequirements{{"accessToken": {}}}, *del.Security)
	require.Equal(t, []any{"member", "apiKey", "orderToken"}, get.Extensions["x-credentials"])
	require.Equal(t, []any{"orders:read"}, get.Extensions["x-scopes"])
	require.NotContains(t, post.Extensions, "x-scopes")
	require.Equal(t, map[string]any{"tier": "strict", "perMinute": 30.0, "countedPer": route.Limits[route.TierStrict].CountedPer}, post.Extensions["x-rate-limit"])
	require.Equal(t, "actor", post.Extensions["x-idempotency"])
	require.Contains(t, del.Description, "For** a member of the organization.")
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	doc, _ := load(t)
	post, get, del := operations(doc)
	answer := post.Responses.Status(201).Value.Content.Get("application/json").Schema.Value
	require.Equal(t, []string{"data"}, answer.Required)
	data := answer.Properties["data"].Value
	require.Equal(t, []string{"string"}, data.Properties["total"].Value.Type.Slice())
	require.ElementsMatch(t, []string{"id", "total", "lines", "next"}, data.Required, "omitzero may be left out")
	require.ElementsMatch(t, []string{"string", "null"}, data.Properties["next"].Value.Type.Slice())
	require.Equal(t, []string{"string"}, data.Properties["note"].Value.Type.Slice(), "left out, never null")
	require.Empty(t, del.Responses.Status(204).Value.Content)

	for _, o := range []*openapi3.Operation{post, get, del} {
		for status, r := range o.Responses.Map() {
			require.Contains(t, r.Value.Headers, "X-Request-Id", "%s %s", o.OperationID, status)
			require.Equal(t, status == "401", r.Value.Headers["WWW-Authenticate"] != nil, status)
		}
	}
	require.Contains(t, del.Responses.Status(204).Value.Headers, "Idempotency-Replayed")
	require.Contains(t, post.Responses.Status(429).Value.Headers, "Retry-After")
	require.Contains(t, post.Responses.Status(503).Value.Headers, "Retry-After")
	require.Contains(t, del.Responses.Status(409).Value.Headers, "Retry-After", "in flight")
	require.NotContains(t, post.Responses.Status(409).Value.Headers, "Retry-After")
}

package openapi_test

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"boxoffice/edge"
	"boxoffice/edge/openapi"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// Every code that an operation may answer stands under its status, with an
// example that is a valid envelope; so does what the transport may find wrong.
func TestRefusals(t *testing.T) {
	t.Parallel()
	ops := new(edge.Areas).Routes()
	doc, _ := loadTable(t, ops)
	for _, op := range ops {
		o := doc.Paths.Value(op.Path).GetOperation(op.Method)
		for _, code := range append(op.AllErrors(), engine.Validation, engine.PayloadTooLarge) {
			def := engine.CodeTable[code]
			r := o.Responses.Status(engine.StatusOf(code, !op.Writes()))
			require.NotNil(t, r, "%s %s", op.ID, code)
			require.Contains(t, *r.Value.Description, "`"+string(code)+"`: "+def.Sentence)
			require.Contains(t, r.Value.Extensions["x-error-codes"], string(code))
			checkExample(t, r.Value, code)
		}
		for _, status := range []int{http.StatusRequestTimeout, http.StatusRequestHeaderFieldsTooLarge} {
			require.NotNil(t, o.Responses.Status(status), op.ID)
			checkExample(t, o.Responses.Status(status).Value, engine.Validation)
			checkLimitHeaders(t, o.Responses.Status(status).Value)
		}
		require.Equal(t, op.Tagged(), o.Responses.Status(http.StatusNotModified) != nil, op.ID)
		require.Equal(t, op.Tagged(), o.Parameters.GetByInAndName("header", "If-None-Match") != nil, op.ID)
	}
	checkExample(t, doc.Components.Responses["MethodNotAllowed"].Value, engine.MethodNotAllowed)
	checkLimitHeaders(t, doc.Components.Responses["MethodNotAllowed"].Value)
}

// checkLimitHeaders makes sure that an answer has the headers of a rate limit, which the server sends with every answer.
func checkLimitHeaders(t *testing.T, r *openapi3.Response) {
	t.Helper()
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		require.Contains(t, r.Headers, name)
	}
}

func checkExample(t *testing.T, r *openapi3.Response, code engine.Code) {
	t.Helper()
	content := r.Content.Get("application/json")
	example := content.Examples[string(code)]
	require.NotNil(t, example, code)
	require.NoError(t, content.Schema.Value.VisitJSON(example.Value.Value))
	text, err := json.Marshal(example.Value.Value)
	require.NoError(t, err)
	var envelope struct {
		Error struct {
			Code engine.Code
		}
	}
	require.NoError(t, json.Unmarshal(text, &envelope))
	require.Equal(t, code, envelope.Error.Code)
}

// The catalogue is the whole one, in words and for programs.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	doc, _ := load(t)
	rows, ok := doc.Extensions["x-error-codes"].(map[string]any)
	require.True(t, ok)
	require.Len(t, rows, len(engine.CodeTable))
	for code, def := range engine.CodeTable {
		require.Equal(t, map[string]any{"status": float64(def.Status), "retryable": def.Retryable, "message": def.Sentence}, rows[string(code)])
		require.Contains(t, doc.Info.Description, "| `"+string(code)+"` | "+strconv.Itoa(def.Status)+" | "+def.Sentence+" |")
	}
	for tier, limit := range route.Limits {
		require.Contains(t, doc.Info.Description, "| `"+string(tier)+"` | "+strconv.Itoa(limit.PerMinute)+" | "+limit.CountedPer+" |")
	}
}

// The node's own document: every group is described, every component is used,
// and every example can be sent.
func TestRealTable(t *testing.T) {
	t.Parallel()
	doc, text := loadTable(t, new(edge.Areas).Routes())
	for _, tag := range doc.Tags {
		require.NotEmpty(t, tag.Description, "tag %q", tag.Name)
	}
	for name := range doc.Components.Schemas {
		require.True(t, strings.Contains(text, `"#/components/schemas/`+name+`"`), "%s is not used", name)
		require.NotRegexp(t, `Type\d$|\[|Boxoffice|^Api`, name)
	}
	for name := range doc.Components.Examples {
		require.True(t, strings.Contains(text, `"#/components/examples/`+name+`"`), "%s is not used", name)
	}
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			if o.RequestBody == nil {
				continue
			}
			content := o.RequestBody.Value.Content.Get("application/json")
			if form := o.RequestBody.Value.Content.Get("multipart/form-data"); form != nil {
				require.Contains(t, form.Schema.Value.Required, "file", "%s %s", method, path)
				continue
			}
			if o.RequestBody.Value.Content.Get("application/x-www-form-urlencoded") != nil { // a form of another's, which is not read
				continue
			}
			if o.RequestBody.Value.Content.Get("application/octet-stream") != nil { // a file as it is
				continue
			}
			require.NotNil(t, content.Example, "%s %s", method, path)
			require.NoError(t, content.Schema.Value.VisitJSON(content.Example, openapi3.EnableFormatValidation()), "%s %s", method, path)
		}
	}
}

// endpoints are the operations that a service of this kind has to offer: method, path,
// whether it streams (sse) or not, and its group, one a line below the heading.
//
//go:embed testdata/endpoints.tsv
var endpoints string

// TestSpecifiedEndpoints finds each of these operations in the document, whatever its parameters are called,
// and finds that it streams if it has to.
func TestSpecifiedEndpoints(t *testing.T) {
	t.Parallel()
	doc, _ := loadTable(t, new(edge.Areas).Routes())
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	documented := map[string]*openapi3.Operation{}
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			documented[method+" "+parameter.ReplaceAllString(path, "{}")] = o
		}
	}
	rows := strings.Split(strings.TrimSpace(endpoints), "\n")[1:]
	require.Len(t, rows, 114)
	for _, row := range rows {
		cells := strings.Split(row, "\t")
		o := documented[cells[0]+" "+parameter.ReplaceAllString(cells[1], "{}")]
		require.NotNil(t, o, row)
		ok := o.Responses.Status(http.StatusOK)
		streams := ok != nil && ok.Value.Content.Get("text/event-stream") != nil
		require.Equal(t, cells[2] == "sse", streams, row)
	}
}

// Generators of clients make a type of each enumeration, named by its component and its
// member. One that is named as a component makes them drop both, and all that holds them.
func TestNoEnumerationIsNamedAsAComponent(t *testing.T) {
	t.Parallel()
	doc, _ := loadTable(t, new(edge.Areas).Routes())
	taken := map[string]bool{}
	for name := range doc.Components.Schemas {
		taken[strings.ToLower(name)] = true
	}
	for name, schema := range doc.Components.Schemas {
		for member, property := range schema.Value.Properties {
			enum := property.Value.Enum
			if items := property.Value.Items; items != nil && items.Ref == "" {
				enum = append(enum, items.Value.Enum...)
			}
			if len(enum) > 0 {
				require.False(t, taken[strings.ToLower(name+member)], "the enumeration of %s.%s and a component have one name", name, member)
			}
		}
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	doc, text := load(t)
	post, _, _ := operations(doc)
	require.Equal(t, map[string]any{
		"items": []any{map[string]any{"ticketTypeId": "0190b6c1-0000-8000-8000-000000000007", "quantity": 1.0}},
		"home":  "https://example.org/ada",
	}, post.RequestBody.Value.Content.Get("application/json").Example)
	require.Regexp(t, `(?s)"example": \{\s+"items": .*"ticketTypeId": [^}]*"quantity": .*"home": `, text, "in the order of the type")
}

// A table with an example that is none does not start.
func TestBadExample(t *testing.T) {
	t.Parallel()
	op := table()[0]
	op.Handler = handle[struct {
		N int `json:"n" example:"many"`
	}, *order]()
	_, err := openapi.Print([]route.Op{op}, openapi.Info{})
	require.ErrorContains(t, err, "example")
}

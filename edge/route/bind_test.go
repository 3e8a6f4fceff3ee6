package route

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
)

// fields is a request with a field of every sort.
type fields struct {
	ID     string   `path:"id" format:"uuid"`
	Limit  int      `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Status []string `query:"status" maxItems:"3" enum:"paid,open"`
	Since  *int64   `query:"since"`
	Agent  string   `header:"X-Agent" maxLength:"5"`
	members
}

type members struct {
	Title   string         `json:"title" required:"true" minLength:"2" maxLength:"5"`
	Count   int8           `json:"count" minimum:"0" default:"7"`
	Unsig   uint16         `json:"unsigned"`
	Flag    bool           `json:"flag" required:"true"`
	Ratio   float64        `json:"ratio" minimum:"-1.5" maximum:"1.5"`
	Price   Money          `json:"price" minimum:"0" maximum:"1000000"`
	Start   time.Time      `json:"start"`
	Kind    string         `json:"kind" enum:"a,b"`
	Level   int            `json:"level" enum:"1,2,3"`
	Tags    []string       `json:"tags" maxItems:"2" maxLength:"3"`
	Lines   []item         `json:"lines" minItems:"1" maxItems:"3"`
	Point   *item          `json:"point"`
	Name    Opt[string]    `json:"name" maxLength:"3"`
	Cap     Opt[int]       `json:"cap" minimum:"1" nullable:"false"`
	Labels  Opt[[]string]  `json:"labels" maxItems:"1" maxLength:"2"`
	Closing Opt[time.Time] `json:"closing"`
	Inner   struct{ item } `json:"inner"`
	Grid    [][]int        `json:"grid" maxItems:"2"`

	Free   jsontext.Value      `json:"free" maxLength:"20"`
	Object Opt[jsontext.Value] `json:"object" maxLength:"30" format:"object"`
}

type item struct {
	Quantity int    `json:"quantity" required:"true" minimum:"1" maximum:"100"`
	Zone     string `json:"zone" format:"timezone"`
	Children []item `json:"children" maxItems:"2"`
}

// request is a Source made of maps.
type request struct {
	path, header map[string]string
	query        map[string][]string
}

func (r request) Param(name string) (string, bool) { s, ok := r.path[name]; return s, ok }
func (r request) Header(name string) []byte        { return []byte(r.header[name]) }
func (request) Part(string) (string, bool)         { return "", false }
func (r request) Query(name string) (all [][]byte) {
	for _, s := range r.query[name] {
		all = append(all, []byte(s))
	}
	return all
}

func (r request) QueryNames() iter.Seq[string] { return maps.Keys(r.query) }

const someID = "0190b6c1-0000-8000-8000-000000000007"

func compileOf[T any]() *plan {
	return Handle(func(*Call, *T) (None, error) { return None{}, nil }).plan
}

// read binds a request and returns what was read with the issues as text.
func read[T any](body string, src Source) (*T, []string) {
	var in *T
	h := Handle(func(_ *Call, got *T) (None, error) { in = got; return None{}, nil })
	c := NewCall(context.Background(), &Op{Status: 204}, time.Now())
	defer c.End()
	c.Body = []byte(body)
	err := h.Serve(c, src, new(bytes.Buffer))
	if err == nil {
		return in, nil
	}
	var all []string
	refusal, _ := errors.AsType[*engine.Refusal](err)
	details, _ := refusal.Details.(ValidationDetails)
	for _, i := range details.Issues {
		all = append(all, i.Path+": "+i.Code)
	}
	return in, all
}

func TestReadsEveryField(t *testing.T) {
	t.Parallel()
	src := request{
		path: map[string]string{"id": someID}, header: map[string]string{"X-Agent": "gate"},
		query: map[string][]string{"status": {"paid,open"}, "since": {"-5"}},
	}
	in, issues := read[fields](`{"title":"h\u00e9llo","unknown":{"a":[1,{}]},"flag":false,"ratio":1e0,"price":12.5,"start":"2026-01-02T03:04:05.1234567+01:00",
		"kind":"b","level":2,"tags":["x","yy"],"lines":[{"quantity":1,"children":[{"quantity":2,"zone":"Europe/Berlin"}]}],"point":null,
		"name":null,"cap":3,"labels":["z"],"inner":{"quantity":9},"grid":[[1,2],[]],"unsigned":65535,
		"free":[1, {"a":2}],"object":{"\\u0000":"\u0041"}}`, src)
	require.Empty(t, issues)
	since := int64(-5)
	require.Equal(t, someID, in.ID)
	require.Equal(t, 20, in.Limit)
	require.Equal(t, []string{"paid", "open"}, in.Status)
	require.Equal(t, &since, in.Since)
	require.Equal(t, "gate", in.Agent)
	want := members{
		Title: "héllo", Count: 7, Unsig: 65535, Ratio: 1, Price: 12500, Start: time.Date(2026, 1, 2, 3, 4, 5, 123456000, time.FixedZone("", 3600)),
		Kind: "b", Level: 2, Tags: []string{"x", "yy"},
		Lines: []item{{Quantity: 1, Children: []item{{Quantity: 2, Zone: "Europe/Berlin"}}}},
		Name:  Null[string](), Cap: Some(3), Labels: Some([]string{"z"}), Grid: [][]int{{1, 2}, nil},
		Free: jsontext.Value(`[1, {"a":2}]`), Object: Some(jsontext.Value(`{"\\u0000":"\u0041"}`)),
	}
	want.Inner.Quantity = 9
	require.Equal(t, want, in.members)
}

func TestReportsEveryIssue(t *testing.T) {
	t.Parallel()
	const ok = `"title":"ok","flag":true`
	good := request{path: map[string]string{"id": someID}}
	for body, want := range map[string][]string{
		``:                                  {"title: required", "flag: required"},
		`{}`:                                {"title: required", "flag: required"},
		`{"title":null,"flag":null}`:        {"title: required", "flag: required"},
		`null`:                              {": type"},
		`[]`:                                {": type"},
		`"x"`:                               {": type"},
		`{` + ok + `,"price":1.0005}`:       {"price: decimals"},
		`{` + ok + `,"price":-1}`:           {"price: minimum"},
		`{` + ok + `,"price":1e300}`:        {"price: maximum"},
		`{` + ok + `,"price":1000000.01}`:   {"price: maximum"},
		`{` + ok + `,"price":"1"}`:          {"price: type"},
		`{` + ok + `,"count":128}`:          {"count: maximum"},
		`{` + ok + `,"count":-129}`:         {"count: minimum"},
		`{` + ok + `,"count":1.5}`:          {"count: type"},
		`{` + ok + `,"count":"1"}`:          {"count: type"},
		`{` + ok + `,"unsigned":-1}`:        {"unsigned: type"},
		`{` + ok + `,"unsigned":65536}`:     {"unsigned: maximum"},
		`{` + ok + `,"ratio":1e999}`:        {"ratio: type"},
		`{` + ok + `,"start":"yesterday"}`:  {"start: type"},
		`{` + ok + `,"start":1}`:            {"start: type"},
		`{` + ok + `,"kind":"c"}`:           {"kind: enum"},
		`{` + ok + `,"kind":"a\u0000"}`:     {"kind: format"},
		`{` + ok + `,"level":4}`:            {"level: enum"},
		`{` + ok + `,"tags":["a","b","c"]}`: {"tags: max_items"},
		`{` + ok + `,"tags":["long","ok"]}`: {"tags[0]: max_length"},
		`{` + ok + `,"tags":["a",null]}`:    {"tags[1]: type"},
		`{` + ok + `,"tags":{}}`:            {"tags: type"},
		`{` + ok + `,"lines":[]}`:           {"lines: min_items"},
		`{` + ok + `,"lines":[{"quantity":0},{},{"quantity":1,"children":[{"quantity":101,"zone":"Local"}]}]}`: {
			"lines[0].quantity: minimum", "lines[1].quantity: required",
			"lines[2].children[0].quantity: maximum", "lines[2].children[0].zone: format",
		},
		`{` + ok + `,"lines":[1,[]]}`:                            {"lines[0]: type", "lines[1]: type"},
		`{` + ok + `,"point":{}}`:                                {"point.quantity: required"},
		`{` + ok + `,"name":"long","cap":0}`:                     {"name: max_length", "cap: minimum"},
		`{` + ok + `,"name":1,"cap":null}`:                       {"name: type", "cap: null"},
		`{` + ok + `,"labels":["a","b"]}`:                        {"labels: max_items"},
		`{` + ok + `,"labels":["abc"]}`:                          {"labels[0]: max_length"},
		`{` + ok + `,"grid":[[1],["a"]]}`:                        {"grid[1][0]: type"},
		`{"title":"x","flag":"yes","level":9,"kind":true}`:       {"title: min_length", "flag: type", "level: enum", "kind: type"},
		`{"title":"toolong","flag":1}`:                           {"title: max_length", "flag: type"},
		`{` + ok + `,"free":"` + strings.Repeat("x", 19) + `"}`:  {"free: max_length"},
		`{` + ok + `,"free":["\u0000"],"object":{"\\\u0000":1}}`: {"free: format", "object: format"},
		`{` + ok + `,"object":[]}`:                               {"object: type"},
		`{` + ok + `,"object":{"a":1,"a":2}}`:                    {"object.a: duplicate"},
		// What is no JSON is told alone.
		`{`:                              {": json"},
		`{"title":"x"`:                   {": json"},
		`{` + ok + `} `:                  nil,
		`{` + ok + `}x`:                  {": json"},
		`{` + ok + `}{}`:                 {": json"},
		`{` + ok + `,}`:                  {": json"},
		`{` + ok + `,"a":01}`:            {": json"},
		`{` + ok + `,"title":"b"}`:       {"title: duplicate"},
		`{` + ok + `,"a":{"b":1,"b":2}}`: {"a.b: duplicate"},
		"{\"title\":\"\xff\"}":           {"title: json"},
		`{"title":"\ud800"}`:             {"title: json"},
		"\xef\xbb\xbf{" + ok + "}":       {": json"},
		`{` + ok + `,"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`: {": depth"},
		strings.Repeat(`{"lines":[`, 100_000):                                        {": depth"},
		`{` + ok + `,"a":"` + strings.Repeat(`[`, 40) + `\"{"}`:                      nil,
	} {
		_, issues := read[fields](body, good)
		require.Equal(t, want, issues, "%.200s", body)
	}
}

func TestParameterIssues(t *testing.T) {
	t.Parallel()
	type in struct {
		ID     string    `path:"id" format:"uuid"`
		Limit  int       `query:"limit" minimum:"1" maximum:"100" default:"20"`
		Status []string  `query:"status" maxItems:"2" enum:"paid,open"`
		Flag   bool      `query:"flag"`
		From   time.Time `query:"from"`
		Q      string    `query:"q" required:"true" maxLength:"3"`
	}
	good := map[string]string{"id": someID}
	for name, c := range map[string]struct {
		path  map[string]string
		query map[string][]string
		want  []string
	}{
		"all well":      {good, map[string][]string{"q": {"a"}}, nil},
		"missing":       {nil, nil, []string{"id: required", "q: required"}},
		"empty":         {good, map[string][]string{"q": {""}, "limit": {""}}, []string{"q: required"}},
		"twice":         {good, map[string][]string{"q": {"a"}, "limit": {"1", "2"}}, []string{"limit: duplicate"}},
		"wrong types":   {map[string]string{"id": "7"}, map[string][]string{"q": {"a"}, "limit": {"x"}, "flag": {"1"}, "from": {"now"}}, []string{"id: format", "limit: type", "flag: type", "from: type"}},
		"out of range":  {good, map[string][]string{"q": {"abcd"}, "limit": {"101"}}, []string{"limit: maximum", "q: max_length"}},
		"overflow":      {good, map[string][]string{"q": {"a"}, "limit": {"99999999999999999999"}}, []string{"limit: maximum"}},
		"list":          {good, map[string][]string{"q": {"a"}, "status": {"paid,lost"}}, []string{"status[1]: enum"}},
		"long list":     {good, map[string][]string{"q": {"a"}, "status": {"paid,paid,paid"}}, []string{"status: max_items"}},
		"invalid UTF-8": {good, map[string][]string{"q": {"\xff"}}, []string{"q: format"}},
		"NUL":           {good, map[string][]string{"q": {"\x00"}}, []string{"q: format"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, issues := read[in]("", request{path: c.path, query: c.query})
			require.Equal(t, c.want, issues)
		})
	}
}

func TestIssuesAreBounded(t *testing.T) {
	t.Parallel()
	type in struct {
		Numbers []int `json:"numbers" maxItems:"5000"`
	}
	_, issues := read[in](`{"numbers":[`+strings.TrimSuffix(strings.Repeat(`"x",`, 5000), ",")+`]}`, request{})
	require.Len(t, issues, MaxIssues)
}

func TestIssueMessages(t *testing.T) {
	t.Parallel()
	c := NewCall(t.Context(), &Op{Status: 204}, time.Now())
	c.Body = []byte(`{"title":"x","flag":true,"kind":"z"}`)
	h := Handle(func(*Call, *members) (None, error) { return None{}, nil })
	err := h.Serve(c, request{}, new(bytes.Buffer))
	require.Equal(t, Invalid(
		Issue{"title", IssueMinLength, "must have at least 2 characters"},
		Issue{"kind", IssueEnum, "must be one of a, b"},
	), err)
}

// TestKeepsNothingOfTheBody changes the body after the handler has kept its
// request, as fasthttp does.
func TestKeepsNothingOfTheBody(t *testing.T) {
	t.Parallel()
	body := []byte(`{"title":"abc","flag":true,"tags":["x\u0041"],"name":"nam"}`)
	var kept *members
	h := Handle(func(_ *Call, in *members) (None, error) { kept = in; return None{}, nil })
	c := NewCall(t.Context(), &Op{Status: 204}, time.Now())
	c.Body = body
	require.NoError(t, h.Serve(c, request{}, new(bytes.Buffer)))
	for i := range body {
		body[i] = 'Z'
	}
	_, _ = read[members](`{"title":"zz\u0042","flag":true,"tags":["\u0043"]}`, request{})
	require.Equal(t, "abc", kept.Title)
	require.Equal(t, []string{"xA"}, kept.Tags)
	require.Equal(t, "nam", kept.Name.Value)
}

func TestCompileRefusesWrongTables(t *testing.T) {
	t.Parallel()
	for want, make := range map[string]func(){
		"carries no path": func() { compileOf[struct{ A string }]() },
		"needs a name": func() {
			compileOf[struct {
				B struct{ A string } `json:"b"`
			}]()
		},
		"repeats": func() {
			type inner struct {
				A string `json:"a"`
			}
			compileOf[struct {
				inner
				B string `json:"a"`
			}]()
		},
		"minLength does not fit": func() {
			compileOf[struct {
				A int `json:"a" minLength:"1"`
			}]()
		},
		"maxItems does not fit": func() {
			compileOf[struct {
				A string `json:"a" maxItems:"1"`
			}]()
		},
		"minimum does not fit": func() {
			compileOf[struct {
				A string `json:"a" minimum:"1"`
			}]()
		},
		"unknown format": func() {
			compileOf[struct {
				A string `json:"a" format:"phone"`
			}]()
		},
		"is no count": func() {
			compileOf[struct {
				A string `json:"a" maxLength:"-1"`
			}]()
		},
		"must be an integer": func() {
			compileOf[struct {
				A int `json:"a" maximum:"ten"`
			}]()
		},
		"default must be": func() {
			compileOf[struct {
				A int `json:"a" maximum:"10" default:"11"`
			}]()
		},
		"cannot have a default": func() {
			compileOf[struct {
				A *int `json:"a" default:"11"`
			}]()
		},
		"cannot be bound": func() {
			compileOf[struct {
				A map[string]int `json:"a"`
			}]()
		},
		"cannot be a parameter": func() {
			compileOf[struct {
				A struct{} `query:"a"`
			}]()
		},
		"cannot be required": func() {
			compileOf[struct {
				A Opt[int] `json:"a" required:"true"`
			}]()
		},
		"nullable but no Opt": func() {
			compileOf[struct {
				A int `json:"a" nullable:"true"`
			}]()
		},
		"is object": func() {
			compileOf[struct {
				A jsontext.Value `json:"a" format:"date"`
			}]()
		},
		"is not a struct": func() { compileOf[int]() },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			defer func() { require.Contains(t, fmt.Sprint(recover()), want) }()
			make()
			t.Fatal("no panic")
		})
	}
}

func TestCallContext(t *testing.T) {
	t.Parallel()
	parent, cancel := context.WithCancel(t.Context())
	now := time.Now()

	c := NewCall(parent, &Op{Timeout: time.Hour}, now)
	at, ok := c.Context.Deadline()
	require.True(t, ok)
	require.Equal(t, now.Add(time.Hour), at)
	require.NoError(t, c.Context.Err())
	child, stop := context.WithTimeout(c.Context, time.Hour)
	defer stop()
	c.End()
	require.ErrorIs(t, c.Context.Err(), context.Canceled)
	<-child.Done()

	c = NewCall(parent, &Op{}, now)
	c.End() // never waited on
	<-c.Context.Done()
	require.Error(t, c.Context.Err())

	c = NewCall(parent, &Op{}, now.Add(-time.Minute))
	<-c.Context.Done()
	require.ErrorIs(t, c.Context.Err(), context.DeadlineExceeded)
	c.End()

	c = NewCall(parent, &Op{}, now)
	defer c.End()
	cancel()
	<-c.Context.Done()
	require.ErrorIs(t, c.Context.Err(), context.Canceled)
}

func TestBodyHash(t *testing.T) {
	t.Parallel()
	c := &Call{Body: []byte("abc")}
	require.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", fmt.Sprintf("%x", c.BodyHash()))
	require.Equal(t, c.BodyHash(), c.BodyHash())
}

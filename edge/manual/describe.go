package manual

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

// operation is an operation as its page shows it.
type operation struct {
	ID, Method, Path, Summary string
	Text                      template.HTML
	For                       []string // whom it is for, in words
	Takes                     []string // the credentials, as the document names them
	Scopes                    []string
	Limit                     string
	Parameters                []input
	BodyType                  string  // of the body's content; "": there is none
	Body                      []field // of a body of members
	Example                   string  // of a body that is a text
	Answers                   []shownAnswer
	Refusals                  []refusal
}

// IsRead reports whether the operation changes nothing.
func (o *operation) IsRead() bool { return o.Method == "GET" }

// Plain reports whether the body is no form.
func (o *operation) Plain() bool { return o.BodyType != "" && !o.Form() }

// AnswersJSON reports whether a success has data.
func (o *operation) AnswersJSON() bool {
	return slices.ContainsFunc(o.Answers, func(a shownAnswer) bool { return len(a.Fields) > 0 })
}

// Form reports whether the body is a form with a file.
func (o *operation) Form() bool { return o.BodyType == formType }

// tokenText says what the query's token is, which the document lists among the credentials.
const tokenText = "What proves who asks: the access token of the order, or the token of the stream."

const (
	jsonType = "application/json"
	formType = "multipart/form-data"
)

// input is a parameter of the address or a header.
type input struct {
	Field field
	In    string // path, query or header
}

// shownAnswer is a success.
type shownAnswer struct {
	Status, Text string
	Types        []string // of content that is not JSON
	Fields       []field
}

// refusal is one code with which the operation may be refused.
type refusal struct {
	Status, Code, Text string
	Retry              bool
}

// describer says what the document says of an operation, in the words of a language.
type describer struct {
	*reference
	words *words
}

func (d *describer) describeOperation(op *documentedOp) (*operation, error) {
	text, _, _ := strings.Cut("\n\n"+op.Description, "\n\n**For** ") // what follows is shown by itself
	said, err := renderMarkdown(text)
	if err != nil {
		return nil, err
	}
	o := &operation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Text: said, Takes: op.Credentials, Scopes: op.Scopes}
	for _, c := range op.Credentials {
		o.For = append(o.For, d.words.Credentials[c])
	}
	if op.Limit != nil {
		o.Limit = fmt.Sprintf(d.words.PerMinute, op.Limit.PerMinute, op.Limit.CountedPer)
	}
	for i := range op.Parameters {
		p := d.resolveParameter(&op.Parameters[i])
		f := d.describeField(p.Name, p.Schema, p.Required, nil)
		f.Text = renderLine(p.Description)
		f.Type = d.words.In[p.In] + ", " + f.Type
		o.Parameters = append(o.Parameters, input{f, p.In})
	}
	if op.RequestBody == nil && (slices.Contains(op.Credentials, "orderToken") || slices.Contains(op.Credentials, "liveToken")) {
		o.Parameters = append(o.Parameters, input{field{Name: "token", Type: d.words.In["query"] + ", string", Required: len(op.Credentials) == 1, Text: renderLine(tokenText)}, "query"})
	}
	places := []string{"path", "query", "header"}
	slices.SortStableFunc(o.Parameters, func(a, b input) int { return slices.Index(places, a.In) - slices.Index(places, b.In) })
	if op.RequestBody != nil {
		for kind, c := range op.RequestBody.Content { // there is one
			o.BodyType, o.Body = kind, d.listMembers(c.Schema, nil)
			var pretty bytes.Buffer
			if json.Indent(&pretty, c.Example, "", "  ") == nil && kind == jsonType {
				o.Example = pretty.String()
			}
		}
	}
	d.addAnswers(o, op)
	return o, nil
}

// addAnswers adds what the operation answers, and with which codes it refuses.
func (d *describer) addAnswers(o *operation, op *documentedOp) {
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		a := d.resolveAnswer(op.Responses[status])
		for _, name := range a.Codes {
			c := d.Codes[name]
			o.Refusals = append(o.Refusals, refusal{status, name, c.Message, c.Retryable})
		}
		if len(a.Codes) > 0 {
			continue
		}
		s := shownAnswer{Status: status, Text: a.Description}
		for _, kind := range slices.Sorted(maps.Keys(a.Content)) {
			if kind == jsonType {
				s.Fields = d.listMembers(a.Content[kind].Schema, nil)
			} else {
				s.Types = append(s.Types, kind)
			}
		}
		o.Answers = append(o.Answers, s)
	}
}

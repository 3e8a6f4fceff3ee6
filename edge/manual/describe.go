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

// operation is an operation of the API in the form in which its page shows it.
type operation struct {
	ID, Method, Path, Summary string
	Text                      template.HTML
	// For lists the people and programs that may call the operation, in the page's language.
	For []string
	// Takes has the credentials that the operation accepts, by their names in the document.
	Takes      []string
	Scopes     []string
	Limit      string
	Parameters []input
	// BodyType is the content type of the request's body, or "" if it has none.
	BodyType string
	// Body has the members of a body that is an object.
	Body []field
	// Example is an example of a JSON body, indented, or "".
	Example  string
	Answers  []shownAnswer
	Refusals []refusal
}

// IsRead reports whether the operation only reads. The page asks the reader before it sends
// a request that writes.
func (o *operation) IsRead() bool { return o.Method == "GET" }

// Plain reports whether the operation has a body that is text, and not a form with a file.
func (o *operation) Plain() bool { return o.BodyType != "" && !o.Form() }

// AnswersJSON reports whether a successful answer has JSON with members.
func (o *operation) AnswersJSON() bool {
	return slices.ContainsFunc(o.Answers, func(a shownAnswer) bool { return len(a.Fields) > 0 })
}

// Form reports whether the body is a form with a file.
func (o *operation) Form() bool { return o.BodyType == formType }

// tokenText describes the parameter token, which describeOperation adds to an operation without a
// body that takes such a token. The document lists the token among the credentials and not among
// the parameters.
const tokenText = "What proves who asks: the access token of the order, or the token of the stream."

const (
	jsonType = "application/json"
	formType = "multipart/form-data"
)

// input is a parameter of the operation: in its path, in its query or in a header.
type input struct {
	Field field
	In    string // path, query or header
}

// shownAnswer is a successful answer of an operation, as the operation's page shows it.
type shownAnswer struct {
	Status, Text string
	// Types has the content types of an answer that is not JSON.
	Types  []string
	Fields []field
}

// refusal is one error code with which the operation may refuse.
type refusal struct {
	Status, Code, Text string
	// Retry is set if a retry of the same request may succeed.
	Retry bool
}

// describer turns what the document says about an operation into what a page shows, in the words of
// one language.
type describer struct {
	*reference
	words *words
}

// describeOperation makes the page's view of an operation. The document repeats
// credentials, scopes and limit at the end of the description, for readers who see only the
// text; the page shows them as fields, so that part is cut off.
func (d *describer) describeOperation(op *documentedOp) (*operation, error) {
	text, _, _ := strings.Cut("\n\n"+op.Description, "\n\n**For** ") // the page shows the rest as fields
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
	// Parameters are shown in the order in which a caller meets them: path, query, headers.
	places := []string{"path", "query", "header"}
	slices.SortStableFunc(o.Parameters, func(a, b input) int { return slices.Index(places, a.In) - slices.Index(places, b.In) })
	if op.RequestBody != nil {
		for kind, c := range op.RequestBody.Content { // a body has one content type
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

// addAnswers adds the operation's answers and the codes with which it refuses. An answer with error
// codes is a refusal. Every other answer counts as a success.
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

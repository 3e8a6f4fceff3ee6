package manual

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
)

//go:embed snippets.html
var snippetSource string

var snippetTemplates = template.Must(template.New("snippets").Parse(snippetSource))

// snippet is a call of an operation in one programming language.
type snippet struct {
	Lang, Name string
	Text       template.HTML
}

// snippetLanguages are the languages of snippets, without their texts, in the order of their tabs
// on the page.
var snippetLanguages = []snippet{{Lang: "curl", Name: "curl"}, {Lang: "typescript", Name: "TypeScript"}, {Lang: "python", Name: "Python"}, {Lang: "go", Name: "Go"}}

// segment is a part of a path. Name is the parameter's name if the part is a parameter, and
// otherwise "".
type segment struct{ Text, Name string }

// parameterInPath matches a parameter in a path; its first group is the parameter's name.
var parameterInPath = regexp.MustCompile(`\{([^}]+)\}`)

// splitPath cuts a path at its parameters, so that the page's script can replace the parameters by
// the reader's values.
func splitPath(path string) (all []segment) {
	at := 0
	for _, m := range parameterInPath.FindAllStringSubmatchIndex(path, -1) {
		all = append(all, segment{Text: path[at:m[0]]}, segment{path[m[0]:m[1]], path[m[2]:m[3]]})
		at = m[1]
	}
	return append(all, segment{Text: path[at:]})
}

// These are the credentials that a snippet may show. The page's script replaces the placeholder by
// the reader's own.
const (
	tokenOfKey     = "key"
	tokenOfSession = "session"
)

// tokenFor returns the kind of credential that a snippet shows, and the text that stands for it: an API key if the
// operation accepts one, or else a session. It returns "" for an operation that accepts no API key, but can be
// called without credentials or with a token in the query.
func tokenFor(op *operation, env string) (token, placeholder string) {
	takes := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(op.Takes, n) })
	}
	switch {
	case takes("apiKey"):
		return tokenOfKey, "vt_" + env + "_…"
	case takes("public", "orderToken", "liveToken"):
		return "", ""
	}
	return tokenOfSession, "ACCESS_TOKEN"
}

// literal matches a string of JSON, or one of the words that Python spells in another way.
var literal = regexp.MustCompile(`"(?:\\.|[^"\\])*"|\b(?:true|false|null)\b`)

// writePython turns a JSON text into Python, which spells true, false and null in another way. The
// regular expression also matches strings, so that these words inside strings stay unchanged.
func writePython(text string) string {
	return literal.ReplaceAllStringFunc(text, func(s string) string {
		switch s {
		case "true":
			return "True"
		case "false":
			return "False"
		case "null":
			return "None"
		}
		return s
	})
}

// makeSnippets writes the call of an operation in each of the languages. In the example for curl,
// single quotes are escaped, because they would end the shell's string. The example for Python is
// written by writePython.
func makeSnippets(base, env string, op *operation) ([]snippet, error) {
	token, placeholder := tokenFor(op, env)
	call := struct {
		Base                                    string
		Segments                                []segment
		Op                                      *operation
		Token, Placeholder, Lower, Curl, Python string
	}{base, splitPath(op.Path), op, token, placeholder, strings.ToLower(op.Method), strings.ReplaceAll(op.Example, "'", `'\''`), writePython(op.Example)}
	all := slices.Clone(snippetLanguages)
	for i := range all {
		var b bytes.Buffer
		if err := snippetTemplates.ExecuteTemplate(&b, all[i].Lang, call); err != nil {
			return nil, fmt.Errorf("snippet: %w", err)
		}
		all[i].Text = template.HTML(b.String()) //nolint:gosec // the template has escaped it
	}
	return all, nil
}

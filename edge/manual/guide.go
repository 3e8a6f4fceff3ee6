package manual

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"boxoffice/docs"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

//go:embed guide.md
var guideText string

// makeGuide makes the HTML of the developer's guide. Its table of error codes and its list of
// limits are made from the code, so they cannot be out of date.
func makeGuide(base string) (template.HTML, error) {
	return renderAt(base, strings.NewReplacer("{{codes}}", codeTable(), "{{limits}}", limitList()).Replace(guideText))
}

// makeSeatedSale makes the HTML of the tutorial that leads from a venue map to a scan at the gate.
// No node serves the other documents of the repository, so links to them become plain text.
func makeSeatedSale(base string) (template.HTML, error) {
	return renderAt(base, documentLinks.ReplaceAllString(docs.SeatedSale, "$1"))
}

// documentLinks matches a link to another document of the repository; its first group is
// the text of the link.
var documentLinks = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\.md[^)]*\)`)

// writtenBase is the server's address in the snippets of the documents. renderAt replaces it by the
// node's address.
const writtenBase = "http://127.0.0.1:8080"

// renderAt renders Markdown, with base instead of writtenBase in its snippets.
func renderAt(base, text string) (template.HTML, error) {
	return renderMarkdown(strings.ReplaceAll(text, writtenBase, base))
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// renderMarkdown renders Markdown that we have written ourselves. Code and tables, which may be
// wide, get a tabindex, so that a reader who uses only the keyboard can scroll them.
func renderMarkdown(text string) (template.HTML, error) {
	var body bytes.Buffer
	if err := markdown.Convert([]byte(text), &body); err != nil {
		return "", fmt.Errorf("render markdown: %w", err)
	}
	wide := strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>")
	return template.HTML(wide.Replace(body.String())), nil //nolint:gosec // goldmark leaves out what is HTML in a text
}

// renderLine renders a single sentence as HTML. It escapes everything. The only markup that it
// knows is code between backquotes.
func renderLine(text string) template.HTML {
	parts := strings.Split(template.HTMLEscapeString(text), "`")
	if len(parts)%2 == 0 { // a backquote without a second one
		return template.HTML(strings.Join(parts, "`")) //nolint:gosec // escaped above
	}
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String()) //nolint:gosec // escaped above
}

// codeTable returns a table of all error codes, in Markdown.
func codeTable() string {
	var b strings.Builder
	b.WriteString("| Code | Status | Again? | What it says |\n|---|---|---|---|\n")
	for _, code := range slices.Sorted(maps.Keys(engine.CodeTable)) {
		def, again := engine.CodeTable[code], ""
		if def.Retryable {
			again = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", code, def.Status, again, def.Sentence)
	}
	return b.String()
}

// limitList returns a sentence about the rate limits of all tiers.
func limitList() string {
	var tiers []string
	for _, tier := range slices.Sorted(maps.Keys(route.Limits)) {
		l := route.Limits[tier]
		tiers = append(tiers, fmt.Sprintf("%s %d (by %s)", tier, l.PerMinute, l.CountedPer))
	}
	return "In a minute: " + strings.Join(tiers, "; ") + "."
}

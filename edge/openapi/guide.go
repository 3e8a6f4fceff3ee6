package openapi

import (
	"bytes"
	_ "embed"
	"fmt"
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

// makeGuide makes a page of the developer's guide, with the tables that the code knows.
func makeGuide(base string) ([]byte, error) {
	return renderPage(base, "developer's guide", strings.NewReplacer("{{codes}}", codeTable(), "{{limits}}", limitList()).Replace(guideText))
}

// makeSeatedSale makes a page of the walk from a map to a scan. Documents of the repository that no
// node serves are named there without a link.
func makeSeatedSale(base string) ([]byte, error) {
	return renderPage(base, "a seated sale", documentLinks.ReplaceAllString(docs.SeatedSale, "$1"))
}

var documentLinks = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\.md[^)]*\)`)

// writtenBase is where the snippets of the documents go as they are written.
const writtenBase = "http://127.0.0.1:8080"

// renderPage makes a page of Markdown, whose snippets go to base.
func renderPage(base, title, text string) ([]byte, error) {
	text = strings.ReplaceAll(text, writtenBase, base)
	var body bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	if err := md.Convert([]byte(text), &body); err != nil {
		return nil, fmt.Errorf("%s: %w", title, err)
	}
	frame, err := page.ReadFile("page/guide.html")
	return []byte(strings.NewReplacer("{{title}}", title, "{{guide}}", body.String()).Replace(string(frame))), err
}

// codeTable is every code of the catalogue, a row each.
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

// limitList says what each tier lets through.
func limitList() string {
	var tiers []string
	for _, tier := range slices.Sorted(maps.Keys(route.Limits)) {
		l := route.Limits[tier]
		tiers = append(tiers, fmt.Sprintf("%s %d (by %s)", tier, l.PerMinute, l.CountedPer))
	}
	return "In a minute: " + strings.Join(tiers, "; ") + "."
}

// Package hostile holds what tests send wherever a text of a user may stand, and how
// they see that it has stayed text. Tests only. It imports nothing of the edge, so that
// every package of the edge can use it.
package hostile

import (
	_ "embed"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// Texts are texts that try to become markup, a script, a link, a header or a
// command to a template, wherever a user's text may stand.
var Texts = []string{
	`<script>alert(1)</script>`, `"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`, `</p></td></table><svg onload=alert(1)>`,
	`<svg><animate onbegin=alert(1) attributeName=x dur=1s>`, `" onmouseover="alert(1)" x="`, `' autofocus onfocus=alert(1) '`, "` onload=alert(1) `",
	`javascript:alert(1)`, ` JaVaScRiPt:alert(1)`, "java\tscript:alert(1)", `data:text/html,<script>alert(1)</script>`, `vbscript:x`,
	`</title><script>alert(1)</script>`, `</style><script>alert(1)</script>`, `</textarea><script>alert(1)</script>`, `--><script>alert(1)</script><!--`, `<![CDATA[<script>]]>`,
	`{{.Name}}{{template "body" .}}{{define "x"}}`, `${7*7}#{7*7}<%= 7*7 %>`, `{{constructor.constructor('alert(1)')()}}`, `&lt;script&gt;`, `&#60;script&#62;`, `%3Cscript%3E`,
	"Ada\r\nBcc: eve@evil.example\r\n\r\n<script>", "Ada\nSubject: won", "Ada\rX: y", "Ada\r\n .\r\nQUIT\r\n", "=?utf-8?B?PHNjcmlwdD4=?=", "Ada\u2028Bcc: eve@evil.example", "Ada\u0085X: y",
	"\u202e>tpircs<", "\uff1cscript\uff1e", "\u200b<\u200bscript>", "<scr\x00ipt>alert(1)</scr\x00ipt>", "\xff<script>", "\ufeff<script>", "💥<b>", "a" + strings.Repeat("\u0301", 300) + "<i>",
	"END:VEVENT\r\nBEGIN:VALARM\r\nACTION:PROCEDURE", "x\\nATTENDEE:mailto:eve@evil.example;y,z", strings.Repeat("<b>", 1000),
}

//go:embed scripts.txt
var scripts string

// Scripts are texts that run a script where they become markup, one a line: what the
// cheat sheets of OWASP, PortSwigger and html5sec.org have, by kind of hole. All of them
// call alert, or load from evil.example.
var Scripts = strings.Split(strings.TrimSuffix(scripts, "\n"), "\n")

// Markup is what a page may consist of.
type Markup struct {
	Elements, Attributes string            // words
	Values               map[string]string // by attribute, the regular expression that its values match
}

// Hold checks that a page of HTML has only these elements, attributes and values, and no comment.
func (m Markup) Hold(t testing.TB, page, what string) {
	t.Helper()
	elements, attributes := strings.Fields(m.Elements), strings.Fields(m.Attributes)
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err, what)
	for n := range root.Descendants() {
		require.NotEqual(t, html.CommentNode, n.Type, what)
		if n.Type != html.ElementNode {
			continue
		}
		require.Contains(t, elements, n.Data, what)
		for _, a := range n.Attr {
			require.Contains(t, attributes, a.Key, "%s: %s", what, n.Data)
			if pattern, ok := m.Values[a.Key]; ok {
				require.Regexp(t, regexp.MustCompile(pattern), a.Val, "%s: %s %s", what, n.Data, a.Key)
			}
		}
	}
}

// Shape lists the elements of a page of HTML in order, each with the names of its
// attributes: what no text may change.
func Shape(t testing.TB, page string) []string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	var shape []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		words := []string{n.Data}
		for _, a := range n.Attr {
			words = append(words, a.Key)
		}
		shape = append(shape, strings.Join(words, " "))
	}
	return shape
}

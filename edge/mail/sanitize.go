package mail

import (
	"errors"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// simpleHTML allows what an organizer's mail may consist of: simply formatted text, and links to the web or
// to a mail address.
var simpleHTML = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "b", "strong", "i", "em", "u", "ul", "ol", "li", "blockquote", "a")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(false)
	p.AllowRelativeURLs(false)
	return p
}()

// noHTML removes all markup and keeps the text.
var noHTML = bluemonday.StrictPolicy()

var (
	tagged    = regexp.MustCompile(`</?[a-zA-Z][^>]*>|&[a-zA-Z#][0-9a-zA-Z]*;`)
	lineBreak = regexp.MustCompile(`(?i)<br\s*/?>|</(p|li|blockquote|ul|ol)>`)
	anchor    = regexp.MustCompile(`(?s)<a href="(?:mailto:)?([^"]*)"[^>]*>(.*?)</a>`)
	unprinted = regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f]`)
)

// Sanitize turns what an organizer wrote, as simple HTML or as plain text, into HTML that is safe in a mail. It
// drops the markup that simpleHTML does not allow, and all markup if elements are nested too deeply.
func Sanitize(body string) string {
	body = unprinted.ReplaceAllString(strings.ToValidUTF8(body, ""), "")
	if !tagged.MatchString(body) {
		return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(body)), "\n", "<br>")
	}
	safe, ok := balanceElements(simpleHTML.Sanitize(body))
	if !ok {
		return strings.ReplaceAll(noHTML.Sanitize(body), "\n", "<br>")
	}
	return strings.TrimSpace(safe)
}

// deepest is how deep elements may be nested.
const deepest = 20

// balanceElements closes open elements and drops end tags that close nothing, so that the organizer's text
// cannot change what follows it. ok is false if elements are nested too deeply for mail programs.
func balanceElements(safe string) (balanced string, ok bool) {
	within := &html.Node{Type: html.ElementNode, Data: "blockquote", DataAtom: atom.Blockquote}
	nodes, err := html.ParseFragment(strings.NewReader(safe), within)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	for _, n := range nodes {
		if nestingOf(n) > deepest || html.Render(&b, n) != nil {
			return "", false
		}
	}
	return b.String(), true
}

func nestingOf(n *html.Node) int {
	most := 0
	for child := range n.ChildNodes() {
		most = max(most, nestingOf(child))
	}
	return most + 1
}

// UnlinkedHTML shows the links in the result of Sanitize as plain words.
func UnlinkedHTML(safe string) string {
	within := &html.Node{Type: html.ElementNode, Data: "blockquote", DataAtom: atom.Blockquote}
	nodes, err := html.ParseFragment(strings.NewReader(safe), within)
	var b strings.Builder
	for _, n := range nodes {
		unlinkNode(n)
		err = errors.Join(err, html.Render(&b, n))
	}
	if err != nil { // it does not happen to what Sanitize has made
		return html.EscapeString(Unlinked(noHTML.Sanitize(safe)))
	}
	return b.String()
}

// halfLink matches the end of a text that the text after it may complete to a link. Unlinked does not change
// such an end, because a dot with one letter after it is no link yet.
var halfLink = regexp.MustCompile(`[.。．｡:/\\]\pL?$`)

// unlinkNode changes links into spans, and all text so that a mail program finds no link in it. It adds a
// space after half a link, so that the text of the next element can't complete it.
func unlinkNode(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		if n.Data = Unlinked(n.Data); halfLink.MatchString(n.Data) {
			n.Data += " "
		}
	case n.DataAtom == atom.A:
		n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
	}
	for child := range n.ChildNodes() {
		unlinkNode(child)
	}
}

// plainText splits the result of Sanitize into lines without markup. It puts the address of a link in
// brackets after the link's words, unless the words are the address.
func plainText(safe string) []string {
	safe = anchor.ReplaceAllStringFunc(safe, func(link string) string {
		address, words := anchor.FindStringSubmatch(link)[1], anchor.FindStringSubmatch(link)[2]
		if noHTML.Sanitize(words) == address {
			return address
		}
		return words + " (" + address + ")"
	})
	return splitWritten(html.UnescapeString(noHTML.Sanitize(lineBreak.ReplaceAllString(safe, "\n"))))
}

package mail

import (
	"bytes"
	_ "embed"
	"fmt"
	htmltemplate "html/template"
	"strings"
	"text/template"
	"unicode/utf8"
)

// A mail is written once for each language. Its template results in a list of blocks, from which
// both the text and the HTML are made, so that both say the same.
//
// A template calls the functions in marks for everything that is not plain words. They put control characters
// around their arguments. No person's text has these, because oneLine, or Sanitize in HTML, removes them. A line of
// a template is a line of the text; the HTML joins the lines of a paragraph. An empty line ends a paragraph.
const (
	beginStrong, endStrong = "\x01", "\x02"
	beginLink, endLink     = "\x03", "\x04"
	beginBlock             = "\x1c" // followed by the kind and its parts, to the end of the line
	betweenParts           = "\x1f"
)

// These are the kinds of blocks.
const (
	textBlock    = "text"    // a paragraph
	smallBlock   = "small"   // a paragraph of less weight
	codeBlock    = "code"    // a code to type; part: the code
	buttonBlock  = "button"  // parts: label, address
	quoteBlock   = "quote"   // what somebody wrote as plain text; parts: its lines
	writtenBlock = "written" // what somebody wrote as HTML; parts: the HTML, then its lines as plain text
	rowsBlock    = "rows"    // a row of a table; parts: label, value
	pricesBlock  = "prices"  // a row of a list of prices; parts: what is sold, price
	ticketBlock  = "ticket"  // part: picture; the ticket's lines follow, to the end of the paragraph
)

// marks are the functions of the templates. A template must call each of them at the start of a line, except
// strong and link, which may stand anywhere in a line.
var marks = template.FuncMap{
	"strong": func(text string) string { return beginStrong + text + endStrong },
	"link":   func(address string) string { return beginLink + address + endLink },
	"small":  func() string { return markBlock(smallBlock) + "\n" },
	"code":   func(code string) string { return markBlock(codeBlock, code) },
	"button": func(label, address string) string { return markBlock(buttonBlock, label, address) },
	"quote":  func(lines []string) string { return markBlock(quoteBlock, lines...) },
	"written": func(safe htmltemplate.HTML, lines []string) string {
		return markBlock(writtenBlock, append([]string{strings.ReplaceAll(string(safe), "\n", " ")}, lines...)...)
	},
	"row":    func(label, value string) string { return markBlock(rowsBlock, label, value) },
	"price":  func(what, price string) string { return markBlock(pricesBlock, what, price) },
	"ticket": func(picture htmltemplate.URL) string { return markBlock(ticketBlock, string(picture)) },
}

// markBlock returns a line of a template's output that begins a block, or that is one row of it.
func markBlock(kind string, parts ...string) string {
	return beginBlock + strings.Join(append([]string{kind}, parts...), betweenParts)
}

// piece is a part of a line with one style.
type piece struct {
	Text   string
	Strong bool
	Link   bool // the piece is a link, and Text is its address
}

// line is a line of a mail, as its pieces in order.
type line []piece

// String returns the texts of the line's pieces, without styles.
func (l line) String() string {
	var b strings.Builder
	for _, p := range l {
		b.WriteString(p.Text)
	}
	return b.String()
}

// pair is a row with two columns. In a list of prices, a row without Right is a note on the row before it.
type pair struct{ Left, Right line }

// block is a paragraph, or another part of a mail that has its own lines, of one of the kinds above.
type block struct {
	Kind    string
	Lines   []line            // the lines of a paragraph, of a quotation or of a ticket
	Rows    []pair            // of rowsBlock and pricesBlock
	Text    string            // a code or the label of a button
	Address string            // where a button leads
	Written htmltemplate.HTML // of writtenBlock
	Picture htmltemplate.URL  // the picture of a ticket's code; "": none
}

// readBlocks splits the output of a "body" template into blocks. An empty line ends a block, and so does the mark of
// another block. Rows of one kind that follow each other become one block. The lines after the marks small and ticket
// belong to their block; lines without a mark are a paragraph.
func readBlocks(source string) (blocks []block) {
	var open *block // the block to which the next line belongs; nil: the next line begins a block
	begin := func(b block) {
		blocks = append(blocks, b)
		open = &blocks[len(blocks)-1]
	}
	for text := range strings.SplitSeq(source, "\n") {
		text = strings.TrimRight(text, " ")
		mark, isMark := strings.CutPrefix(text, beginBlock)
		parts := strings.Split(mark, betweenParts)
		switch {
		case text == "":
			open = nil
		case isMark && (parts[0] == rowsBlock || parts[0] == pricesBlock):
			if open == nil || open.Kind != parts[0] {
				begin(block{Kind: parts[0]})
			}
			open.Rows = append(open.Rows, pair{readLine(parts[1]), readLine(parts[2])})
		case isMark:
			begin(readBlock(parts))
			if parts[0] != ticketBlock && parts[0] != smallBlock {
				open = nil
			}
		case open == nil || open.Kind == rowsBlock || open.Kind == pricesBlock:
			begin(block{Kind: textBlock, Lines: []line{readLine(text)}})
		default:
			open.Lines = append(open.Lines, readLine(text))
		}
	}
	return blocks
}

// readBlock makes a block from the parts of a marked line; parts[0] is its kind.
func readBlock(parts []string) block {
	b := block{Kind: parts[0]}
	switch b.Kind {
	case codeBlock:
		b.Text = parts[1]
	case buttonBlock:
		b.Text, b.Address = parts[1], parts[2]
	case quoteBlock, writtenBlock:
		lines := parts[1:]
		if b.Kind == writtenBlock {
			b.Written, lines = htmltemplate.HTML(parts[1]), parts[2:] //nolint:gosec // Sanitize has made it
		}
		for _, text := range lines {
			b.Lines = append(b.Lines, line{{Text: text}})
		}
	case ticketBlock:
		b.Picture = htmltemplate.URL(parts[1]) //nolint:gosec // our own words
	}
	return b
}

// readLine splits a line of a template's output into its pieces.
func readLine(text string) (l line) {
	for text != "" {
		at := strings.IndexAny(text, beginStrong+beginLink)
		if at < 0 {
			return append(l, piece{Text: text})
		}
		if at > 0 {
			l = append(l, piece{Text: text[:at]})
		}
		p, end := piece{Strong: true}, endStrong
		if text[at:at+1] == beginLink {
			p, end = piece{Link: true}, endLink
		}
		p.Text, text, _ = strings.Cut(text[at+1:], end)
		l = append(l, p)
	}
	return l
}

// writeText makes the plain text of a mail from its blocks, with an empty line between two of them.
func writeText(blocks []block, w *words) string {
	var out strings.Builder
	for i := range blocks {
		if i > 0 {
			out.WriteByte('\n')
		}
		blocks[i].writeText(&out, w)
	}
	return out.String()
}

// writeText writes one block as plain text. Rows become "label: value" with the values in one column. Each line
// of a quotation, and each note among prices, begins with "> ". The lines of a ticket after its first are
// indented.
func (b *block) writeText(out *strings.Builder, w *words) {
	switch b.Kind {
	case codeBlock:
		fmt.Fprintf(out, "    %s\n", b.Text)
	case buttonBlock:
		fmt.Fprintf(out, "%s:\n\n%s\n", b.Text, b.Address)
	case rowsBlock:
		width := w.label
		for _, row := range b.Rows {
			width = max(width, utf8.RuneCountInString(row.Left.String())+2)
		}
		for _, row := range b.Rows {
			fmt.Fprintf(out, "%-*s%s\n", width, row.Left.String()+":", row.Right)
		}
	case pricesBlock:
		for _, row := range b.Rows {
			if len(row.Right) == 0 {
				fmt.Fprintf(out, "> %s\n", row.Left)
			} else {
				fmt.Fprintf(out, "%s: %s\n", row.Left, row.Right)
			}
		}
	default:
		for i, l := range b.Lines {
			switch {
			case b.Kind == quoteBlock || b.Kind == writtenBlock:
				out.WriteString("> ")
			case b.Kind == ticketBlock && i > 0:
				out.WriteString("  ")
			}
			out.WriteString(l.String() + "\n")
		}
	}
}

//go:embed layout.html
var layoutSource string

var layout = htmltemplate.Must(htmltemplate.New("layout").Parse(layoutSource))

// shownMail is what layout.html shows.
type shownMail struct {
	Language       Language
	Subject, Hello string
	Blocks         []block
	Foot           string
	Cover          string // the address of the picture of the event that the mail is about; "": none
	Title          string // the title of that event
}

// writeHTML makes the HTML of a mail by the layout.
func writeHTML(m *shownMail) string {
	var out bytes.Buffer
	if err := layout.Execute(&out, m); err != nil {
		panic(err) // a defect, which the golden test finds
	}
	return out.String()
}

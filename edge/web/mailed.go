package web

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
)

//go:embed mailed.html
var mailedSource string

var mailedTemplate = template.Must(template.New("mailed").Parse(mailedSource))

// mailedPage is the page to which a link in a mail leads. It does one thing, and only when a person presses
// its button, because programs that check mails for harm open the links too.
type mailedPage struct {
	Path   string // the address of the page
	API    string // the path under /api/v1 that the button calls; the link's token is in the body unless the path has {token}
	Forget string // the key that the page then removes from the browser's storage; "" for none
	words  bilingual[mailedWords]
}

// drawMailed writes the pages to which links in mails lead, in both languages. They are files without any
// token, the same for everybody.
func drawMailed(style, script string) ([]File, error) {
	files := make([]File, 0, len(mailedPages))
	for i := range mailedPages {
		p := &mailedPages[i]
		f := File{Path: p.Path, Type: types[".html"], Policy: Policy, Cache: cacheAsk}
		var err error
		if f.Body, err = p.draw(style, script, false); err != nil {
			return nil, err
		}
		if f.German, err = p.draw(style, script, true); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// draw writes the page in one language.
func (p *mailedPage) draw(style, script string, german bool) ([]byte, error) {
	common, own := mailedRefusals.in(german), p.words.in(german)
	refused, err := json.Marshal(common.Refused)
	if err != nil {
		return nil, fmt.Errorf("web: %s: %w", p.Path, err)
	}
	var body bytes.Buffer
	err = mailedTemplate.Execute(&body, struct {
		*mailedPage
		*mailedWords
		Lang, NeedsScript, Refused, Style, Script string
		Frame                                     template.HTML
	}{p, own, common.Lang, common.NeedsScript, string(refused), style, script, frameIn(german)})
	if err != nil {
		return nil, fmt.Errorf("web: %s: %w", p.Path, err)
	}
	return body.Bytes(), nil
}

//go:embed unsubscribe.html
var unsubscribeSource string

var unsubscribeTemplate = template.Must(template.New("unsubscribe").Parse(unsubscribeSource))

// WriteUnsubscribeLink returns a page for a person who opens the List-Unsubscribe link of a mail's header,
// which is meant for mail programs. The page links to /unsubscribe with the same token. It has no script and
// no style sheet, because its policy allows none.
func WriteUnsubscribeLink(token string, german bool) ([]byte, error) {
	var body bytes.Buffer
	err := unsubscribeTemplate.Execute(&body, struct {
		*mailedWords
		Lang, Token string
	}{unsubscribing.in(german), mailedRefusals.in(german).Lang, token})
	if err != nil {
		return nil, fmt.Errorf("web: page of the link in a mail's header: %w", err)
	}
	return body.Bytes(), nil
}

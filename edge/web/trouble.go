package web

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/valyala/fasthttp"
)

// Trouble is the reason why a page can't be shown to a person.
type Trouble struct {
	Status  int    // the status of the answer, by HTTP
	Wait    int    // the page reloads itself after this many seconds; 0: it does not reload
	Request string // the id that support asks for
	German  bool   // the reader prefers German
}

// troubleWords are what the page says of one kind of trouble.
type troubleWords struct{ Title, Hint string }

// troubleTexts are the words of one language. of holds those for each status; a status that is missing there
// is shown as status 500.
type troubleTexts struct {
	Lang                   string
	Home, Ask, Again, Soon string
	of                     map[int]troubleWords
}

var troubles = bilingual[troubleTexts]{english: englishTrouble, german: germanTrouble}

var englishTrouble = troubleTexts{
	Lang: "en", Home: "See what is on", Ask: "If you ask for help, name this request:",
	Again: "This page loads again by itself in # s.", Soon: "This page loads again by itself in a moment.",
	of: map[int]troubleWords{
		fasthttp.StatusForbidden:           {"You may not see this page", "It is open to others, or from another address. If you came by a link, ask whoever gave it to you."},
		fasthttp.StatusNotFound:            {"This page is not here", "The address may be wrong, or what was here is gone."},
		fasthttp.StatusTooManyRequests:     {"One moment, please", "Very many requests come from your network. Nothing is lost: what you have chosen or paid stays yours."},
		fasthttp.StatusInternalServerError: {"Something went wrong here", "It is our fault, and we have a note of it. What you have paid is not lost. Load the page again; if it stays so, tell us."},
		fasthttp.StatusServiceUnavailable:  {"We are not quite there", "Something that we need does not answer at the moment. What you have paid is not lost."},
	},
}

var germanTrouble = troubleTexts{
	Lang: "de", Home: "Was läuft", Ask: "Wenn du um Hilfe bittest, nenne diese Anfrage:",
	Again: "Die Seite lädt von selbst neu, in # s.", Soon: "Die Seite lädt gleich von selbst neu.",
	of: map[int]troubleWords{
		fasthttp.StatusForbidden:           {"Diese Seite ist nicht für dich offen", "Sie ist für andere, oder von einer anderen Adresse aus. Kamst du über einen Link, so frage, wer ihn dir gab."},
		fasthttp.StatusNotFound:            {"Diese Seite gibt es nicht", "Vielleicht stimmt die Adresse nicht, oder es gibt sie nicht mehr."},
		fasthttp.StatusTooManyRequests:     {"Einen Moment, bitte", "Aus deinem Netz kommen sehr viele Anfragen. Nichts ist verloren: Was du gewählt oder bezahlt hast, bleibt dir."},
		fasthttp.StatusInternalServerError: {"Hier ist etwas schiefgegangen", "Das liegt an uns, und wir haben es notiert. Was du gezahlt hast, ist nicht verloren. Lade die Seite neu; bleibt es so, sag uns Bescheid."},
		fasthttp.StatusServiceUnavailable:  {"Wir sind gleich wieder da", "Etwas, das wir brauchen, antwortet gerade nicht. Was du gezahlt hast, ist nicht verloren."},
	},
}

//go:embed trouble.html
var troubleSource string

var troubleTemplate = template.Must(template.New("trouble").Parse(troubleSource))

// TroublePage writes the page of an error. Browsers get it where other programs get the error in JSON.
type TroublePage struct{ style, script string }

// NewTroublePage returns the page with the style sheet and the script that are among the files.
func NewTroublePage(files []File) (*TroublePage, error) {
	var p TroublePage
	for _, f := range files {
		switch {
		case strings.HasSuffix(f.Path, "/paper.css"):
			p.style = f.Path
		case strings.HasSuffix(f.Path, "/wait.js"):
			p.script = f.Path
		}
	}
	if p.style == "" || p.script == "" {
		return nil, fmt.Errorf("web: the style sheet or the script of the page of errors is missing")
	}
	return &p, nil
}

// Write writes the page of t. A status without words of its own gets the words of status 500.
func (p *TroublePage) Write(w io.Writer, t *Trouble) error {
	texts := troubles.in(t.German)
	words, ok := texts.of[t.Status]
	if !ok {
		words = texts.of[fasthttp.StatusInternalServerError]
	}
	err := troubleTemplate.Execute(w, struct {
		*troubleTexts
		troubleWords
		*Trouble
		Style, Script string
		Frame         template.HTML
	}{texts, words, t, p.style, p.script, frameIn(t.German)})
	if err != nil {
		return fmt.Errorf("web: page of an error: %w", err)
	}
	return nil
}

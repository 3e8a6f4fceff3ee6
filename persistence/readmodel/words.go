package readmodel

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"boxoffice/engine/event"
)

const (
	maxWord  = 64 // runes of a word that count
	maxAsked = 16 // words of a search that count
)

// latin has a spelling in plain Latin letters for letters that Unicode does not take apart into a letter and an
// accent. Cyrillic and Greek are spelt in Latin letters too, so that a name is found in either script. Besides,
// the trigrams of Postgres, which find misspelt words, know only ASCII letters in the locale C.
var latin = readSpellings(`ß ss ø o æ ae œ oe đ d ð d þ th ł l ı i ħ h ŋ n ſ s ĸ k
а a б b в v г g д d е e ж zh з z и i к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh щ shch ъ - ы y ь - э e ю yu я ya
є ye ґ g ђ dj ј j љ lj њ nj ћ c џ dz ѕ dz
α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o`)

// readSpellings reads a table in which each letter is followed by its spelling. A dash means that the spelling is
// empty.
func readSpellings(table string) map[rune]string {
	fields := strings.Fields(table)
	m := make(map[rune]string, len(fields)/2)
	for i := 0; i < len(fields); i += 2 {
		m[[]rune(fields[i])[0]] = strings.Trim(fields[i+1], "-")
	}
	return m
}

// unparted are the scripts that put no space between words. Each of their signs counts as a word, because finding the
// words would take a dictionary.
var unparted = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// wordsOf lists a text's words in the one form in which events have them and searches ask for them: in lower
// case, without accents, and in Latin letters where latin knows the letter. Each sign of a script without
// spaces (unparted) is a word. A word is cut after maxWord characters.
func wordsOf(s string) []string {
	var all []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			all = append(all, string(word[:min(len(word), maxWord)]))
			word = word[:0]
		}
	}
	// NFKD takes letters apart from their accents, and writes variants such as full-width letters as the common ones.
	for _, r := range norm.NFKD.String(s) {
		r = unicode.ToLower(r)
		switch spelled, known := latin[r]; {
		case unicode.Is(unicode.Mn, r): // an accent
		case known:
			word = append(word, []rune(spelled)...)
		case unicode.In(r, unparted...):
			end()
			word = append(word, r)
			end()
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			word = append(word, r)
		default:
			end()
		}
	}
	end()
	return all
}

// searched are the columns that an event is found by.
type searched struct {
	search string // a tsvector of its words, the words of its title the heaviest (A)
	words  string // the words of search, as a text
	// title (with the short description), city and venue are the texts that filters look in, folded as a filter's
	// own text is.
	title, city, venue string
}

// searchColumns makes the columns by which an event is found. In the vector each word has its position in the text
// and a weight, from A for the title to D for the place.
func searchColumns(d *event.Details) searched {
	var vector strings.Builder
	var all []string
	for _, part := range []struct {
		text   string
		weight byte
	}{{d.Title, 'A'}, {strings.Join(d.Tags, "\n"), 'B'}, {d.ShortDesc, 'C'}, {d.VenueName, 'D'}, {d.VenueCity, 'D'}} {
		for _, w := range wordsOf(part.text) {
			all = append(all, w)
			_, _ = fmt.Fprintf(&vector, "'%s':%d%c ", w, len(all), part.weight) // never fails
		}
	}
	return searched{
		search: vector.String(), words: strings.Join(all, " "),
		title: foldLines(d.Title, d.ShortDesc), city: foldText(d.VenueCity), venue: foldText(d.VenueName),
	}
}

// asked is a search as it was read.
type asked struct {
	words  []string
	needed []string   // the words that an event must have
	begun  [][]string // for each needed word, the words of events that begin with it; nil: the word is looked for as a beginning
	near   [][]string // for each needed word, the words of events that it may be a misspelling of
}

// NormalSearch returns a search in its normal form. Two texts with the same words in the same order
// have the same one.
func NormalSearch(s string) string { return strings.Join(readAsked(s).words, " ") }

// readAsked reads a search. An event needs all longer words of it. Words of up to three letters, such as
// articles and prepositions in most languages, raise the event's rank but need not be there. A short word
// in a script that latin does not spell in Latin letters counts as a long one.
func readAsked(s string) asked {
	var a asked
	a.words = wordsOf(s)
	a.words = a.words[:min(len(a.words), maxAsked)]
	for _, w := range a.words {
		if len(w) > 3 || w[0] >= 0x80 {
			a.needed = append(a.needed, w)
		}
	}
	// A search that consists of short words needs all of them.
	if a.needed == nil {
		a.needed = a.words
	}
	a.begun, a.near = make([][]string, len(a.needed)), make([][]string, len(a.needed))
	return a
}

// writeNeededQuery returns a tsquery for all needed words: each as it is, as a beginning, or misspelt. It uses
// whole words where it can. If a search has a frequent word and a rare one, the index then reads few of the
// frequent word's entries, whereas for a beginning it reads all entries.
func (a *asked) writeNeededQuery() string {
	parts := make([]string, len(a.needed))
	for i, w := range a.needed {
		begun := quoteAll(a.begun[i])
		if begun == nil {
			begun = []string{prefixQuery(w)}
		}
		parts[i] = "(" + anyOf(append(begun, quoteAll(a.near[i])...)) + ")"
	}
	return strings.Join(parts, " & ")
}

// writeExactQuery returns a tsquery for any of the words, whole or as the beginning of a word.
func (a *asked) writeExactQuery() string {
	parts := make([]string, len(a.words))
	for i, w := range a.words {
		parts[i] = prefixQuery(w)
	}
	return anyOf(parts)
}

// nearQuery returns a tsquery for any of the words, or any word that one of them may be a misspelling of.
func (a *asked) nearQuery() string {
	parts := []string{a.writeExactQuery()}
	for _, near := range a.near {
		parts = append(parts, quoteAll(near)...)
	}
	return anyOf(parts)
}

// prefixQuery returns a tsquery for words that begin with this one.
func prefixQuery(word string) string { return "'" + word + "':*" }

// quoteAll makes a tsquery of each word, and nil of nil. Words consist of letters and digits, so no quote can end
// one.
func quoteAll(words []string) []string {
	if words == nil {
		return nil
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + w + "'"
	}
	return quoted
}

func anyOf(queries []string) string { return strings.Join(queries, " | ") }

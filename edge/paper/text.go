package paper

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

//go:embed fonts/*.ttf fonts/*.ttc
var fontFiles embed.FS

// These fonts are part of each document. They have Latin, Greek, Cyrillic, Armenian, Georgian,
// Hebrew and Arabic letters.
const (
	regularFile = "DejaVuSans.ttf"
	boldFile    = "DejaVuSans-Bold.ttf"
)

// others are the fonts for letters that the document's fonts lack. The first of them that has a
// letter is used. They have no bold letters.
var others = []string{
	"NotoSansDevanagari-Regular.ttf", "NotoSansBengali-Regular.ttf", "NotoSansTamil-Regular.ttf", "NotoSansTelugu-Regular.ttf",
	"NotoSansGujarati-Regular.ttf", "NotoSansGurmukhi-Regular.ttf", "NotoSansKannada-Regular.ttf", "NotoSansMalayalam-Regular.ttf",
	"NotoSansSinhala-Regular.ttf", "NotoSansThai-Regular.ttf", "NotoSansLao-Regular.ttf", "NotoSansKhmer-Regular.ttf",
	"NotoSansMyanmar-Regular.ttf", "NotoSansEthiopic-Regular.ttf",
	"WenQuanYiMicroHei.ttc", // Chinese, Japanese and Korean
}

// fontData returns the file of a font that is embedded in the program.
func fontData(name string) []byte {
	data, err := fontFiles.ReadFile(path.Join("fonts", name))
	if err != nil {
		panic(err) // it is part of the program
	}
	return data
}

// parsed returns all fonts by file name. It parses them once, at its first call.
var parsed = sync.OnceValue(func() map[string]*font.Font {
	all := map[string]*font.Font{}
	for _, name := range append([]string{regularFile, boldFile}, others...) {
		faces, err := font.ParseTTC(bytes.NewReader(fontData(name))) // it also reads a file of one font
		if err != nil {
			panic(fmt.Errorf("paper: font %s: %w", name, err)) // it is part of the program
		}
		all[name] = faces[0].Font
	}
	return all
})

// typesetter lays texts out for one document. Its faces have caches, so only one goroutine may use
// it.
type typesetter struct {
	plain, bold fallback
	segmenter   shaping.Segmenter
	shaper      shaping.HarfbuzzShaper
	wrapper     shaping.LineWrapper
}

// fallback is a list of faces. A letter is shown by the first face that has it.
type fallback []*font.Face

// newTypesetter makes a typesetter with faces of its own, because a face may serve only one goroutine at a time.
func newTypesetter() *typesetter {
	fonts := parsed()
	var rest fallback
	for _, name := range others {
		rest = append(rest, font.NewFace(fonts[name]))
	}
	with := func(name string) fallback { return append(fallback{font.NewFace(fonts[name])}, rest...) }
	return &typesetter{plain: with(regularFile), bold: with(boldFile)}
}

// ResolveFace returns the first face that has a letter, or the first face if none has. It
// implements shaping.Fontmap.
func (f fallback) ResolveFace(r rune) *font.Face {
	i := slices.IndexFunc(f, func(face *font.Face) bool { return hasLetter(face, r) })
	return f[max(i, 0)]
}

func hasLetter(face *font.Face, r rune) bool {
	glyph, ok := face.NominalGlyph(r)
	return ok && glyph != 0
}

// missing stands for each letter that no font has.
const missing = '□'

// cleanText returns a text as one line that the fonts can show: invisible characters are dropped,
// and letters that no font has become missing. So every name can be printed.
func (f fallback) cleanText(s string) []rune {
	var out []rune
	for _, r := range norm.NFC.String(strings.ToValidUTF8(s, "")) {
		switch {
		case unicode.IsSpace(r):
			out = append(out, ' ')
		case r == '\u200c' || r == '\u200d': // these join letters, or keep them from joining
			out = append(out, r)
		case !unicode.IsPrint(r): // drops characters that nobody sees, also those that change the direction of a text
		case hasLetter(f.ResolveFace(r), r):
			out = append(out, r)
		default:
			out = append(out, missing)
		}
	}
	return out
}

// em is the font size at which texts are laid out, so that lengths are in thousandths of the font
// size.
const em = 1000

// layOut breaks a text into lines that are at most width wide. width is in multiples of the font
// size. It returns nil for an empty text.
func (t *typesetter) layOut(text []rune, faces fallback, width float64) []shaping.Line {
	if len(text) == 0 {
		return nil
	}
	direction := directionOf(text)
	// The letters of a document's own fonts are written as texts, in which nothing is
	// kerned or joined.
	features := []shaping.FontFeature{{Tag: opentype.MustNewTag("kern")}, {Tag: opentype.MustNewTag("liga")}}
	input := shaping.Input{Text: text, RunEnd: len(text), Direction: direction, Size: fixed.I(em), FontFeatures: features}
	runs := slices.Clone(t.segmenter.Split(input, faces))
	shaped := make([]shaping.Output, len(runs))
	for i, run := range runs {
		if run.Direction == di.DirectionRTL || run.Face != faces[0] {
			run.FontFeatures = nil
		}
		shaped[i] = t.shaper.Shape(run)
	}
	config := shaping.WrapConfig{Direction: direction}
	lines, _ := t.wrapper.WrapParagraphF(config, fixed.Int26_6(width*em*64), text, shaping.NewSliceIterator(shaped))
	return lines
}

// directionOf returns the direction of the first letter that has one, or left to right if none has.
func directionOf(text []rune) di.Direction {
	for _, r := range text {
		of, _ := bidi.LookupRune(r)
		if c := of.Class(); c == bidi.R || c == bidi.AL {
			return di.DirectionRTL
		} else if c == bidi.L {
			return di.DirectionLTR
		}
	}
	return di.DirectionLTR
}

// widthOf returns the width of a line, in multiples of the font size.
func widthOf(line shaping.Line) float64 {
	var sum fixed.Int26_6
	for _, run := range line {
		sum += run.Advance
	}
	return float64(sum) / 64 / em
}

// inSight returns the runs of a line in the order in which they stand on the page, from left to
// right.
func inSight(line shaping.Line) shaping.Line {
	line = slices.Clone(line)
	slices.SortFunc(line, func(a, b shaping.Output) int { return int(a.VisualIndex - b.VisualIndex) })
	return line
}

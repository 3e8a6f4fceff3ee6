package paper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// languages are a name each, as people write it.
var languages = map[string]string{
	"Amharic": "ሰላማዊት ተስፋዬ", "Arabic": "محمد عبد الله", "Armenian": "Արամ Խաչատրյան", "Bengali": "রবীন্দ্রনাথ ঠাকুর", "Burmese": "အောင်ဆန်းစုကြည်",
	"Chinese": "王小明，北京国家大剧院", "Czech": "Žofie Dvořáková", "English": "Ada O'Brien & Sons", "Georgian": "გიორგი ბერიძე", "German": "Jürgen Größmann",
	"Greek": "Ελένη Παπαδοπούλου", "Gujarati": "મોહનદાસ ગાંધી", "Hebrew": "שלום כהן", "Hindi": "श्रीमती कृष्णा शर्मा", "Japanese": "山田 太郎、コンサート",
	"Kannada": "ಕುವೆಂಪು", "Khmer": "សុខ សុភា", "Korean": "김민수 서울 콘서트", "Lao": "ສົມຊາຍ", "Malayalam": "കമല സുരയ്യ", "Persian": "کیارستمی، عباس",
	"Polish": "Łukasz Żółć", "Punjabi": "ਗੁਰਪ੍ਰੀਤ ਸਿੰਘ", "Russian": "Иван Тургенев", "Sinhala": "කුමාර සංගක්කාර", "Tamil": "சுப்பிரமணிய பாரதி",
	"Telugu": "శ్రీశ్రీ", "Thai": "สมชาย ใจดี", "Turkish": "İğdır Şükrü Çağlar", "Ukrainian": "Їжак Ґалаґан", "Urdu": "فیض احمد فیض", "Vietnamese": "Nguyễn Thị Ánh",
}

// TestLanguages lays names out in the scripts of the world: each letter has a shape.
func TestLanguages(t *testing.T) {
	t.Parallel()
	p := New("P", time.Unix(0, 0))
	p.AddPage()
	y := 10.0
	for language, name := range languages {
		letters := p.types.plain.cleanText(name)
		require.NotContains(t, string(letters), string(missing), language)
		for _, faces := range []fallback{p.types.plain, p.types.bold} {
			lines := p.types.layOut(letters, faces, 100)
			require.Len(t, lines, 1, language)
			for _, run := range lines[0] {
				for _, g := range run.Glyphs {
					require.NotZero(t, g.GlyphID, "%s: a letter has no shape", language)
				}
			}
			require.Positive(t, widthOf(lines[0]), language)
		}
		y = p.Write(language+": "+name, 10, y, 190, Style{Size: 11, Bold: len(language)%2 == 0})
	}
	write(t, p, "languages.pdf")
}

// write ends a document, and keeps it where BOXOFFICE_KEEP_PDF says, to look at it.
func write(t *testing.T, p *Paper, name string) []byte {
	t.Helper()
	b, err := p.Bytes()
	require.NoError(t, err)
	if folder := os.Getenv("BOXOFFICE_KEEP_PDF"); folder != "" {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), b, 0o600))
	}
	return b
}

func TestClean(t *testing.T) {
	t.Parallel()
	faces := newTypesetter().plain
	for s, want := range map[string]string{
		"Ada Obi":              "Ada Obi",
		"a\n b\u202e\u0000\tc": "a  b c",
		"party 🎉 日本":           "party □ 日本",
		"\xff\xfe":             "",
		"e\u0301":              "é",
		"क्\u200dष":            "क्\u200dष",
	} {
		require.Equal(t, want, string(faces.cleanText(s)))
	}
}

// TestDirections lays out a line in which words are read from right to left, in the order in
// which it is seen.
func TestDirections(t *testing.T) {
	t.Parallel()
	types := newTypesetter()
	seen := func(text string) (words []string) {
		letters := types.plain.cleanText(text)
		lines := types.layOut(letters, types.plain, 1000)
		require.Len(t, lines, 1)
		for _, run := range inSight(lines[0]) {
			words = append(words, strings.TrimSpace(string(letters[run.Runes.Offset:run.Runes.Offset+run.Runes.Count])))
		}
		return words
	}
	require.Equal(t, []string{"Gate", "שער", "left"}, seen("Gate שער left"))
	require.Equal(t, []string{"left", "שער"}, seen("שער left"), "the line begins on the right")
}

// TestLongTexts breaks a text into lines, or writes it smaller where lines are few.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	p := New("P", time.Unix(0, 0))
	p.AddPage()
	long := strings.Repeat("A very long title ", 12)
	free := p.Write(long, 10, 10, 100, Style{Size: 20})
	few := p.Write(long, 10, 10, 100, Style{Size: 20, Lines: 2})
	require.Greater(t, free, few)
	require.Greater(t, few, 10.0)
	require.InDelta(t, 10.0, p.Write("", 10, 10, 100, Style{Size: 20}), 1e-9, "nothing takes no room")
}

// TestHostileTexts prints what people type.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "𝒳𝒴", "\U0010ffff", "שלום 12 ab", "مرحبا", "(\\)", "\uffff\ufffe\ufffd", "\u0301\u0301\u0301", strings.Repeat("x", 5000), strings.Repeat("\u0e49", 300), "\u200d\u200c", "😀😀"} {
		p := New("P", time.Unix(0, 0))
		p.AddPage()
		p.Write(s, 10, 10, 50, Style{Size: 12, Bold: true, Lines: 3})
		require.NoError(t, p.QR("p1.x", 10, 10, 30))
		require.Equal(t, "%PDF", string(write(t, p, "hostile.pdf")[:4]))
	}
}

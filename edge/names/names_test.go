package names_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/names"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                "",
		" Ada\u00a0Obi \t":                "Ada\u00a0Obi",
		"Ada\r\nBcc: x":                   "Ada  Bcc: x",
		"\u200b":                          "",
		"\u200d\ufe0f\u200f":              "",
		"\u3164\u2800 \U000e0041":         "",
		"\u202eexe.fdp":                   "exe.fdp",
		"a\u2066b\u2069c":                 "abc",
		"\x00\x1b[31mred\x7f\u0085":       "[31mred",
		"Jo\u00adse\u0301\ufeff":          "José",
		"א\u200fב":                        "א\u200fב",
		"می\u200cخواهم":                   "می\u200cخواهم",
		"👩\u200d👩\u200d👧 \u2764\ufe0f":    "👩\u200d👩\u200d👧 \u2764\ufe0f",
		"🏴\U000e0067\U000e0062\U000e007f": "🏴\U000e0067\U000e0062\U000e007f",
	} {
		got := names.Clean(in)
		require.Equal(t, want, got, "%q", in)
		require.Equal(t, got, names.Clean(got), "%q", in)
	}
	require.Equal(t, "a\tb\r\nc", names.CleanText("a\tb\r\n\u202ec\x08"))
}

func TestKey(t *testing.T) {
	t.Parallel()
	for _, alike := range [][]string{
		{"North", " north ", "NORTH\u200b", "ｎｏｒｔｈ", "n\u200do\ufe0frth"},
		{"Straße 1", "STRASSE\u00a0 1", "strasse\t1"},
		{"é", "e\u0301", "É", "E\u0301"},
		{"ΟΔΟΣ", "οδος", "οδοσ"},
	} {
		for _, one := range alike {
			require.Equal(t, names.Key(alike[0]), names.Key(one), "%q", one)
		}
	}
	require.NotEqual(t, names.Key("e"), names.Key("é"))
	require.NotEqual(t, names.Key("1"), names.Key("11"))
}

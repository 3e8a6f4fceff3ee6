package sheets_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/sheets"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	sheets.Begin(&out)
	require.NoError(t, sheets.Write(&out, []string{"Müller", `a"b`, "x,y", "1-2", "a=b"}))
	require.Equal(t, "\xef\xbb\xbfMüller,\"a\"\"b\",\"x,y\",1-2,a=b\r\n", out.String())
	for _, before := range []string{"", " ", "\t", "\n", "\r\n", "\u00a0", "\u200b", "\ufeff"} {
		for _, sign := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠"} {
			out.Reset()
			require.NoError(t, sheets.Write(&out, []string{before + sign + "1"}))
			require.Equal(t, "'", strings.TrimPrefix(out.String(), `"`)[:1], "%q", before+sign)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	const want = "2 ada@x|Ada; 4 bob@x|Obi, Bob; 6 cy@x|Cy\nand Co; 7 dee@x|"
	file := "name,email\nAda,ada@x\n\n\"Obi, Bob\",bob@x\n , \n\"Cy\nand Co\",cy@x\n,dee@x\n\n"
	semicolons := "Name;E;EMAIL \nAda;;ada@x\n\n\"Obi, Bob\";;bob@x\n ;; \n\"Cy\nand Co\";;cy@x\n;1;dee@x"
	for name, text := range map[string]string{
		"commas":       file,
		"mark":         "\ufeff" + file,
		"CRLF":         strings.ReplaceAll(file, "\n", "\r\n"),
		"semicolons":   semicolons,
		"tabs":         strings.ReplaceAll(semicolons, ";", "\t"),
		"said":         "\ufeffsep=|\r\n" + strings.ReplaceAll(semicolons, ";", "|"),
		"said, quoted": "\"SEP=;\"\n" + semicolons,
	} {
		r, ok, err := sheets.Open(text, "email", "name")
		require.NoError(t, err, name)
		require.True(t, ok, name)
		var all []string
		for {
			cells, row, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			all = append(all, fmt.Sprint(row, " ", strings.Join(cells, "|")))
		}
		require.Equal(t, want, strings.ReplaceAll(strings.Join(all, "; "), "\r", ""), name)
	}
	r, ok, err := sheets.Open("email,name\rada@x,Ada\r", "email", "name")
	require.NoError(t, err)
	require.True(t, ok)
	_, row, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, 2, row)
	for _, bad := range []string{"", "\n\n", "email\na@x", "sep=;\nemail,name\n", "\"email"} {
		_, ok, _ := sheets.Open(bad, "email", "name")
		require.False(t, ok, bad)
	}
	_, _, err = sheets.Open("\n", "email", "name")
	require.ErrorIs(t, err, io.EOF)
}

package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/paged"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		event := rapid.Int64Range(0, engine.MaxEvent).Draw(t, "event")
		tail := rapid.SliceOfN(rapid.Byte(), 10, 20).Draw(t, "tail")
		id := engine.NewID(event, tail)
		require.Equal(t, event, id.Event())
		require.Equal(t, byte(8), id[6]>>4, "version")
		require.Equal(t, byte(2), id[8]>>6, "variant")

		text := id.String()
		require.Len(t, text, 36)
		require.Equal(t, text, string(id.AppendText36(nil)))
		for _, s := range []string{text, strings.ToUpper(text)} {
			got, err := engine.ParseID(s)
			require.NoError(t, err)
			require.Equal(t, id, got)
		}

		number := rapid.Int64Range(0, 1<<62-1).Draw(t, "number")
		numbered := engine.NumberedID(event, number)
		require.Equal(t, event, numbered.Event())
		require.Equal(t, number, numbered.Number())
		got, err := engine.ParseID(numbered.String())
		require.NoError(t, err)
		require.Equal(t, numbered, got)
	})
}

func TestIDsDiffer(t *testing.T) {
	t.Parallel()
	seen := make(map[engine.ID]bool)
	for bit := range 80 {
		tail := make([]byte, 10)
		tail[bit/8] = 1 << (bit % 8)
		seen[engine.NewID(7, tail)] = true
	}
	require.Len(t, seen, 74+1, "six bits of the tail are the version's and the variant's")
	require.True(t, engine.ID{}.Zero())
	require.False(t, engine.NewID(0, make([]byte, 10)).Zero())
}

func TestParseIDRefuses(t *testing.T) {
	t.Parallel()
	good := engine.NumberedID(42, 7).String()
	for _, s := range []string{
		"", good[1:], good + "0", " " + good[1:], strings.ReplaceAll(good, "-", "0"),
		good[:8] + "_" + good[9:], "g" + good[1:], good[:14] + "4" + good[15:], good[:19] + "0" + good[20:],
		"{" + good[:34] + "}", good[:35] + "\x00",
	} {
		_, err := engine.ParseID(s)
		require.ErrorIs(t, err, engine.ErrID, s)
	}
}

// FuzzParseID makes sure that an id has only one text, apart from its case.
func FuzzParseID(f *testing.F) {
	f.Add(engine.NumberedID(1, 1).String())
	f.Add(strings.ToUpper(engine.NumberedID(engine.MaxEvent, 1<<62-1).String()))
	f.Add("00000000-0000-8000-8000-00000000000g")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := engine.ParseID(s)
		if err != nil {
			require.ErrorIs(t, err, engine.ErrID)
			return
		}
		require.Equal(t, strings.ToLower(s), id.String())
	})
}

func TestColumns(t *testing.T) {
	t.Parallel()
	numbers := paged.Column[int64]{1, -1, 1 << 62}
	b, err := numbers.MarshalBinary()
	require.NoError(t, err)
	require.Len(t, b, 24)
	var back paged.Column[int64]
	require.NoError(t, back.UnmarshalBinary(b))
	require.Equal(t, numbers, back)
	require.Error(t, back.UnmarshalBinary(b[1:]))

	ids := paged.IDs{engine.NumberedID(1, 2), engine.NumberedID(3, 4)}
	b, err = ids.MarshalBinary()
	require.NoError(t, err)
	require.Len(t, b, 32)
	var idsBack paged.IDs
	require.NoError(t, idsBack.UnmarshalBinary(b))
	require.Equal(t, ids, idsBack)
	b[0]++
	require.Equal(t, ids, idsBack, "a column shares nothing with its bytes")
	require.Error(t, idsBack.UnmarshalBinary(b[1:]))
}

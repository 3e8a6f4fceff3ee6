package paged_test

import (
	"bytes"
	"encoding"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/paged"
)

// TestPackedColumns encodes and decodes columns of all sorts.
func TestPackedColumns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		steps := paged.Steps(rapid.SliceOf(rapid.Int32()).Draw(t, "steps"))
		texts := paged.Strings(rapid.SliceOf(rapid.String()).Draw(t, "texts"))
		bits := paged.Bits(rapid.SliceOf(rapid.Bool()).Draw(t, "bits"))
		var gotSteps paged.Steps
		var gotTexts paged.Strings
		var gotBits paged.Bits
		unpack(t, steps, &gotSteps)
		unpack(t, texts, &gotTexts)
		unpack(t, bits, &gotBits)
		require.Equal(t, steps, gotSteps)
		require.Equal(t, texts, gotTexts)
		require.Equal(t, bits, gotBits)
	})
}

// TestPaged makes sure that a column in pages has the bytes of the same column in one piece, and
// comes back in full pages.
func TestPaged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Uint64(), 0, 2_000).Draw(t, "numbers")
		var rows paged.Rows[uint64]
		var ids paged.Queue[engine.ID]
		gone := rapid.IntRange(0, len(numbers)).Draw(t, "gone")
		for _, n := range numbers {
			rows.Append(n)
			ids.Push(engine.NumberedID(1, int64(n)))
		}
		ids.Drop(gone)
		in, left := paged.Paged[uint64](rows.Freeze()), paged.Paged[engine.ID](ids.Freeze())
		require.Equal(t, len(numbers), in.Len())
		require.Equal(t, len(numbers)-gone, left.Len())
		pages, err := in.MarshalBinary()
		require.NoError(t, err)
		whole, err := paged.Column[uint64](numbers).MarshalBinary()
		require.NoError(t, err)
		require.True(t, bytes.Equal(whole, pages))

		var out paged.Paged[uint64]
		unpack(t, in, &out)
		again := paged.RowsOf(out)
		require.True(t, slices.Equal(numbers, slices.Collect(again.All())))
		again.Append(7)
		require.Equal(t, uint64(7), again.At(len(numbers)))
		require.Equal(t, len(numbers), out.Len(), "a snapshot stays as it is")

		var list paged.IDs
		unpack(t, left, &list)
		for i, id := range list {
			require.Equal(t, engine.NumberedID(1, int64(numbers[gone+i])), id)
		}
	})
}

func unpack(t require.TestingT, from encoding.BinaryMarshaler, to encoding.BinaryUnmarshaler) {
	b, err := from.MarshalBinary()
	require.NoError(t, err)
	require.NoError(t, to.UnmarshalBinary(b))
}

// TestColumnsAreSmall checks the sizes that a seat map relies on.
func TestColumnsAreSmall(t *testing.T) {
	t.Parallel()
	rising := make(paged.Steps, 1_000)
	for i := range rising {
		rising[i] = int32(100_000 + i)
	}
	b, err := rising.MarshalBinary()
	require.NoError(t, err)
	require.LessOrEqual(t, len(b), len(rising)+3)
	b, err = make(paged.Bits, 1_000).MarshalBinary()
	require.NoError(t, err)
	require.LessOrEqual(t, len(b), 1_000/8+2)
}

// TestColumnsRefuse gives the decoders bytes that the encoders did not write.
func TestColumnsRefuse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		column encoding.BinaryUnmarshaler
		bytes  string
	}{
		"numbers cut short":    {new(paged.Steps), "\x80"},
		"numbers out of range": {new(paged.Steps), strings.Repeat("\xff", 9) + "\x01"},
		"numbers too large":    {new(paged.Steps), "\xfe\xff\xff\xff\x0f\x02"},
		"texts cut short":      {new(paged.Strings), "\x02a"},
		"a text without end":   {new(paged.Strings), strings.Repeat("\xff", 9) + "\x01a"},
		"bits cut short":       {new(paged.Bits), "\x09\xff"},
		"bits too many":        {new(paged.Bits), "\x08\xff\xff"},
		"bits without number":  {new(paged.Bits), ""},
		"bits without end":     {new(paged.Bits), strings.Repeat("\xff", 9) + "\x01"},
		"a broken column":      {new(paged.Column[uint32]), "abc"},
		"broken ids":           {new(paged.IDs), "abc"},
		"broken pages":         {new(paged.Paged[uint32]), "abc"},
		"broken pages of ids":  {new(paged.Paged[engine.ID]), "abc"},
	} {
		require.Error(t, c.column.UnmarshalBinary([]byte(c.bytes)), name)
	}
	var most paged.Steps
	unpack(t, paged.Steps{math.MaxInt32, math.MinInt32, 0}, &most)
	require.Equal(t, paged.Steps{math.MaxInt32, math.MinInt32, 0}, most)
}

// TestField makes sure that a field of rows has the bytes of a column of its numbers as they were
// when the rows were frozen, and comes back as these numbers.
func TestField(t *testing.T) {
	t.Parallel()
	type row struct {
		a int64
		b uint64
	}
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Uint64(), 0, 1_500).Draw(t, "numbers")
		gone := rapid.IntRange(0, len(numbers)).Draw(t, "gone")
		var rows paged.Queue[row]
		for _, n := range numbers {
			rows.Push(row{a: -1, b: n})
		}
		rows.Drop(gone)
		field := paged.FieldOf(rows.Freeze(), func(r *row) uint64 { return r.b })
		for i := range rows.Len() {
			rows.Set(i, row{b: 7})
		}
		rows.Push(row{b: 7})
		numbers = append([]uint64{}, numbers[gone:]...)
		require.True(t, slices.Equal(numbers, field.Numbers()))
		got, err := field.MarshalBinary()
		require.NoError(t, err)
		want, err := paged.Column[uint64](numbers).MarshalBinary()
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
		var out paged.Field[uint64]
		unpack(t, field, &out)
		require.True(t, slices.Equal(numbers, out.Numbers()))
	})
}

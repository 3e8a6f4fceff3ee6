package paged_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/paged"
)

// TestTexts compares texts with a slice, under changes in random order. What was frozen must not
// change.
func TestTexts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var texts paged.Texts
		var want, then []string
		var frozen []paged.TextPage
		grow := 700 + rng.IntN(3_000)
		for range 12_000 {
			text := strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(200))
			if rng.IntN(500) == 0 {
				text = strings.Repeat(text, 500)
			}
			switch n := len(want); {
			case n == 0 || n < grow && rng.IntN(3) > 0:
				texts.Append([]byte(text))
				want = append(want, text)
			case rng.IntN(200) == 0:
				frozen, then = texts.Freeze(), slices.Clone(want)
			case rng.IntN(2) == 0:
				i := rng.IntN(n)
				texts.Set(i, []byte(text))
				want[i] = text
			default:
				i := rng.IntN(n)
				require.Equal(t, want[n-1], texts.Remove(i))
				want[i] = want[n-1]
				want = want[:n-1]
				grow -= rng.IntN(3) // so that the list is empty now and then
			}
			require.Equal(t, len(want), texts.Len())
			if n := len(want); n > 0 {
				i := rng.IntN(n)
				require.Equal(t, want[i], texts.At(i))
			}
		}
		require.True(t, slices.Equal(want, slices.Collect(texts.All())))
		require.True(t, slices.Equal(then, textsOf(frozen)))
	}
}

// textsOf returns the texts of a snapshot, after encoding and decoding them.
func textsOf(pages []paged.TextPage) (all []string) {
	for _, page := range pages {
		b, err := page.MarshalBinary()
		if err != nil {
			panic(err)
		}
		var again paged.TextPage
		if err := again.UnmarshalBinary(b); err != nil {
			panic(err)
		}
		all = slices.AppendSeq(all, again.All())
	}
	return all
}

// TestTextsForget replaces and removes rows many times: the old texts are dropped, wherever in the
// list they are.
func TestTextsForget(t *testing.T) {
	t.Parallel()
	const rows, size = 5_000, 150
	for name, next := range map[string]func(n int) int{
		"in turn":             func(n int) int { return n % rows },
		"at random":           func(int) int { return rand.IntN(rows) },
		"few again and again": func(n int) int { return n % 7 * (rows / 7) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var texts paged.Texts
			one := []byte(strings.Repeat("x", size))
			for range rows {
				texts.Append(one)
			}
			for n := range 20 * rows {
				texts.Set(next(n), one)
				require.LessOrEqual(t, texts.Size(), (2*rows+rows/4)*(size+8)+1<<18)
			}
			for texts.Len() > 0 {
				texts.Remove(0)
			}
			require.LessOrEqual(t, texts.Size(), 1<<18)
		})
	}
}

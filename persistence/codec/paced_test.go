package codec_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/all"
	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
	"boxoffice/persistence/codec"
)

// TestPaced makes sure that a snapshot has the same bytes whether it is encoded at once or in
// steps, whatever the lengths of its lists.
func TestPaced(t *testing.T) {
	t.Parallel()
	for _, kind := range all.Kinds {
		for _, length := range []int{0, 1, 256, 257, 300, 1000, 70_000} {
			t.Run(fmt.Sprint(kind.Kind, " ", length), func(t *testing.T) {
				t.Parallel()
				frozen := kind.Frozen()
				n := int64(1)
				state := reflect.ValueOf(frozen).Elem()
				fill(state, &n)
				for _, list := range state.Fields() {
					if list.Kind() == reflect.Slice && list.Len() > 0 {
						longer := reflect.MakeSlice(list.Type(), length, length)
						for k := range length {
							longer.Index(k).Set(list.Index(k % list.Len()))
						}
						list.Set(longer)
					}
				}
				want, err := codec.Marshal(frozen)
				require.NoError(t, err)
				rests := 0
				var got bytes.Buffer
				require.NoError(t, codec.Write(&got, frozen, func() error {
					rests++
					return nil
				}))
				require.Equal(t, want, got.Bytes())
				if length > 0 { // otherwise some fields are left out
					require.GreaterOrEqual(t, rests, state.NumField())
				}
			})
		}
		empty, err := codec.Marshal(kind.Frozen())
		require.NoError(t, err)
		var got bytes.Buffer
		require.NoError(t, codec.Write(&got, kind.Frozen(), func() error { return nil }))
		require.Equal(t, empty, got.Bytes())
	}
}

// largestWrite is a writer that notes the size of the largest write.
type largestWrite int

// Write notes the size.
func (l *largestWrite) Write(p []byte) (int, error) {
	*l = max(*l, largestWrite(len(p)))
	return len(p), nil
}

// TestPacedSteps makes sure that a room of 100,000 visitors is encoded in small steps: a step holds
// up whoever waits for the core, and is kept in memory as a whole.
func TestPacedSteps(t *testing.T) {
	t.Parallel()
	const visitors, piece = 100_000, 1000
	frozen := &queue.Frozen{Persons: make([]uint64, visitors), Issued: make([]uint32, visitors)}
	for i := range visitors {
		frozen.Persons[i], frozen.Issued[i] = 1<<63+uint64(i), 1<<31+uint32(i)
	}
	for range visitors / piece {
		frozen.Leaves = append(frozen.Leaves, make([]draw.Hash, piece))
	}
	var largest largestWrite
	require.NoError(t, codec.Write(&largest, frozen, func() error { return nil }))
	require.Less(t, int(largest), 200_000)
}

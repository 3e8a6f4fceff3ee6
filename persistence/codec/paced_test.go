package codec_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/all"
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

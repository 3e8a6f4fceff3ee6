package secrets_test

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
)

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestSealKeepsNothing seals under labels that clients choose, such as the one of a
// stored answer: none of them may stay in memory.
func TestSealKeepsNothing(t *testing.T) { //nolint:paralleltest // it measures the heap
	m, err := secrets.New(make([]byte, secrets.KeySize))
	require.NoError(t, err)
	const labels = 50_000
	before := heap()
	for i := range labels {
		label := "reply/" + strconv.Itoa(i)
		sealed := m.Seal(label, nil, []byte("text"))
		if i%1000 != 0 {
			continue
		}
		text, err := m.Open(label, nil, sealed)
		require.NoError(t, err)
		require.Equal(t, "text", string(text))
		_, err = m.Open("reply/another", nil, sealed)
		require.ErrorIs(t, err, secrets.ErrSealed)
	}
	grown := int64(heap()) - int64(before)
	require.Less(t, grown, int64(labels*40), "bytes that %d labels have left behind", labels)
	runtime.KeepAlive(m)
}

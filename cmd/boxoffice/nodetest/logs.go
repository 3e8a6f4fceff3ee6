package nodetest

import (
	"bytes"
	"sync"
)

// LogBuffer is a log that is read while it is written.
type LogBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to it.
func (b *LogBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is all of it.
func (b *LogBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

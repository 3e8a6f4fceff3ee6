package codec

import "bytes"

// Scratch is a buffer that a single encoder of facts uses again and again.
type Scratch struct{ buf bytes.Buffer }

//go:build !linux

package images

const heapLimit = 1 << 30 // bytes that the collector aims at

// limitProcess does nothing on systems other than Linux. There, the kernel enforces no limits on a
// worker. The other limits still apply: MaxPixels, memoryPages and makeTime, and heapLimit as the
// collector's aim.
func limitProcess() error { return nil }

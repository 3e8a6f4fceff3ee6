//go:build !linux

package images

const heapLimit = 1 << 30 // bytes that the collector aims at

// limitProcess does nothing on systems other than Linux. There, only the limits of pixels and of
// time apply.
func limitProcess() error { return nil }

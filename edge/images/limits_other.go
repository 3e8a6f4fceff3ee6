//go:build !linux

package images

const heapLimit = 1 << 30 // bytes that the collector aims at

// limitProcess sets no limits here: other systems have none that we use, and the limits of
// pixels and time remain.
func limitProcess() error { return nil }

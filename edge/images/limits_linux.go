package images

import "syscall"

// These are the limits of a worker process. heapLimit only makes the collector work harder. If a decoder exceeds one
// of the others, the kernel kills the process or the decoder fails, and no other process is affected.
const (
	heapLimit   = 1 << 30 // bytes that the collector aims at
	addressRoom = 6 << 30 // bytes of address space; the Go runtime and wazero only reserve most of them
	cpuSeconds  = 60
	fileBytes   = 64 << 20
)

// limitProcess sets the limits of this process that the kernel enforces: address space, processor
// time and size of a file.
func limitProcess() error {
	for resource, most := range map[int]uint64{syscall.RLIMIT_AS: addressRoom, syscall.RLIMIT_CPU: cpuSeconds, syscall.RLIMIT_FSIZE: fileBytes} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}

package images

import "syscall"

// These limit a worker process. A decoder that exceeds one is killed by the kernel or
// fails, and takes nothing but its own process with it.
const (
	heapLimit   = 1 << 30 // bytes that the collector aims at
	addressRoom = 6 << 30 // bytes; most are never touched
	cpuSeconds  = 60
	fileBytes   = 64 << 20
)

// limitProcess sets the limits to which the kernel holds the process.
func limitProcess() error {
	for resource, most := range map[int]uint64{syscall.RLIMIT_AS: addressRoom, syscall.RLIMIT_CPU: cpuSeconds, syscall.RLIMIT_FSIZE: fileBytes} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}

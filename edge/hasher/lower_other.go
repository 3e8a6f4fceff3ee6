//go:build !linux

package hasher

import (
	"os/exec"
	"syscall"
)

// setOwnSession does nothing on systems other than Linux.
func setOwnSession(*exec.Cmd) {}

// lowerPriority gives the process a low priority, if the system permits it.
func lowerPriority() {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) // if this fails, the priority stays the usual one
}

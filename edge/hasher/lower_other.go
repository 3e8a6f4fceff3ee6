//go:build !linux

package hasher

import (
	"os/exec"
	"syscall"
)

// setOwnSession does nothing on this system, where priorities don't depend on sessions.
func setOwnSession(*exec.Cmd) {}

// lowerPriority gives the process a low priority.
func lowerPriority() {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) // If this fails, hashes are made at the usual priority.
}

//go:build !linux

package client

import (
	"context"
	"syscall"
)

// bindWithoutPort has nothing to say where the kernel has no such option.
func bindWithoutPort(context.Context, string, string, syscall.RawConn) error { return nil }

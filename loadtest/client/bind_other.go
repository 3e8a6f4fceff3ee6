//go:build !linux

package client

import (
	"context"
	"syscall"
)

// BindWithoutPort has nothing to say where the kernel has no such option.
func BindWithoutPort(context.Context, string, string, syscall.RawConn) error { return nil }

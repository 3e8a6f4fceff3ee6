//go:build !linux

package client

import (
	"context"
	"syscall"
)

// BindWithoutPort does nothing, because this kernel has no such option.
func BindWithoutPort(context.Context, string, string, syscall.RawConn) error { return nil }

package client

import (
	"context"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// BindWithoutPort lets the kernel choose the local port at connect, by the
// whole 4-tuple, instead of at bind: 28,000 connections per source address and
// target instead of 28,000 per source address.
func BindWithoutPort(_ context.Context, _, _ string, raw syscall.RawConn) error {
	var err error
	if cerr := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	}); cerr != nil {
		return fmt.Errorf("bind without port: %w", cerr)
	}
	if err != nil {
		return fmt.Errorf("bind without port: %w", err)
	}
	return nil
}

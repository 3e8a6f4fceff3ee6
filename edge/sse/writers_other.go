//go:build !linux

package sse

import "net"

// writers do nothing on this system: every viewer has a goroutine of its own.
type writers struct{}

func startWriters(*Hub) (*writers, error)          { return &writers{}, nil }
func (*writers) takeViewer(*viewer, net.Conn) bool { return false }
func (*writers) notifyTopic(*topic)                {}
func (*writers) wakeShards()                       {}
func (*writers) stop()                             {}

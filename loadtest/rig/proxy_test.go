package rig

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// echo answers each line with the same.
func echo(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return ln.Addr().String()
}

type line struct {
	net.Conn
	*bufio.Reader
	t *testing.T
}

func dialed(t *testing.T, p *Proxy) *line {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &line{c, bufio.NewReader(c), t}
}

func (l *line) Read(b []byte) (int, error) { return l.Reader.Read(b) }

func (l *line) say(text string) {
	l.t.Helper()
	_, err := l.Write([]byte(text + "\n"))
	require.NoError(l.t, err)
}

func (l *line) hear(text string) {
	l.t.Helper()
	require.NoError(l.t, l.SetReadDeadline(time.Now().Add(20*time.Second)))
	got, err := l.ReadString('\n')
	require.NoError(l.t, err)
	require.Equal(l.t, text+"\n", got)
}

func TestProxy(t *testing.T) {
	t.Parallel()
	p, err := startProxy(t.Context(), "127.0.0.1:0", dialAlways("tcp", echo(t)))
	require.NoError(t, err)
	defer p.stop()
	a, b := dialed(t, p), dialed(t, p)
	a.say("one")
	a.hear("one")
	b.say("two")
	b.hear("two")

	for _, g := range []*Gate{&p.Forth, &p.Back} {
		g.Shut()
		a.say("held up")
		require.NoError(t, a.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
		_, err = a.ReadByte()
		var late net.Error
		require.ErrorAs(t, err, &late)
		require.True(t, late.Timeout())
		g.Open()
		a.hear("held up")
	}

	require.Equal(t, 2, p.Cut())
	for _, l := range []*line{a, b} {
		_, err = l.ReadByte()
		require.Error(t, err)
	}
	c := dialed(t, p)
	c.say("again")
	c.hear("again")
	require.NoError(t, c.Conn.(*net.TCPConn).CloseWrite())
	_, err = c.ReadByte()
	require.ErrorIs(t, err, io.EOF, "each side ends by itself")
	p.Forth.Shut() // stop does not wait for what is held up
	dialed(t, p).say("lost")
}

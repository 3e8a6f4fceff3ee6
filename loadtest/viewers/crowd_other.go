//go:build !linux

package viewers

import (
	"context"
	"errors"
)

// Crowd is the viewers of one stream. There are none on this system.
type Crowd struct{}

// Gather says that it can't.
func Gather(Config) (*Crowd, error) { return nil, errors.New("viewers: this needs Linux") }

// MostViewers is none.
func MostViewers(int) int { return 0 }

func (*Crowd) Close()                       {}
func (*Crowd) Joined(context.Context) error { return nil }
func (*Crowd) Standing() Standing           { return Standing{} }
func (*Crowd) Settle()                      {}
func (*Crowd) View(func(*Map))              {}
func (*Crowd) Mark(string) func()           { return func() {} }
func (*Crowd) Begin()                       {}
func (*Crowd) End() *Measures               { return nil }
func (*Crowd) Slow(bool)                    {}

//go:build !linux

package viewers

import (
	"context"
	"errors"
)

// Audience is the viewers of one stream. There are none on this system.
type Audience struct{}

// Gather says that it can't.
func Gather(Config) (*Audience, error) { return nil, errors.New("viewers: this needs Linux") }

// MostViewers is none.
func MostViewers(int) int { return 0 }

func (*Audience) Close()                       {}
func (*Audience) Joined(context.Context) error { return nil }
func (*Audience) Standing() Standing           { return Standing{} }
func (*Audience) Settle()                      {}
func (*Audience) View(func(*Map))              {}
func (*Audience) Mark(string) func()           { return func() {} }
func (*Audience) Begin()                       {}
func (*Audience) End() *Measures               { return nil }
func (*Audience) Slow(bool)                    {}

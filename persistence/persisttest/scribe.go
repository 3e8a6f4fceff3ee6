package persisttest

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/persistence/journal"
)

// noted is the fact that the suites write. Its token is the epoch that wrote it and its number in the stream, so that
// every reader can check both.
type noted struct{ Token uint64 }

// FactType is the only type of facts that the suites write.
func (noted) FactType() engine.FactType { return 1 }

// tokenSize is how many bytes an encoded fact has.
const tokenSize = 8

// Scribe writes one stream under one claim.
type Scribe struct {
	Ref   engine.Ref
	Claim journal.Claim
	Next  int64 // the sequence number of its next fact
	j     journal.Journal
}

// NewScribe claims the stream, reads it and continues at its end.
func NewScribe(t testing.TB, j journal.Journal, ref engine.Ref) *Scribe {
	t.Helper()
	c, err := j.Claim(t.Context(), ref)
	require.NoError(t, err)
	s := &Scribe{j: j, Ref: ref, Claim: c, Next: 1}
	s.Next += int64(len(LoadTokens(t, j, c.Stream, 0)))
	return s
}

// Verdict is an Owner that remembers the outcome that it is told.
type Verdict struct {
	heard chan error
	first func(error) // called within Settled, before anybody waits; nil: nothing is
}

// Settled receives the outcome.
func (v *Verdict) Settled(err error) {
	if v.first != nil {
		v.first(err)
	}
	v.heard <- err
}

// Wait returns the outcome, and fails the test if that takes 30 s.
func (v *Verdict) Wait(t testing.TB) error {
	t.Helper()
	select {
	case err := <-v.heard:
		return err
	case <-time.After(30 * time.Second):
		require.FailNow(t, "no verdict within 30 s")
		return nil
	}
}

// entry makes the stream's next entry, with n facts; it is a barrier if n is 0.
func (s *Scribe) entry(n int) (*journal.Entry, *Verdict) {
	v := &Verdict{heard: make(chan error, 1)}
	e := &journal.Entry{Ref: s.Ref, Claim: s.Claim, First: s.Next, Owner: v}
	for range n {
		f := noted{Token: uint64(s.Claim.Epoch)<<32 | uint64(s.Next)}
		e.Facts = append(e.Facts, f)
		e.Bytes = binary.BigEndian.AppendUint64(e.Bytes, f.Token)
		s.Next++
	}
	return e, v
}

// Append hands over an entry with n facts; it is a barrier if n is 0.
func (s *Scribe) Append(n int) *Verdict {
	e, v := s.entry(n)
	s.j.Append(e)
	return v
}

// AppendNeeding hands over an entry with n facts that rest on another claim's facts.
func (s *Scribe) AppendNeeding(n int, needs journal.Claim) *Verdict {
	e, v := s.entry(n)
	e.Needs = needs
	s.j.Append(e)
	return v
}

// LoadTokens reads a stream's tokens. It requires that the records follow one another from after+1,
// and that their epochs never fall.
func LoadTokens(t testing.TB, j journal.Journal, stream, after int64) []uint64 {
	t.Helper()
	var tokens []uint64
	var epoch int32
	next := after + 1
	for r, err := range j.Load(t.Context(), stream, after) {
		require.NoError(t, err)
		require.Equal(t, stream, r.Stream)
		require.Equal(t, next, r.First)
		require.GreaterOrEqual(t, r.Epoch, epoch)
		require.Len(t, r.Bytes, int(r.Last-r.First+1)*tokenSize)
		for at := 0; at < len(r.Bytes); at += tokenSize {
			tokens = append(tokens, binary.BigEndian.Uint64(r.Bytes[at:]))
		}
		next, epoch = r.Last+1, r.Epoch
	}
	return tokens
}

// Tokens returns the tokens of the facts that a Scribe of an epoch writes, from one number to another.
func Tokens(epoch int32, from, to int64) []uint64 {
	var all []uint64
	for seq := from; seq <= to; seq++ {
		all = append(all, uint64(epoch)<<32|uint64(seq))
	}
	return all
}

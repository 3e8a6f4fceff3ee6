package draw

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

const workDomain = "boxoffice-work-1"

const (
	// MaxWork is the most bits of work that a room may ask for: 4,194,304 hashes on average, which is
	// seconds on a phone.
	MaxWork = 22
	// workAge is for how many minutes a proof is accepted, and workAhead by how many minutes a visitor's clock
	// may be fast.
	workAge, workAhead = 10, 2
	nonceSize          = 8
)

// ErrWork says that a text is no proof of work, or that a proof has too few zero bits or was not made
// within the last minutes.
var ErrWork = errors.New("draw: no proof of work")

// Work is a proof of work (hashcash, hashcash.org) for one entry. It gives entries a price, and
// proves nothing about who makes them. It is bound to everything that a visitor says of an entry,
// so that one proof pays for one entry only.
type Work struct {
	Event  string // public id
	Draw   uint32
	Minute int64 // unix time in whole minutes
	Party  uint8
	Email  string // address to which the link to the place is mailed, as the visitor wrote it; may be empty
	Nonce  [nonceSize]byte
}

// Hash returns the SHA-256 of the proof. Its leading zero bits are the work that counts.
func (w *Work) Hash() Hash {
	b := appendField([]byte(workDomain), []byte(w.Event))
	b = appendNumber(b, uint64(w.Draw))
	b = appendNumber(b, uint64(w.Minute)) //nolint:gosec // after 1970
	b = appendNumber(b, uint64(w.Party))
	b = appendField(b, []byte(w.Email))
	return sha256.Sum256(appendField(b, w.Nonce[:]))
}

// Text returns the proof as a visitor sends it: the minute in decimal digits, a point, and the nonce in
// hexadecimal digits.
func (w *Work) Text() string {
	return strconv.FormatInt(w.Minute, 10) + "." + hex.EncodeToString(w.Nonce[:])
}

// Read takes the minute and the nonce from what a visitor has sent; the server knows the other
// fields. It returns ErrWork for a text that is no proof.
func (w *Work) Read(text string) error {
	minute, nonce, ok := strings.Cut(text, ".")
	n, err := strconv.ParseInt(minute, 10, 64)
	if !ok || err != nil || n < 0 || hex.DecodedLen(len(nonce)) != nonceSize {
		return fmt.Errorf("%w: it is not a minute, a point and %d hexadecimal digits", ErrWork, 2*nonceSize)
	}
	w.Minute = n
	if _, err := hex.Decode(w.Nonce[:], []byte(nonce)); err != nil {
		return fmt.Errorf("%w: %w", ErrWork, err)
	}
	return nil
}

// Check returns ErrWork unless the hash begins with the wanted number of zero bits and the proof is
// some minutes old at most. at is unix milliseconds. The age is limited so that nobody can compute
// proofs long before.
func (w *Work) Check(want int, at int64) error {
	hash := w.Hash()
	zeros := bits.LeadingZeros64(binary.BigEndian.Uint64(hash[:]))
	switch now := at / 60_000; {
	case w.Minute < now-workAge || w.Minute > now+workAhead:
		return fmt.Errorf("%w: its minute is %d, and now is %d", ErrWork, w.Minute, now)
	case zeros < want:
		return fmt.Errorf("%w: %d leading zero bits are not %d", ErrWork, zeros, want)
	}
	return nil
}

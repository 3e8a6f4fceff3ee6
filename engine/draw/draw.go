// Package draw decides the places of a waiting room's visitors, and lets anybody check them. It owns
// the formats that docs/waiting-room.md describes byte by byte: the leaf of a visitor, the tree over
// all leaves, the statement of a draw, the key, the permutation that gives the places, the beacon's
// signature and the receipt.
//
// Everything is a pure function of its arguments. The node, the commands that verify and the tests
// call the same functions. Given the list of leaves, nobody can choose the order: the key depends
// on a round of a public beacon that nobody knows when the statement is published. The package can't show that each
// leaf belongs to a person; the counts by class say what was proven.
package draw

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Domains stand at the beginning of everything that is hashed or signed, so that bytes of one
// format can't be taken for bytes of another.
const (
	keyDomain       = "boxoffice-draw-1"
	receiptDomain   = "boxoffice-receipt-1"
	statementDomain = "boxoffice-statement-1"
	testDomain      = "boxoffice-test-beacon-1"
)

// Hash is a SHA-256.
type Hash [32]byte

// String returns the hash in lower-case hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns the hash in hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads 64 hexadecimal digits.
func (h *Hash) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(h) {
		return fmt.Errorf("draw: a hash has 64 hexadecimal digits, not %d", len(text))
	}
	_, err := hex.Decode(h[:], text)
	return err
}

// Bytes are written as hexadecimal digits in JSON and in text.
type Bytes []byte

// MarshalText returns hexadecimal digits.
func (b Bytes) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, b), nil }

// UnmarshalText reads hexadecimal digits.
func (b *Bytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// Rules govern a draw. They are published before registration begins, and never change once it has begun.
// The fields stand in the order of their JSON names, as canonical JSON wants them (RFC 8785). Their
// values are plain ASCII and whole numbers, so that encoding/json writes exactly that form.
type Rules struct {
	Chain         Hash   `cbor:"1,keyasint" json:"beaconChain"`
	Round         uint64 `cbor:"2,keyasint" json:"beaconRound"`
	ClosesAt      int64  `cbor:"3,keyasint" json:"closesAt"`         // unix milliseconds; visitors who join later get places after all drawn ones
	Mode          string `cbor:"4,keyasint" json:"mode"`             // ByDraw or ByArrival
	OpensAt       int64  `cbor:"5,keyasint" json:"opensAt"`          // unix milliseconds at which admission begins
	PartyMax      int    `cbor:"6,keyasint" json:"partyMax"`         // how many visitors one entry may stand for at most
	Proof         string `cbor:"7,keyasint" json:"proof"`            // what a visitor must prove: one of Classes
	RegistersFrom int64  `cbor:"8,keyasint" json:"registersFrom"`    // unix milliseconds
	VoidAfter     int64  `cbor:"9,keyasint" json:"voidAfterMinutes"` // minutes for which the beacon may be late; after them the draw is void, and arrival counts
}

// These are the modes of a room: places are drawn, or given in the order of arrival.
const (
	ByDraw    = "draw"
	ByArrival = "arrival"
)

// BeaconDelay is the least time between the closing and the beacon's round, in milliseconds. During
// this time the root must reach the visitors and the witness, or the operator could choose it after
// the round.
const BeaconDelay = 120_000

// Hash returns the SHA-256 of the rules as canonical JSON.
func (r *Rules) Hash() Hash {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // a struct of numbers and texts
	}
	return sha256.Sum256(text)
}

// Statement is what is published when registration has closed, before the beacon's round is known.
// Together with the beacon's signature of that round it determines the order of the places.
type Statement struct {
	Event      string `json:"event"` // public id
	Draw       uint32 `json:"draw"`  // number of the draw among the event's draws, from 1
	Rules      Rules  `json:"rules"`
	Count      uint32 `json:"count"`
	ByClass    Counts `json:"byClass"` // entries by class; their sum is Count
	Root       Hash   `json:"root"`
	TestBeacon bool   `json:"testBeacon"` // whether the chain is a TestBeacon's, whose owner knows the signatures of all rounds beforehand
}

// ErrStatement says that a statement contradicts itself.
var ErrStatement = errors.New("draw: the statement contradicts itself")

// Check returns an error that wraps ErrStatement if the statement contradicts itself, so that
// nobody may draw by it.
func (s *Statement) Check() error {
	switch {
	case s.Event == "" || len(s.Event) > maxEvent || s.Draw == 0:
		return fmt.Errorf("%w: it names no draw of an event", ErrStatement)
	case s.ByClass.sum() != uint64(s.Count):
		return fmt.Errorf("%w: it counts %d entries, and %d by class", ErrStatement, s.Count, s.ByClass.sum())
	case s.Count > MaxCount:
		return fmt.Errorf("%w: a draw has at most %d entries", ErrStatement, MaxCount)
	}
	return nil
}

// bytes returns the statement in the form in which it is signed: the fields on which the key
// depends, and the counts by class.
func (s *Statement) bytes() []byte {
	b := s.appendFields([]byte(statementDomain))
	for _, n := range s.ByClass {
		b = appendNumber(b, uint64(n))
	}
	return b
}

// Digest returns the SHA-256 of what the operator signs. An outside witness signs the digest and the time at
// which the witness got it.
func (s *Statement) Digest() Hash { return sha256.Sum256(s.bytes()) }

// appendFields appends the fields on which both the key and the signature depend.
func (s *Statement) appendFields(b []byte) []byte {
	rules := s.Rules.Hash()
	b = appendField(b, []byte(s.Event))
	b = appendNumber(b, uint64(s.Draw))
	b = appendField(b, rules[:])
	b = appendField(b, s.Root[:])
	b = appendNumber(b, uint64(s.Count))
	b = appendField(b, s.Rules.Chain[:])
	return appendNumber(b, s.Rules.Round)
}

// Key returns the key of the permutation. It depends on the statement and on the beacon's signature
// of its round, which the caller must have verified (Chain.Verify).
func (s *Statement) Key(signature []byte) Hash {
	return sha256.Sum256(appendField(s.appendFields([]byte(keyDomain)), signature))
}

// appendField appends a field with its length in front, as 4 bytes, big endian.
func appendField(b, field []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(field))) //nolint:gosec // fields are short
	return append(b, field...)
}

// appendNumber appends a number as a field of 8 bytes, big endian.
func appendNumber(b []byte, n uint64) []byte {
	return appendField(b, binary.BigEndian.AppendUint64(nil, n))
}

// Verified is a draw whose statement and beacon's signature have been checked (Verify).
type Verified struct {
	Statement Statement
	places    *Permutation
}

// Verify checks a statement and the beacon's signature of its round, and returns the draw. The
// round must be the first after the closing and the delay: otherwise the operator could have chosen
// among rounds.
func Verify(s Statement, c *Chain, signature []byte) (*Verified, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if c.Hash != s.Rules.Chain {
		return nil, fmt.Errorf("%w: it names the chain %s, not %s", ErrBeacon, s.Rules.Chain, c.Hash)
	}
	if first := c.RoundAt(s.Rules.ClosesAt + BeaconDelay); s.Rules.Round != first {
		return nil, fmt.Errorf("%w: it names round %d, the first after the closing and %d s is %d", ErrBeacon, s.Rules.Round, BeaconDelay/1000, first)
	}
	if err := c.Verify(s.Rules.Round, signature); err != nil {
		return nil, err
	}
	return &Verified{Statement: s, places: NewPermutation(s.Key(signature), s.Count)}, nil
}

// Place returns the place of a leaf, from 0. It returns an error unless the proof shows that the
// leaf has the index.
func (v *Verified) Place(leaf Hash, index uint32, proof []Hash) (uint32, error) {
	if err := CheckInclusion(v.Statement.Root, v.Statement.Count, leaf, index, proof); err != nil {
		return 0, err
	}
	return v.places.Place(index), nil
}

// Places returns the places of all entries, by index. It returns an error unless the leaves have
// the statement's root.
func (v *Verified) Places(leaves []Hash) ([]uint32, error) {
	var t Tree
	for _, leaf := range leaves {
		t.Append(leaf)
	}
	if root := t.Root(); uint64(len(leaves)) != uint64(v.Statement.Count) || root != v.Statement.Root {
		return nil, fmt.Errorf("%w: %d leaves have the root %s, the statement %d and %s", ErrInclusion, len(leaves), root, v.Statement.Count, v.Statement.Root)
	}
	return v.places.All(), nil
}

// AreRival reports whether two statements contradict each other: they are of one draw of one event,
// and differ. If one key has signed both, its owner cheats.
func AreRival(a, b *Statement) bool {
	return a.Event == b.Event && a.Draw == b.Draw && !bytes.Equal(a.bytes(), b.bytes())
}

// Class says what a visitor has shown about who they are.
type Class uint8

// These are the classes. Their numbers stand in leaves.
const (
	ClassNone    Class = 0
	ClassAddress Class = 1 // a mail address that was proven
	ClassAccount Class = 2
)

// Classes are the classes' names, by number.
var Classes = [...]string{"none", "address", "account"}

// Counts are numbers of entries, by class.
type Counts [len(Classes)]uint32

func (c *Counts) sum() (n uint64) {
	for _, k := range c {
		n += uint64(k)
	}
	return n
}

// MarshalJSON writes the counts with the classes' names.
func (c Counts) MarshalJSON() ([]byte, error) {
	return json.Marshal(countsByName{c[ClassAccount], c[ClassAddress], c[ClassNone]})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Counts) UnmarshalJSON(text []byte) error {
	var by countsByName
	err := json.Unmarshal(text, &by)
	*c = Counts{ClassAccount: by.Account, ClassAddress: by.Address, ClassNone: by.None}
	return err
}

type countsByName struct {
	Account uint32 `json:"account"`
	Address uint32 `json:"address"`
	None    uint32 `json:"none"`
}

// SecretSize is how many bytes the secret in a visitor's entry has.
const SecretSize = 16

// Entry is what a visitor's leaf hides. Only the visitor and the service know the secret, so a leaf tells others
// nothing about its entry.
type Entry struct {
	Secret [SecretSize]byte
	Party  uint8 // how many visitors are admitted together by the entry
	Class  Class
}

// Leaf returns the entry's leaf: SHA-256 of a zero byte, the secret, the party and the class. It is
// the hash of an RFC 6962 leaf, whose prefix is the zero byte.
func (e *Entry) Leaf() Hash {
	return Hash(tlog.RecordHash(append(e.Secret[:], e.Party, byte(e.Class))))
}

package draw

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/cloudflare/circl/sign/bls"
)

// ErrBeacon says that a round, its signature or a chain is not the beacon's, or is missing.
var ErrBeacon = errors.New("draw: not the beacon's")

// Chain is a public randomness beacon of drand's scheme bls-unchained-g1-rfc9380. It has one round in every period, and
// signs the round's number. Nobody can know the signature before, unless it is a Test chain, and anybody can verify it,
// so it does not matter who passes it on to us.
type Chain struct {
	Hash    Hash   `cbor:"1,keyasint"`
	Key     []byte `cbor:"2,keyasint"`           // 96 bytes: the compressed public key on G2
	Genesis int64  `cbor:"3,keyasint"`           // unix seconds of round 1
	Period  int64  `cbor:"4,keyasint"`           // seconds
	Test    bool   `cbor:"5,keyasint,omitempty"` // its rounds can be computed by whoever has the key pair
}

// Quicknet returns drand's chain of the League of Entropy (drand.love), which signs every 3 s.
func Quicknet() *Chain {
	key, err := hex.DecodeString("83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a")
	if err != nil {
		panic(err) // a constant
	}
	c := &Chain{Key: key, Genesis: 1_692_803_367, Period: 3}
	if err := c.Hash.UnmarshalText([]byte("52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971")); err != nil {
		panic(err) // a constant
	}
	return c
}

// RoundAt returns the first round that is not signed before a time, in unix milliseconds.
func (c *Chain) RoundAt(at int64) uint64 {
	since := at - c.Genesis*1000
	if since <= 0 {
		return 1
	}
	period := c.Period * 1000
	return uint64((since+period-1)/period) + 1 //nolint:gosec // positive
}

// Time returns when a round is signed, in unix milliseconds.
func (c *Chain) Time(round uint64) int64 {
	return (c.Genesis + int64(round-1)*c.Period) * 1000 //nolint:gosec // rounds of the next centuries
}

// Verify returns nil if the signature is the chain's for a round. Otherwise the error wraps
// ErrBeacon. It takes some milliseconds.
func (c *Chain) Verify(round uint64, signature []byte) error {
	var key bls.PublicKey[bls.KeyG2SigG1]
	if err := key.UnmarshalBinary(c.Key); err != nil {
		return fmt.Errorf("%w: the chain's key is none: %w", ErrBeacon, err)
	}
	if round == 0 || len(signature) != signatureSize || !bls.Verify(&key, roundMessage(round), signature) {
		return fmt.Errorf("%w: the signature of round %d does not verify under the key of %s", ErrBeacon, round, c.Hash)
	}
	return nil
}

const signatureSize = 48 // a compressed point on G1

// roundMessage returns what the chain signs for a round: the SHA-256 of its number.
func roundMessage(round uint64) []byte {
	m := sha256.Sum256(binary.BigEndian.AppendUint64(nil, round))
	return m[:]
}

// TestBeacon signs rounds with a key of its own. It serves tests and nodes that are only tried out. Its owner
// knows the signatures of all rounds beforehand, so a statement under its chain is marked
// (Statement.TestBeacon).
type TestBeacon struct {
	Chain Chain
	key   *bls.PrivateKey[bls.KeyG2SigG1]
}

// NewTestBeacon derives a key pair from a seed of at least 32 bytes. genesis is in unix seconds, period in
// seconds.
func NewTestBeacon(seed []byte, genesis, period int64) (*TestBeacon, error) {
	key, err := bls.KeyGen[bls.KeyG2SigG1](seed, nil, nil)
	if err != nil {
		return nil, err
	}
	public, err := key.PublicKey().MarshalBinary()
	if err != nil {
		return nil, err
	}
	b := &TestBeacon{Chain: Chain{Key: public, Genesis: genesis, Period: period, Test: true}, key: key}
	b.Chain.Hash = hashOfTest(&b.Chain)
	return b, nil
}

// Sign returns the signature of a round.
func (b *TestBeacon) Sign(round uint64) []byte { return bls.Sign(b.key, roundMessage(round)) }

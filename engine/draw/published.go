package draw

import (
	"crypto/ed25519"
	"fmt"
)

// Published is the public document of a draw, for programs that read it. At first the document has only the
// statement; the beacon's signature is added once its round is known.
type Published struct {
	Statement Statement `json:"statement"`
	Signer    Bytes     `json:"signer"`           // ed25519 public key of the node's operator
	Signature Bytes     `json:"signature"`        // of the statement
	Beacon    Bytes     `json:"beacon"`           // the signature of the rules' round; null before it
	Witness   []byte    `json:"witness,omitzero"` // an RFC 3161 token over the statement's Digest; left out without a witness
}

// Verify checks the document and returns the draw. As long as the beacon's signature is missing, it returns an
// error that wraps ErrBeacon.
func (p *Published) Verify(c *Chain) (*Verified, error) {
	if err := VerifyStatement(ed25519.PublicKey(p.Signer), &p.Statement, p.Signature); err != nil {
		return nil, err
	}
	return Verify(p.Statement, c, p.Beacon)
}

// PlaceOf returns the place, from 0, of the entry that a visitor's receipt is for. It returns an error unless
// the key has signed the receipt, the receipt is for this draw, and the proof shows that its leaf has the
// index.
func (v *Verified) PlaceOf(r *Receipt, key ed25519.PublicKey, index uint32, proof []Hash) (uint32, error) {
	if err := r.Verify(key); err != nil {
		return 0, err
	}
	if r.Event != v.Statement.Event || r.Draw != v.Statement.Draw {
		return 0, fmt.Errorf("%w: it is for draw %d of %s", ErrReceipt, r.Draw, r.Event)
	}
	return v.Place(r.Leaf, index, proof)
}

// Inclusion shows where a leaf is in the tree. Together with the root it proves that the leaf took
// part in the draw.
type Inclusion struct {
	Index uint32 `json:"index"` // number of the entry in the tree, from 0
	Proof []Hash `json:"proof"` // hashes that lead from the leaf to the root, the leaf's sibling first
}

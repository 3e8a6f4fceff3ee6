package draw

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

// maxEvent is how many bytes an event's public id may have.
const maxEvent = 64

// KeyID names a key that signs receipts and statements: the first 8 bytes of its SHA-256.
type KeyID [8]byte

// IDOf returns the id of a public key.
func IDOf(key ed25519.PublicKey) KeyID {
	sum := sha256.Sum256(key)
	return KeyID(sum[:8])
}

// Receipt promises that a leaf will be under the root of a draw. If the leaf of a valid receipt is
// not under the root, that proves to everybody that the key's owner cheats.
type Receipt struct {
	Key       KeyID
	Event     string // public id
	Draw      uint32
	Leaf      Hash
	At        int64 // unix milliseconds
	Signature [ed25519.SignatureSize]byte
}

// receiptVersion is the first byte of a receipt's text.
const receiptVersion = 1

// ErrReceipt says that a text is no receipt, or that its signature does not verify.
var ErrReceipt = errors.New("draw: not a valid receipt")

// SignReceipt makes a receipt. The fact that contains the leaf must be durable before, or a crash could break
// the receipt's promise.
func SignReceipt(key ed25519.PrivateKey, event string, draw uint32, leaf Hash, at int64) Receipt {
	public, _ := key.Public().(ed25519.PublicKey)
	r := Receipt{Key: IDOf(public), Event: event, Draw: draw, Leaf: leaf, At: at}
	r.Signature = [ed25519.SignatureSize]byte(ed25519.Sign(key, append([]byte(receiptDomain), r.unsignedBytes()...)))
	return r
}

// unsignedBytes returns the receipt without its signature: the version (1 byte), the key's id (8
// bytes), the draw (4 bytes), the moment (8 bytes), the leaf (32 bytes), and the event's id.
func (r *Receipt) unsignedBytes() []byte {
	b := append([]byte{receiptVersion}, r.Key[:]...)
	b = binary.BigEndian.AppendUint32(b, r.Draw)
	b = binary.BigEndian.AppendUint64(b, uint64(r.At)) //nolint:gosec // the bits count
	b = append(b, r.Leaf[:]...)
	return append(b, r.Event...)
}

// Text returns the receipt as visitors keep it: its bytes and the signature as unpadded base64url.
func (r *Receipt) Text() string {
	return base64.RawURLEncoding.EncodeToString(append(r.unsignedBytes(), r.Signature[:]...))
}

// ParseReceipt reads what Text returns. It does not verify the signature (Receipt.Verify).
func ParseReceipt(text string) (Receipt, error) {
	const fixed = 1 + 8 + 4 + 8 + 32
	if base64.RawURLEncoding.DecodedLen(len(text)) > fixed+maxEvent+ed25519.SignatureSize {
		return Receipt{}, fmt.Errorf("%w: it is too long", ErrReceipt)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) <= fixed+ed25519.SignatureSize || b[0] != receiptVersion {
		return Receipt{}, fmt.Errorf("%w: it is cut off or of another version", ErrReceipt)
	}
	end := len(b) - ed25519.SignatureSize
	return Receipt{
		Key: KeyID(b[1:9]), Draw: binary.BigEndian.Uint32(b[9:]), At: int64(binary.BigEndian.Uint64(b[13:])), //nolint:gosec // the bits count
		Leaf: Hash(b[21:fixed]), Event: string(b[fixed:end]), Signature: [ed25519.SignatureSize]byte(b[end:]),
	}, nil
}

// Verify returns nil if the key has signed the receipt.
func (r *Receipt) Verify(key ed25519.PublicKey) error {
	if len(key) != ed25519.PublicKeySize || IDOf(key) != r.Key ||
		!ed25519.Verify(key, append([]byte(receiptDomain), r.unsignedBytes()...), r.Signature[:]) {
		return fmt.Errorf("%w: the key %x has not signed it", ErrReceipt, r.Key)
	}
	return nil
}

// SignStatement signs a statement.
func SignStatement(key ed25519.PrivateKey, s *Statement) []byte { return ed25519.Sign(key, s.bytes()) }

// VerifyStatement returns nil if the key has signed the statement.
func VerifyStatement(key ed25519.PublicKey, s *Statement, signature []byte) error {
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, s.bytes(), signature) {
		return fmt.Errorf("%w: the key has not signed it", ErrStatement)
	}
	return nil
}

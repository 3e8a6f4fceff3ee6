package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"strconv"
	"strings"
	"time"

	"boxoffice/engine"
)

// alphabet has no 0, O, 1, I or L, which people mistake
// for each other.
const alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

const (
	shortLen = 6  // letters of a door code, and of the permuted serial that a full code or pass id begins with
	macLen   = 13 // letters of the 64-bit MAC in a full code or pass id
	codeLen  = shortLen + 1 + macLen
	shorts   = 887_503_681      // 31^6: how many door codes an event has
	serials  = 28_629_151       // 31^5: how many of them each holder version has, and so the most tickets of an event
	qrStep   = 30 * time.Second // how long a screen shows a QR payload
)

// Version is the holder version of a ticket that never changed hands. Each
// change of holder has the next one, and with it a new code and QR key.
const Version byte = 1

// lastVersion is the last holder version that door codes are left for.
const lastVersion byte = shorts / serials

// Codes makes and reads the codes of one event's tickets. They are derived from a ticket's serial in the
// event and its holder version, so that none is stored:
//
//	door code  6 letters: a permutation of serials and holder versions
//	code       another permutation, a letter for the holder version, 64 bits of MAC
//	pass id    the same as a code, by keys of its own; it stands in QR payloads alone
//	QR         v2.<pass id>.<step>.<mac>, another one every 30 s (docs/rules.md, Gates)
//	printed    p2.<pass id>.<mac>, always the same
//
// Door code, full code and pass id have different keys, so that nobody can compute one from another. So
// nobody can type at a desk what a camera has seen in a QR payload.
type Codes struct {
	event int64
	ids   *mac         // makes the MAC in tickets' public ids
	full  numbering    // makes full codes
	pass  numbering    // makes pass ids
	door  cipher.Block // permutes the numbers of door codes
	qr    []byte       // the key from which the keys of QR payloads are derived
}

// numbering writes serials and holder versions as codes of 20 letters, and reads them.
type numbering struct {
	mac     *mac
	shuffle cipher.Block
}

// These are the labels from which the keys of door codes and pass ids are derived.
const (
	doorLabel = "door code"
	passLabel = "pass id"
)

// newCodes makes the codes of an event from its keys, of KeySize bytes each. The first is for the MACs of ids and
// full codes, the second for QR payloads, and the third for the permutation of full codes. The keys of door codes
// and pass ids are derived from the third.
func newCodes(event int64, keys []byte) *Codes {
	derive := func(label string) []byte {
		key, err := hkdf.Expand(sha256.New, keys[2*KeySize:], label, KeySize)
		if err != nil {
			panic(err) // the length is a constant
		}
		return key
	}
	ids := newMAC(keys[:KeySize])
	return &Codes{
		event: event, ids: ids, full: numbering{ids, newShuffle(keys[2*KeySize:])}, door: newShuffle(derive(doorLabel)),
		pass: numbering{newMAC(derive(passLabel + " mac")), newShuffle(derive(passLabel))}, qr: keys[KeySize : 2*KeySize],
	}
}

func newShuffle(key []byte) cipher.Block {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	return block
}

// Short returns a ticket's door code. Two tickets of an event never have the same door code, nor do two
// holders of a ticket, because the code is a permutation of the serial and the holder version.
//
// Short panics if the serial is 31^5 or more, or if the holder version is 0 or above 31. No ticket that was ever
// issued has such a serial or such a version, but a damaged fact may.
func (c *Codes) Short(serial uint32, version byte) string {
	return shuffleLetters(c.door, serial, version)
}

// shuffleLetters permutes a serial with a holder version and writes the result as six letters.
func shuffleLetters(by cipher.Block, serial uint32, version byte) string {
	if serial >= serials || version < Version || version > lastVersion {
		panic("secrets: a ticket's serial or holder version is beyond the last door code")
	}
	return writeLetters(uint64(permuteNumber(by, serial+uint32(version-Version)*serials, false)), shortLen)
}

// IsShort reports whether a scanned text, cleaned by CleanShown, has the length of a door code.
func IsShort(text string) bool { return len(CleanShown(text)) == shortLen }

// FromShort returns the serial and the holder version of a door code in upper or lower case. ok is false if
// the text is no door code. It does not check whether the ticket exists.
func (c *Codes) FromShort(short string) (serial uint32, version byte, ok bool) {
	return unshuffleLetters(c.door, short)
}

// unshuffleLetters reverses shuffleLetters, for letters in upper or lower case. ok is false if the text is not
// six letters of the alphabet. It does not check whether such a ticket exists.
func unshuffleLetters(by cipher.Block, text string) (serial uint32, version byte, ok bool) {
	n, ok := readLetters(strings.ToUpper(text), shortLen)
	if !ok || n >= shorts {
		return 0, 0, false
	}
	at := permuteNumber(by, uint32(n), true)
	return at % serials, byte(at/serials) + Version, true
}

// Code returns a ticket's full code, which people type at a desk. It begins with a permutation of the serial
// and the holder version, so no two tickets of an event have the same code. It ends with a MAC of 64 bits,
// which a guess hits once in 1.8e19.
func (c *Codes) Code(serial uint32, version byte) string { return c.full.write(serial, version) }

// FromCode returns the serial and the holder version of a full code in upper or lower case. ok is false if
// the code is not one of this event. It does not check whether the ticket exists.
func (c *Codes) FromCode(code string) (serial uint32, version byte, ok bool) {
	return c.full.read(code)
}

// write returns the code of a serial and a holder version: the permuted serial, a letter for the version, and a MAC.
func (n numbering) write(serial uint32, version byte) string {
	return shuffleLetters(n.shuffle, serial, version) + alphabet[version%31:][:1] + writeLetters(sumOf(n.mac, serial, version), macLen)
}

// read returns the serial and the holder version of a code in upper or lower case. ok is false unless the whole
// code is what write makes of them, MAC included.
func (n numbering) read(code string) (serial uint32, version byte, ok bool) {
	code = strings.ToUpper(code)
	if len(code) != codeLen {
		return 0, 0, false
	}
	serial, _, ok = unshuffleLetters(n.shuffle, code[:shortLen])
	v := strings.IndexByte(alphabet, code[shortLen])
	if !ok || v < 0 {
		return 0, 0, false
	}
	version = byte(v)
	if version == 0 {
		version = lastVersion // write begins again with the first letter, and there is no version 0
	}
	return serial, version, hmac.Equal([]byte(code), []byte(n.write(serial, version)))
}

// sumOf returns the first 64 bits of the MAC of a serial and a holder version.
func sumOf(m *mac, serial uint32, version byte) uint64 {
	var b [5]byte
	binary.BigEndian.PutUint32(b[:], serial)
	b[4] = version
	sum := m.sum(b[:])
	return binary.BigEndian.Uint64(sum[:])
}

// TicketID returns a ticket's public id. No two tickets have the same id, because it contains the event and
// the serial.
func (c *Codes) TicketID(serial uint32) engine.TicketID {
	var tail [10]byte
	binary.BigEndian.PutUint64(tail[:8], sumOf(c.ids, serial, 0))
	binary.BigEndian.PutUint32(tail[6:], serial)
	return engine.NewID(c.event, tail[:])
}

// FromTicketID returns the serial in a ticket's public id. ok is false if the id is not one of this event.
func (c *Codes) FromTicketID(id engine.TicketID) (serial uint32, ok bool) {
	serial = binary.BigEndian.Uint32(id[len(id)-4:])
	return serial, serial < serials && c.TicketID(serial) == id
}

// Printed returns the QR payload of a ticket on paper. It is good at any time, for this holder version, at gates that
// accept paper.
func (c *Codes) Printed(serial uint32, version byte) string {
	code := c.pass.write(serial, version)
	return "p2." + code + "." + c.qrMAC(code, version, printedStep)
}

// printedStep is signed in a printed payload in the place of a step, and is not the step of any time.
const printedStep = -1

// QR returns the QR payload that a ticket's screen shows at a time, and when the screen must show the next.
// Gates accept a payload also during the 30 seconds before and after its own.
func (c *Codes) QR(serial uint32, version byte, now time.Time) (payload string, expires time.Time) {
	code := c.pass.write(serial, version)
	step := now.Unix() / int64(qrStep/time.Second)
	return "v2." + code + "." + strconv.FormatInt(step, 10) + "." + c.qrMAC(code, version, step),
		time.Unix((step+1)*int64(qrStep/time.Second), 0)
}

// QRAhead returns the n payloads that follow the payload of the time now, one for each 30 seconds, as QR
// would return them. They are for a screen that will have no network.
func (c *Codes) QRAhead(serial uint32, version byte, now time.Time, n int) []string {
	code := c.pass.write(serial, version)
	mac := c.newQRMAC(code, version)
	step := now.Unix() / int64(qrStep/time.Second)
	all := make([]string, n)
	for i := range all {
		step++
		all[i] = "v2." + code + "." + strconv.FormatInt(step, 10) + "." + c.signStep(mac, code, step)
	}
	return all
}

// QRPerHour is how many payloads a ticket's screen shows in an hour.
const QRPerHour = int(time.Hour / qrStep)

// Salt returns the text with which the hashed texts of a manifest begin. Nobody can compute the event's keys
// from it.
func (c *Codes) Salt() string {
	b, err := hkdf.Expand(sha256.New, c.qr, "manifest salt", 16)
	if err != nil {
		panic(err) // the length is a constant
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// Hashes returns the two hashes that a manifest has in place of a ticket's codes: the first 16 bytes of
// SHA-256(salt|pass id), and the first 6 bytes of SHA-256(salt|door code), both in base64url.
func (c *Codes) Hashes(salt string, serial uint32, version byte) (pass, short string) {
	return manifestHash(salt, c.pass.write(serial, version), 16), manifestHash(salt, c.Short(serial, version), 6)
}

// manifestHash returns the first size bytes of the hash of a code with a manifest's salt, in base64.
func manifestHash(salt, code string, size int) string {
	sum := sha256.Sum256([]byte(salt + "|" + code))
	return base64.RawURLEncoding.EncodeToString(sum[:size])
}

// Verdict tells whether a scanned code is one of the event's, before anybody looks at the ticket.
type Verdict uint8

// The verdicts on a scanned code.
const (
	Foreign Verdict = iota // not a code of this event
	Stale                  // a QR payload of this event for another time
	Genuine                // a code of this event that is good now
)

// Scanned is what a gate reads from a code. If Verdict is Foreign, the other fields are zero.
type Scanned struct {
	Serial  uint32
	Version byte
	Printed bool // the scanned code does not rotate, so a picture of it is as good as the ticket; false for a typed code
	Verdict Verdict
}

// Typed reads what a person typed: a full code or a door code.
func (c *Codes) Typed(text string) Scanned {
	text = CleanShown(text)
	read := c.FromCode
	if IsShort(text) {
		read = c.FromShort
	}
	serial, version, ok := read(text)
	if !ok {
		return Scanned{}
	}
	return Scanned{Serial: serial, Version: version, Verdict: Genuine}
}

// Scan reads what a gate scanned: a QR payload, rotating or printed, or a door code. It refuses a full code or
// pass id without a payload's signature, because anybody could copy it and it never goes stale. It also reads
// the payloads of an earlier release (v1, p1), which contain the full code, until its tickets have been used.
func (c *Codes) Scan(text string, now time.Time) Scanned {
	text = CleanShown(text)
	if IsShort(text) {
		if serial, version, ok := c.FromShort(text); ok {
			return Scanned{Serial: serial, Version: version, Printed: true, Verdict: Genuine}
		}
		return Scanned{}
	}
	parts := strings.Split(text, ".")
	form := parts[0]
	by := c.pass
	if form == "V1" || form == "P1" {
		by = c.full
	}
	switch {
	case (form == "V2" || form == "V1") && len(parts) == 4:
		return c.scanQR(by, parts, now)
	case (form == "P2" || form == "P1") && len(parts) == 3:
		return c.scanPrinted(by, parts)
	}
	return Scanned{}
}

// scanQR reads a rotating payload: its parts are the form, the code (which by reads), the step and the MAC. The
// verdict is Genuine if the step is now's or one beside it, Stale if it is any other, and Foreign if the code or
// the MAC is not one of this event.
func (c *Codes) scanQR(by numbering, parts []string, now time.Time) Scanned {
	serial, version, ok := by.read(parts[1])
	step, err := strconv.ParseInt(parts[2], 10, 64)
	if !ok || err != nil || step < 0 {
		return Scanned{}
	}
	if !hmac.Equal([]byte(parts[3]), []byte(c.qrMAC(strings.ToUpper(parts[1]), version, step))) {
		return Scanned{}
	}
	s := Scanned{Serial: serial, Version: version, Verdict: Genuine}
	if d := now.Unix()/int64(qrStep/time.Second) - step; d < -1 || d > 1 {
		s.Verdict = Stale
	}
	return s
}

// scanPrinted reads a printed payload: its parts are the form, the code (which by reads) and the MAC. It is Genuine
// at any time, or Foreign if the code or the MAC is not one of this event.
func (c *Codes) scanPrinted(by numbering, parts []string) Scanned {
	serial, version, ok := by.read(parts[1])
	if !ok || !hmac.Equal([]byte(parts[2]), []byte(c.qrMAC(strings.ToUpper(parts[1]), version, printedStep))) {
		return Scanned{}
	}
	return Scanned{Serial: serial, Version: version, Printed: true, Verdict: Genuine}
}

var base32NoPad = base32.StdEncoding.WithPadding(base32.NoPadding)

// qrMAC returns the first 10 bytes of an HMAC-SHA256 in base32, which signs a payload. Its key is derived for
// the code and the holder version.
func (c *Codes) qrMAC(code string, version byte, step int64) string {
	return c.signStep(c.newQRMAC(code, version), code, step)
}

// newQRMAC returns the HMAC that signs the payloads of one code.
func (c *Codes) newQRMAC(code string, version byte) hash.Hash {
	key, err := hkdf.Expand(sha256.New, c.qr, code+"|"+strconv.Itoa(int(version)), sha256.Size)
	if err != nil {
		panic(err) // the length is a constant
	}
	return hmac.New(sha256.New, key)
}

// signStep signs a code, a step and the event with mac, which newQRMAC has made for the code.
func (c *Codes) signStep(mac hash.Hash, code string, step int64) string {
	mac.Reset()
	mac.Write([]byte(code + "|" + strconv.FormatInt(step, 10) + "|" + strconv.FormatInt(c.event, 10)))
	return base32NoPad.EncodeToString(mac.Sum(nil)[:10])
}

// permuteNumber permutes the numbers below 31^6; back reverses that. It is a Feistel network of eight rounds
// over 30 bits, repeated until the result is below 31^6 (Black and Rogaway, Ciphers with Arbitrary Finite
// Domains, 2002).
//
// It panics if n is 31^6 or more, because then the repetition might never end.
func permuteNumber(by cipher.Block, n uint32, back bool) uint32 {
	if n >= shorts {
		panic("secrets: a number is beyond the last door code")
	}
	for {
		l, r := n>>15, n&0x7fff
		for i := range uint32(8) {
			if back {
				l, r = r^roundFunction(by, 7-i, l), l
			} else {
				l, r = r, l^roundFunction(by, i, r)
			}
		}
		if n = l<<15 | r; n < shorts {
			return n
		}
	}
}

// roundFunction returns 15 bits that depend on the key, on the round i and on one half of a number.
func roundFunction(by cipher.Block, i, half uint32) uint32 {
	var in, out [aes.BlockSize]byte
	binary.BigEndian.PutUint32(in[:], i)
	binary.BigEndian.PutUint32(in[4:], half)
	by.Encrypt(out[:], in[:])
	return binary.BigEndian.Uint32(out[:]) & 0x7fff
}

// writeLetters writes a number in base 31 with a fixed number of letters.
func writeLetters(n uint64, size int) string {
	b := make([]byte, size)
	for i := size - 1; i >= 0; i-- {
		b[i] = alphabet[n%31]
		n /= 31
	}
	return string(b)
}

// readLetters reads a number that writeLetters has written, in upper case. It returns false for another length or a
// letter that is not in the alphabet.
func readLetters(s string, size int) (uint64, bool) {
	if len(s) != size {
		return 0, false
	}
	var n uint64
	for i := range size {
		d := strings.IndexByte(alphabet, s[i])
		if d < 0 {
			return 0, false
		}
		n = n*31 + uint64(d)
	}
	return n, true
}

// OrderNumber returns the number by which people know an order: the event in base 36, and then, as 11 and 5
// letters, all 74 bits by which the order's id differs from others of the event. So no two orders have the
// same number, and references of payments begin with it. An earlier release left out the last 5 letters, so
// a number that somebody noted then is the beginning of the number now.
func OrderNumber(id engine.OrderID) string {
	low := binary.BigEndian.Uint64(id[8:]) & (1<<62 - 1)
	high := uint64(binary.BigEndian.Uint16(id[6:]) & (1<<12 - 1))
	return strings.ToUpper(strconv.FormatInt(id.Event(), 36)) +
		"-" + writeLetters(low&(1<<50-1), 11) + "-" + writeLetters(high<<12|low>>50, 5)
}

// orderLetters is how many letters an order number has after its event, without dashes.
const orderLetters = 16

// ReadOrderLetters returns the id of the order with a number that is written without dashes. ok is false if
// the text is no order number. It does not check whether the order exists.
func ReadOrderLetters(text string) (id engine.OrderID, ok bool) {
	at := len(text) - orderLetters
	if at < 1 {
		return id, false
	}
	return ReadOrderNumber(text[:at] + "-" + text[at:at+11] + "-" + text[at+11:])
}

// ReadOrderNumber returns the id of the order with a number in upper or lower case. ok is false if the text
// is no order number. It does not check whether the order exists.
func ReadOrderNumber(text string) (id engine.OrderID, ok bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	parts := strings.Split(text, "-")
	if len(parts) != 3 {
		return id, false
	}
	event, err := strconv.ParseInt(parts[0], 36, 64)
	low, isLow := readLetters(parts[1], 11)
	high, isHigh := readLetters(parts[2], 5)
	if err != nil || event < 0 || event > engine.MaxEvent || !isLow || !isHigh {
		return id, false
	}
	tail := binary.BigEndian.AppendUint16(nil, uint16(high>>12)) //nolint:gosec // twelve bits of an order's number
	id = engine.NewID(event, binary.BigEndian.AppendUint64(tail, high<<50|low))
	return id, OrderNumber(id) == text // The letters can hold more bits than an id has; then the texts differ.
}

package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"
)

// Viewer is the holder of a ticket for whom a link to a private file is made out. Once
// the ticket has another holder, or is worth nothing, the link opens nothing more.
type Viewer struct {
	Event   int64 // number
	Serial  uint32
	Version byte // of the holder
}

// viewerSize is how many bytes a Viewer takes in a signature.
const viewerSize = 8 + 4 + 1

func (v Viewer) bytes() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(v.Event)) //nolint:gosec // the bits are what counts
	return append(binary.BigEndian.AppendUint32(b, v.Serial), v.Version)
}

// MediaLink is the root-relative link to a private file until a time, to the second. Its
// signature says for whom the link was, also of one that has got about.
func (m *Master) MediaLink(media int64, viewer Viewer, expires time.Time) string {
	seconds, of := expires.Unix(), viewer.bytes()
	sig := append(of, m.mediaSum(media, seconds, of)...)
	return fmt.Sprintf("/media/%d?exp=%d&sig=%s", media, seconds, base64.RawURLEncoding.EncodeToString(sig))
}

// OpenMedia says for whom MediaLink has made a signature for the file and the time, in
// unix seconds, if it has. Whether the time has come, and whether the viewer still holds
// the ticket, is for the caller to say.
func (m *Master) OpenMedia(media, expires int64, signature string) (Viewer, bool) {
	sig, err := base64.RawURLEncoding.Strict().DecodeString(signature)
	if err != nil || len(sig) <= viewerSize {
		return Viewer{}, false
	}
	of := sig[:viewerSize:viewerSize]
	if !hmac.Equal(m.mediaSum(media, expires, of), sig[viewerSize:]) {
		return Viewer{}, false
	}
	event := int64(binary.BigEndian.Uint64(of)) //nolint:gosec // the bits are what counts
	return Viewer{event, binary.BigEndian.Uint32(of[8:]), of[12]}, true
}

func (m *Master) mediaSum(media, expires int64, viewer []byte) []byte {
	h := hmac.New(sha256.New, m.media)
	_, _ = fmt.Fprintf(h, "%d.%d.%x", media, expires, viewer) // a hash takes everything
	return h.Sum(nil)
}

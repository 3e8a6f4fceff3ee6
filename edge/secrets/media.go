package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"
)

// Viewer names the ticket's holder for whom a link to a private file was made. The service refuses the link
// once the ticket has another holder or is no longer valid.
type Viewer struct {
	Event   int64 // the event's number
	Serial  uint32
	Version byte // the holder version
}

// viewerSize is how many bytes a Viewer takes in a signature.
const viewerSize = 8 + 4 + 1

func (v Viewer) bytes() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(v.Event)) //nolint:gosec // the bits are what counts
	return append(binary.BigEndian.AppendUint32(b, v.Serial), v.Version)
}

// MediaLink returns a link to a private file, as a path on this server, that is good until expires, in whole
// seconds. The link contains the viewer, so a link that somebody has published shows whose it was.
func (m *Master) MediaLink(media int64, viewer Viewer, expires time.Time) string {
	seconds, of := expires.Unix(), viewer.bytes()
	sig := append(of, m.mediaSum(media, seconds, of)...)
	return fmt.Sprintf("/media/%d?exp=%d&sig=%s", media, seconds, base64.RawURLEncoding.EncodeToString(sig))
}

// OpenMedia returns the viewer for whom MediaLink made the signature. It returns false if the signature is not
// one for this file and these expires, in unix seconds. The caller must check whether that time has passed
// and whether the viewer still holds the ticket.
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

// mediaSum returns the MAC of a link to a private file: of the file, the link's end and its viewer.
func (m *Master) mediaSum(media, expires int64, viewer []byte) []byte {
	h := hmac.New(sha256.New, m.media)
	_, _ = fmt.Fprintf(h, "%d.%d.%x", media, expires, viewer) // a hash takes everything
	return h.Sum(nil)
}

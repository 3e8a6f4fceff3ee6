package security

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// pngChunk is a chunk of a PNG (RFC 2083, 3.2).
func pngChunk(kind string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

const pngMagic = "\x89PNG\r\n\x1a\n"

// pngBomb makes a PNG whose few kilobytes unpack to thousands of millions of white pixels. It
// may hold more or fewer rows than the height that its header claims.
func pngBomb(t *testing.T, width, height uint32, rows int) []byte {
	t.Helper()
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	var pixels bytes.Buffer
	w := zlib.NewWriter(&pixels)
	row := make([]byte, 1+(width+7)/8) // one bit a pixel, behind the row's filter
	for range rows {
		_, err := w.Write(row)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return bytes.Join([][]byte{
		[]byte(pngMagic), pngChunk("IHDR", append(head, 1, 0, 0, 0, 0)), pngChunk("IDAT", pixels.Bytes()), pngChunk("IEND", nil),
	}, nil)
}

// pngWith is a picture with another chunk before its pixels.
func pngWith(t *testing.T, kind string, body []byte) []byte {
	t.Helper()
	whole := nodetest.PNG(t, 40, 30)
	at := len(pngMagic) + 25 // behind IHDR
	return bytes.Join([][]byte{whole[:at], pngChunk(kind, body), whole[at:]}, nil)
}

// deflated is what zlib makes of so many equal bytes.
func deflated(t *testing.T, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, err := io.CopyN(w, zeros{}, size)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// jpegWith is a picture with another segment (ITU T.81, B.1.1) at its beginning.
func jpegWith(t *testing.T, marker byte, body string) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30)), nil))
	head := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, marker}, uint16(len(body)+2))
	return append(append(head, body...), b.Bytes()[2:]...)
}

// jpegOf is a picture that says to be of another size.
func jpegOf(t *testing.T, width, height uint16) []byte {
	t.Helper()
	b := jpegWith(t, 0xfe, "")
	frame := bytes.Index(b, []byte{0xff, 0xc0})
	require.Positive(t, frame)
	binary.BigEndian.PutUint16(b[frame+5:], height)
	binary.BigEndian.PutUint16(b[frame+7:], width)
	return b
}

// webpOf is the beginning of a WebP that says to be of a size, less one.
func webpOf(width, height uint32) []byte {
	frame := []byte{0, 0, 0, 0, byte(width), byte(width >> 8), byte(width >> 16), byte(height), byte(height >> 8), byte(height >> 16)}
	b := append([]byte("WEBPVP8X\x0a\x00\x00\x00"), frame...)
	b = append(append(b, "VP8L\x06\x00\x00\x00\x2f"...), 0xff, 0xff, 0xff, 0x0f, 0)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(b))), b...)
}

// avifOf is a picture that says to be of another size.
func avifOf(t *testing.T, width, height uint32) []byte {
	t.Helper()
	b, err := os.ReadFile("../../../../edge/images/testdata/halves.avif")
	require.NoError(t, err)
	size := bytes.Index(b, []byte("ispe"))
	require.Positive(t, size)
	binary.BigEndian.PutUint32(b[size+8:], width)
	binary.BigEndian.PutUint32(b[size+12:], height)
	return b
}

// gps is what cameras write of where a picture was taken: an EXIF block with a pointer to
// a GPS directory, whose date we search for.
const (
	gpsDate = "2031:06:20"
	gps     = "Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08" + // big endian, the first directory at 8
		"\x00\x01\x88\x25\x00\x04\x00\x00\x00\x01\x00\x00\x00\x1a\x00\x00\x00\x00" + // one entry: GPS at 26
		"\x00\x02\x00\x01\x00\x02\x00\x00\x00\x02N\x00\x00\x00\x00\x1d\x00\x02\x00\x00\x00\x0b\x00\x00\x00\x38\x00\x00\x00\x00" + // north; the date at 56
		gpsDate + "\x00"
)

// zipped is an archive of small files.
func zipped(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte("x"))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// zipBomb is an archive of archives, of one that grows a thousandfold.
func zipBomb(t *testing.T, depth int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if depth == 0 {
		f, err := w.Create("zeros.txt")
		require.NoError(t, err)
		_, err = io.CopyN(f, zeros{}, 64<<20)
		require.NoError(t, err)
	}
	for i := range 16 * min(depth, 1) {
		f, err := w.Create("lib " + strings.Repeat("i", i+1) + ".zip")
		require.NoError(t, err)
		if i == 0 {
			_, err = f.Write(zipBomb(t, depth-1))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

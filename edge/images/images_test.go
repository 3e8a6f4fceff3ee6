package images_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/images"
	"boxoffice/engine"
)

// TestMain makes the test's own program the worker that a Maker starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == images.Command {
		if err := images.Work(os.Args[2], os.Args[3], os.Args[4], os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// halves is a picture whose left half is red and whose right half is blue.
func halves(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.NRGBA{R: 255, A: 255}
			if x >= width/2 {
				c = color.NRGBA{B: 255, A: 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func asPNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}

func asJPEG(t *testing.T, img image.Image, exif []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, img, nil))
	if exif == nil {
		return b.Bytes()
	}
	block := append([]byte("Exif\x00\x00"), exif...)
	head := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, 0xe1}, uint16(len(block)+2))
	return append(append(head, block...), b.Bytes()[2:]...)
}

// makeSizes makes the sizes of an image and returns them with their bytes.
func makeSizes(t *testing.T, mediaType string, text []byte) (*images.Made, map[string][]byte, error) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	in, folder := filepath.Join(t.TempDir(), "in"), t.TempDir()
	require.NoError(t, os.WriteFile(in, text, 0o600))
	made, err := images.NewMaker(program, 1).Make(t.Context(), 1, time.Now(), mediaType, in, folder)
	files := map[string][]byte{}
	if made != nil {
		for name, v := range made.Variants {
			files[name], err = os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			require.Len(t, files[name], int(v.Bytes))
		}
	}
	return made, files, err
}

func requireRefused(t *testing.T, mediaType string, text []byte) {
	t.Helper()
	_, _, err := makeSizes(t, mediaType, text)
	var r *engine.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, engine.UnsupportedFile, r.Code)
}

func TestSizes(t *testing.T) {
	t.Parallel()
	made, files, err := makeSizes(t, "image/png", asPNG(t, halves(3000, 1000)))
	require.NoError(t, err)
	require.False(t, made.Alpha)
	for name, want := range map[string][2]int{"web": {2048, 682}, "thumbnail": {400, 133}, "og": {1200, 630}} {
		for _, file := range []string{name + ".jpg", name + ".webp"} {
			v := made.Variants[file]
			require.Equal(t, want, [2]int{v.Width, v.Height}, file)
		}
		img, err := jpeg.Decode(bytes.NewReader(files[name+".jpg"]))
		require.NoError(t, err)
		left, _, _, _ := img.At(want[0]/4, want[1]/2).RGBA()
		right, _, _, _ := img.At(want[0]*3/4, want[1]/2).RGBA()
		require.Greater(t, left, uint32(0xe000))
		require.Less(t, right, uint32(0x2000))
	}
	t.Log("what it makes it takes")
	again, _, err := makeSizes(t, "image/webp", files["web.webp"])
	require.NoError(t, err)
	require.Equal(t, 2048, again.Variants["web.webp"].Width)
	avif, err := os.ReadFile("testdata/halves.avif")
	require.NoError(t, err)
	made, files, err = makeSizes(t, "image/avif", avif)
	require.NoError(t, err)
	require.Equal(t, 64, made.Variants["web.jpg"].Width)
	img, err := jpeg.Decode(bytes.NewReader(files["web.jpg"]))
	require.NoError(t, err)
	left, _, _, _ := img.At(10, 10).RGBA()
	require.Greater(t, left, uint32(0xd000))
}

func TestTransparency(t *testing.T) {
	t.Parallel()
	clear := image.NewNRGBA(image.Rect(0, 0, 50, 50))
	made, files, err := makeSizes(t, "image/png", asPNG(t, clear))
	require.NoError(t, err)
	require.True(t, made.Alpha)
	img, err := jpeg.Decode(bytes.NewReader(files["web.jpg"]))
	require.NoError(t, err)
	r, g, b, _ := img.At(5, 5).RGBA()
	require.Greater(t, min(r, g, b), uint32(0xf000), "on white")
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	tiff := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00GPSLatitude 52.5163")
	made, files, err := makeSizes(t, "image/jpeg", asJPEG(t, halves(300, 100), tiff))
	require.NoError(t, err)
	require.Equal(t, 100, made.Variants["web.jpg"].Width, "it is turned upright")
	for name, body := range files {
		require.NotContains(t, string(body), "GPSLatitude", name)
		require.NotContains(t, string(body), "Exif", name)
	}
	img, err := jpeg.Decode(bytes.NewReader(files["web.jpg"]))
	require.NoError(t, err)
	top, _, _, _ := img.At(50, 50).RGBA()
	require.Greater(t, top, uint32(0xe000), "the left half is on top")
}

// bomb is a PNG that says to be of a size, and holds almost nothing.
func bomb(width, height uint32) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), width), height)
	head = append(head, 8, 2, 0, 0, 0)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(head))
}

func TestHostileImages(t *testing.T) {
	t.Parallel()
	requireRefused(t, "image/png", bomb(50_000, 50_000))
	requireRefused(t, "image/png", bomb(1<<31-1, 1<<31-1))
	requireRefused(t, "image/png", bomb(100, 100))
	requireRefused(t, "image/png", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"))
	requireRefused(t, "image/jpeg", []byte("\xff\xd8\xff\xe0 nothing more"))
	requireRefused(t, "image/webp", []byte("RIFF\x00\x00\x00\x00WEBPVP8 "))
	requireRefused(t, "image/avif", []byte("\x00\x00\x00\x1cftypavif\x00\x00\x00\x00avifmif1miaf"))
	whole := asPNG(t, halves(200, 200))
	requireRefused(t, "image/png", whole[:len(whole)/2])
	requireRefused(t, "image/gif", whole)
	t.Log("what follows the picture does not come through")
	_, files, err := makeSizes(t, "image/png", append(whole, "<script>alert(1)</script>"...))
	require.NoError(t, err)
	for name, body := range files {
		require.NotContains(t, string(body), "script", name)
	}
}

// TestFaultThatIsNotTheImages: an image is not refused because its sizes cannot be written.
func TestFaultThatIsNotTheImages(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	in := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.WriteFile(in, asPNG(t, halves(20, 20)), 0o600))
	_, err = images.NewMaker(program, 1).Make(t.Context(), 1, time.Now(), "image/png", in, filepath.Join(t.TempDir(), "missing"))
	require.Error(t, err)
	require.Empty(t, codeOf(err))
}

// TestBusyMachine has a worker that gets no processor until its time is over: that says nothing of the image.
func TestBusyMachine(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "worker")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nkill -STOP $$\n"), 0o700)) //nolint:gosec // it is started
	in := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.WriteFile(in, asPNG(t, halves(20, 20)), 0o600))
	m := images.NewMaker(program, 1)
	m.LimitTime(time.Second)
	_, err := m.Make(t.Context(), 1, time.Now(), "image/png", in, t.TempDir())
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// claims is a PNG whose header claims a size, and that ends before its pixels.
func claims(t *testing.T, width, height int) string {
	t.Helper()
	whole := asPNG(t, halves(2, 2))
	binary.BigEndian.PutUint32(whole[16:], uint32(width))
	binary.BigEndian.PutUint32(whole[20:], uint32(height))
	binary.BigEndian.PutUint32(whole[29:], crc32.ChecksumIEEE(whole[12:29]))
	path := filepath.Join(t.TempDir(), "claims.png")
	require.NoError(t, os.WriteFile(path, whole[:40], 0o600))
	return path
}

func codeOf(err error) engine.Code {
	if r, ok := errors.AsType[*engine.Refusal](err); ok {
		return r.Code
	}
	return ""
}

// TestPixelsOfAMinute sends images that end behind their headers: these count, and what they claim
// beyond the limit of a picture or of a minute is refused before a worker is started.
func TestPixelsOfAMinute(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	m, now := images.NewMaker(program, 1), time.Now()
	send := func(org int64, path string) engine.Code {
		_, err := m.Make(t.Context(), org, now, "image/png", path, t.TempDir())
		return codeOf(err)
	}
	large, small := claims(t, 10_000, 4_999), claims(t, 1_000, 1_000)
	require.Equal(t, engine.UnsupportedFile, send(1, claims(t, 10_000, 5_001)))
	for range 4 {
		require.Equal(t, engine.UnsupportedFile, send(1, large), "it ends before its pixels")
	}
	require.Equal(t, engine.RateLimited, send(1, small))
	require.Equal(t, engine.UnsupportedFile, send(2, large), "others have a budget of their own")
	now = now.Add(time.Minute)
	require.Equal(t, engine.UnsupportedFile, send(1, small))
}

// TestAClientThatGoesAway: that nobody waits for an image any more says nothing of the image.
func TestAClientThatGoesAway(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	in := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.WriteFile(in, asPNG(t, halves(20, 20)), 0o600))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	m := images.NewMaker(program, 1)
	for range 20 { // it is left to chance whether the turn begins before the client is seen to have gone
		_, err := m.Make(gone, 1, time.Now(), "image/png", in, t.TempDir())
		require.ErrorIs(t, err, context.Canceled)
	}
}

// TestImagesAreFair has one organization send nine large pictures at once, and another a small one
// behind them: that one is made, and of the nine no more than the minute's budget has room for.
func TestImagesAreFair(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	m := images.NewMaker(program, 1)
	path := func(side int) string {
		path := filepath.Join(t.TempDir(), "in.png")
		require.NoError(t, os.WriteFile(path, asPNG(t, image.NewGray(image.Rect(0, 0, side, side))), 0o600))
		return path
	}
	large, small := path(7_000), path(64)
	errs := make([]error, 9)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = m.Make(t.Context(), 1, time.Now(), "image/png", large, t.TempDir()) })
	}
	_, err = m.Make(t.Context(), 2, time.Now(), "image/png", small, t.TempDir())
	require.NoError(t, err)
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else {
			require.Equal(t, engine.RateLimited, codeOf(err))
		}
	}
	require.Positive(t, made)
	require.LessOrEqual(t, made, 4)
}

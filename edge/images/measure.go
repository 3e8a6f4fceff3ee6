package images

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"os"

	"golang.org/x/image/webp"
)

// measurePixels returns how many pixels an image has by its header. It refuses an image whose header cannot be
// read, and one with no pixels or more than MaxPixels, before any are decoded. Only the header is read, so this
// may run in the node itself. The worker checks the size again when it decodes, so a false header only makes the
// count of megapixels wrong.
func measurePixels(mediaType, path string) (pixels int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }() // the file is only read, so nothing is lost if closing fails
	var c image.Config
	switch mediaType {
	case "image/jpeg":
		c, err = jpeg.DecodeConfig(file)
	case "image/png":
		c, err = png.DecodeConfig(file)
	case "image/webp":
		c, err = webp.DecodeConfig(file)
	case "image/avif":
		c, err = measureAVIF(file)
	}
	if err != nil {
		return 0, refuseImage("cannot be decoded")
	}
	if err := checkSize(c.Width, c.Height); err != nil {
		return 0, refuseImage(err.Error())
	}
	return c.Width * c.Height, nil
}

// avifHeader is how many bytes at the start of an AVIF file are searched for the size.
const avifHeader = 64 << 10

// measureAVIF returns the largest of the image's spatial extents (box ispe, ISO/IEC 23008-12). It
// searches for the box's name instead of parsing all boxes. At worst, other bytes look like such a
// box and the size is too large. Without any such box, the size is zero.
func measureAVIF(file io.Reader) (c image.Config, err error) {
	head, err := io.ReadAll(io.LimitReader(file, avifHeader))
	if err != nil {
		return c, err
	}
	for _, box := range bytes.Split(head, []byte("ispe"))[1:] {
		if len(box) < 12 {
			continue
		}
		// A box has four bytes of version and flags after its name, and then width and
		// height.
		width, height := int(binary.BigEndian.Uint32(box[4:])), int(binary.BigEndian.Uint32(box[8:]))
		if uint64(width)*uint64(height) > uint64(c.Width)*uint64(c.Height) { //nolint:gosec // of 32 bits
			c.Width, c.Height = width, height
		}
	}
	return c, nil
}

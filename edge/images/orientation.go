package images

import (
	"bytes"
	"encoding/binary"
	"image"
)

// readOrientation returns how the camera was held, from a JPEG's Exif block: a number from 1
// (upright) to 8 (Exif 2.32, tag 0x0112). The sizes that we make have no Exif block, so the pixels
// themselves have to be turned. If there is no block or it cannot be read, the result is 1.
func readOrientation(jpg []byte) int {
	// A JPEG is a list of blocks. A block begins with 0xff, its kind, and its size in two bytes;
	// the size includes these two bytes.
	for at := 2; at+4 <= len(jpg) && jpg[at] == 0xff; {
		kind, size := jpg[at+1], int(binary.BigEndian.Uint16(jpg[at+2:]))
		if kind == 0xda || size < 2 || at+2+size > len(jpg) { // the pixels begin here, or the file is incomplete
			return 1
		}
		if exif, ok := bytes.CutPrefix(jpg[at+4:at+2+size], []byte("Exif\x00\x00")); ok && kind == 0xe1 {
			return exifOrientation(exif)
		}
		at += 2 + size
	}
	return 1
}

// exifOrientation returns the value of the tag 0x0112 in the first directory of a TIFF block, or 1
// if there is none. The block begins with its byte order ("II" or "MM"), and has the offset of the
// directory at byte 4. An entry of the directory has 12 bytes: tag, type, count, value.
func exifOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			return 1
		}
		if order.Uint16(entries) == 0x0112 {
			if n := int(order.Uint16(entries[8:])); n >= 1 && n <= 8 {
				return n
			}
			return 1
		}
		entries = entries[12:]
	}
	return 1
}

// turnUpright returns the image turned and mirrored so that it stands upright, by its
// orientation of 1 to 8.
func turnUpright(img *image.NRGBA, turned int) *image.NRGBA {
	if turned == 1 {
		return img
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	size := image.Rect(0, 0, w, h)
	if turned >= 5 { // the image is turned by 90 degrees, so width and height change places
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewNRGBA(size)
	for y := range h {
		for x := range w {
			// to is the new place of the pixel, by orientation.
			to := [...]image.Point{
				2: {w - 1 - x, y}, 3: {w - 1 - x, h - 1 - y}, 4: {x, h - 1 - y},
				5: {y, x}, 6: {h - 1 - y, x}, 7: {h - 1 - y, w - 1 - x}, 8: {y, w - 1 - x},
			}[turned]
			out.SetNRGBA(to.X, to.Y, img.NRGBAAt(x, y))
		}
	}
	return out
}

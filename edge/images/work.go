package images

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"golang.org/x/image/draw"

	"boxoffice/persistence/media"
)

// MaxPixels bounds the pixels of an image that is decoded, because a small file may hold a
// huge image.
const MaxPixels = 50_000_000

// These are the measures of the sizes, in pixels. The longer side of "web" and "thumbnail" is at
// most webSide and thumbnailSide. The size "og" is for link previews (Open Graph), and always has
// ogWidth by ogHeight.
const (
	webSide       = 2048
	thumbnailSide = 400
	ogWidth       = 1200
	ogHeight      = 630
)

// These are the qualities with which the sizes are encoded, from 0 to 100.
const (
	jpegQuality = 85
	webpQuality = 80
)

// unfit is the error for an image that is refused. Its text completes "The image ...". Any other
// error means that the fault is not the image's.
type unfit string

func (u unfit) Error() string { return string(u) }

// Work is what a worker process does: it makes the sizes of one image and writes a Made to out. It
// sets the process's limits before it reads the image.
func Work(mediaType, path, folder string, out io.Writer) error {
	debug.SetMemoryLimit(heapLimit)
	if err := limitProcess(); err != nil {
		return fmt.Errorf("images: limits: %w", err)
	}
	made, err := makeSizes(mediaType, path, folder)
	if why, ok := errors.AsType[unfit](err); ok {
		made, err = &Made{Refused: string(why)}, nil
	}
	if err != nil {
		return fmt.Errorf("images: %w", err)
	}
	return json.NewEncoder(out).Encode(made)
}

// makeSizes decodes the image once and writes the sizes "web", "thumbnail" and "og" into the folder, each
// as JPEG (on white, because JPEG has no transparency) and as WebP. The Made that it returns says how
// large each file is, and whether the image has transparent pixels.
func makeSizes(mediaType, path, folder string) (*Made, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	web, err := decodeUpright(mediaType, text)
	if err != nil {
		return nil, err
	}
	made := &Made{Variants: map[string]media.Variant{}, Alpha: !web.Opaque()}
	encoder, err := openWebP()
	if err != nil {
		return nil, err
	}
	for name, img := range map[string]*image.NRGBA{"web": web, "thumbnail": fitInto(web, thumbnailSide), "og": cropTo(web, ogWidth, ogHeight)} {
		var jpg bytes.Buffer
		if err := jpeg.Encode(&jpg, onWhite(img), &jpeg.Options{Quality: jpegQuality}); err != nil {
			return nil, err
		}
		webp, err := encoder.encode(img, webpQuality)
		if err != nil {
			return nil, err
		}
		for file, body := range map[string][]byte{name + ".jpg": jpg.Bytes(), name + ".webp": webp} {
			if err := os.WriteFile(filepath.Join(folder, file), body, 0o600); err != nil {
				return nil, err
			}
			made.Variants[file] = media.Variant{Bytes: int64(len(body)), Width: img.Rect.Dx(), Height: img.Rect.Dy()}
		}
	}
	return made, nil
}

// decodeUpright decodes an image, reduces it if a side is longer than webSide, the largest size that
// we keep, and turns it upright. It turns the image last, because the reduced image has fewer pixels.
// An image that cannot be decoded or has too many pixels results in an unfit error.
func decodeUpright(mediaType string, text []byte) (*image.NRGBA, error) {
	var img image.Image
	var err error
	turned := 1
	switch mediaType {
	case "image/jpeg":
		turned = readOrientation(text)
		img, err = decodeGo(text, jpeg.DecodeConfig, jpeg.Decode)
	case "image/png":
		img, err = decodeGo(text, png.DecodeConfig, png.Decode)
	case "image/webp":
		img, err = decodeWebP(text)
	case "image/avif":
		img, err = decodeAVIF(text)
	default:
		err = unfit("is of no type that is known")
	}
	if err != nil {
		return nil, err
	}
	return turnUpright(fitInto(img, webSide), turned), nil
}

// decodeGo decodes an image with a decoder of Go's standard library, after it has checked the size in
// the header. Its error is always unfit.
func decodeGo(text []byte, config func(io.Reader) (image.Config, error), whole func(io.Reader) (image.Image, error)) (image.Image, error) {
	c, err := config(bytes.NewReader(text))
	if err != nil {
		return nil, unfit("cannot be decoded")
	}
	if err := checkSize(c.Width, c.Height); err != nil {
		return nil, err
	}
	img, err := whole(bytes.NewReader(text))
	if err != nil {
		return nil, unfit("cannot be decoded")
	}
	return img, nil
}

// checkSize refuses an image that has no pixels, or more than MaxPixels. It divides instead of
// multiplying, because the product of two large sizes could overflow.
func checkSize(width, height int) error {
	if width <= 0 || height <= 0 {
		return unfit("is empty")
	}
	if width > MaxPixels/height {
		return unfit(fmt.Sprintf("has more than %d pixels", MaxPixels))
	}
	return nil
}

// fitInto reduces an image so that neither side is longer than side, and keeps its shape. An image
// whose sides are not longer keeps its size.
func fitInto(img image.Image, side int) *image.NRGBA {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	if long := max(w, h); long > side {
		w, h = max(1, w*side/long), max(1, h*side/long)
	}
	return scaleTo(img, b, w, h)
}

// cropTo cuts the largest part of the wanted shape out of the middle of an image, and
// scales it to width and height.
func cropTo(img *image.NRGBA, width, height int) *image.NRGBA {
	b := img.Bounds()
	w, h := b.Dx(), max(1, b.Dx()*height/width)
	if h > b.Dy() {
		w, h = max(1, b.Dy()*width/height), b.Dy()
	}
	x, y := b.Min.X+(b.Dx()-w)/2, b.Min.Y+(b.Dy()-h)/2
	return scaleTo(img, image.Rect(x, y, x+w, y+h), width, height)
}

// scaleTo returns a part of an image, scaled to a width and height. A part that is more than twice
// as wide and high is first reduced with a coarse method, because the fine method keeps
// floating-point numbers for all rows of its source in memory.
func scaleTo(img image.Image, part image.Rectangle, width, height int) *image.NRGBA {
	if part.Dx() > 2*width && part.Dy() > 2*height {
		coarse := image.NewRGBA(image.Rect(0, 0, 2*width, 2*height))
		draw.ApproxBiLinear.Scale(coarse, coarse.Rect, img, part, draw.Src, nil)
		img, part = coarse, coarse.Rect
	}
	fine := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(fine, fine.Rect, img, part, draw.Src, nil)
	out := image.NewNRGBA(fine.Rect)
	draw.Draw(out, out.Rect, fine, image.Point{}, draw.Src)
	return out
}

// onWhite returns the image on a white ground, because a JPEG has no transparency.
func onWhite(img *image.NRGBA) image.Image {
	if img.Opaque() {
		return img
	}
	out := image.NewRGBA(img.Rect)
	draw.Draw(out, out.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, img, image.Point{}, draw.Over)
	return out
}

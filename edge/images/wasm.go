package images

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

//go:embed wasm/webp.wasm.gz
var webpModule []byte

//go:embed wasm/avif.wasm.gz
var avifModule []byte

// memoryPages bounds a module's memory, in pages of 64 KiB: 2 GiB in all. An image that
// needs more is refused.
const memoryPages = 32 << 10

// module is one of the C libraries (WebP, AVIF), compiled to WebAssembly, that runs for one image.
// Memory that it allocates is never freed, because the process ends after the image.
type module struct {
	api.Module
	ctx context.Context
}

// openModule unpacks, compiles and starts a library. The module gets no files, no network and no
// environment. Nothing is closed, because the process ends after the image.
func openModule(zipped []byte) (*module, error) {
	ctx := context.Background()
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	code, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryPages))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, rt); err != nil {
		return nil, err
	}
	compiled, err := rt.CompileModule(ctx, code)
	if err != nil {
		return nil, err
	}
	m, err := rt.InstantiateModule(ctx, compiled, wazero.NewModuleConfig())
	return &module{m, ctx}, err
}

// callFunction calls an exported function that returns one number of 32 bits.
func (m *module) callFunction(name string, args ...uint64) (uint32, error) {
	got, err := m.ExportedFunction(name).Call(m.ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return uint32(got[0]), nil //nolint:gosec // the module's addresses have 32 bits
}

// allocate allocates n bytes in the module's memory, puts text at their start and returns their
// address. If the module has no memory left, it returns unfit.
func (m *module) allocate(n int, text []byte) (uint64, error) {
	at, err := m.callFunction("malloc", uint64(n)) //nolint:gosec // a size
	if err != nil || at == 0 {
		return 0, unfit("takes too much memory to decode")
	}
	if !m.Memory().Write(at, text) {
		return 0, unfit("cannot be decoded")
	}
	return uint64(at), nil
}

// readNumbers reads n numbers of 32 bits, little end first, at an address of the module's
// memory.
func (m *module) readNumbers(at uint64, n int) ([]int, error) {
	b, ok := m.Memory().Read(uint32(at), uint32(4*n)) //nolint:gosec // an address of the module
	if !ok {
		return nil, unfit("cannot be decoded")
	}
	all := make([]int, n)
	for i := range all {
		all[i] = int(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return all, nil
}

// decoder decodes the first picture of a file with the library for its format. in and size are the address and
// length of the file in the module's memory, and facts is the address of the library's answers
// there.
type decoder struct {
	*module
	in, size, facts uint64
}

// beginPicture starts the library, gives it the file and reads four facts about the picture: width, height,
// bits per color, and whether it is an animation. It checks the size before any pixel is decoded.
func (d *decoder) beginPicture(zipped, text []byte) (facts []int, err error) {
	if d.module, err = openModule(zipped); err != nil {
		return nil, err
	}
	d.size = uint64(len(text))
	if d.in, err = d.allocate(len(text), text); err != nil {
		return nil, err
	}
	if d.facts, err = d.allocate(16, make([]byte, 16)); err != nil {
		return nil, err
	}
	if err := d.decode(1, 0, 0); err != nil {
		return nil, err
	}
	if facts, err = d.readNumbers(d.facts, 4); err != nil {
		return nil, err
	}
	return facts, checkSize(facts[0], facts[1])
}

// decode calls the library to read only the facts (sizeOnly is 1) or to decode the picture as well
// (sizeOnly is 0). out is the address for the picture's bytes, and delays the address for the
// delays between an animation's pictures.
func (d *decoder) decode(sizeOnly, delays, out uint64) error {
	ok, err := d.callFunction("decode", d.in, d.size, sizeOnly, 0, d.facts, d.facts+4, d.facts+8, d.facts+12, delays, out)
	if err != nil || ok == 0 {
		return unfit("cannot be decoded")
	}
	return nil
}

// readPicture decodes the picture and returns its n bytes. The slice is part of the module's
// memory, so it is valid only until the module allocates memory again.
func (d *decoder) readPicture(n int) ([]byte, error) {
	delays, err := d.allocate(64, nil)
	if err != nil {
		return nil, err
	}
	out, err := d.allocate(n, nil)
	if err != nil {
		return nil, err
	}
	if err := d.decode(0, delays, out); err != nil {
		return nil, err
	}
	b, ok := d.Memory().Read(uint32(out), uint32(n)) //nolint:gosec // an address of the module
	if !ok {
		return nil, unfit("cannot be decoded")
	}
	return b, nil
}

// decodeWebP decodes a WebP image, or the first picture of an animation. The library returns an
// animation's picture as RGBA. It returns a single image as four planes: luminance, two planes of
// color at half the resolution, and transparency.
func decodeWebP(text []byte) (image.Image, error) {
	var d decoder
	facts, err := d.beginPicture(webpModule, text)
	if err != nil {
		return nil, err
	}
	w, h, animated := facts[0], facts[1], facts[3] != 0
	if animated {
		b, err := d.readPicture(4 * w * h)
		return &image.RGBA{Pix: b, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}, err
	}
	cw, ch := (w+1)/2, (h+1)/2
	y, c := w*h, cw*ch
	b, err := d.readPicture(2*y + 2*c)
	if err != nil {
		return nil, err
	}
	return &image.NYCbCrA{
		YCbCr: image.YCbCr{Y: b[:y], Cb: b[y : y+c], Cr: b[y+c : y+2*c], YStride: w, CStride: cw, SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: image.Rect(0, 0, w, h)},
		A:     b[y+2*c:], AStride: w,
	}, nil
}

// decodeAVIF decodes an AVIF image, or the first picture of a sequence. The library returns RGBA:
// colors of up to 8 bits in one byte each, and deeper colors in two bytes.
func decodeAVIF(text []byte) (image.Image, error) {
	var d decoder
	facts, err := d.beginPicture(avifModule, text)
	if err != nil {
		return nil, err
	}
	w, h, depth := facts[0], facts[1], facts[2]
	if depth <= 8 {
		b, err := d.readPicture(4 * w * h)
		return &image.RGBA{Pix: b, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}, err
	}
	b, err := d.readPicture(8 * w * h)
	for i := 0; i+1 < len(b); i += 2 { // the library writes 16 bits little-endian, and image.RGBA64 is big-endian
		b[i], b[i+1] = b[i+1], b[i]
	}
	return &image.RGBA64{Pix: b, Stride: 8 * w, Rect: image.Rect(0, 0, w, h)}, err
}

// webpEncoder encodes pictures as WebP.
type webpEncoder struct{ *module }

// openWebP starts the library that encodes WebP. One encoder can encode several pictures.
func openWebP() (*webpEncoder, error) {
	m, err := openModule(webpModule)
	return &webpEncoder{m}, err
}

// encode encodes a picture with a quality of 0 to 100. It returns a copy of the bytes, because the
// module's memory may move when the next picture is encoded.
func (e *webpEncoder) encode(img *image.NRGBA, quality uint64) ([]byte, error) {
	const method = 4                                     // libwebp's default
	w, h := uint64(img.Rect.Dx()), uint64(img.Rect.Dy()) //nolint:gosec // sizes
	in, err := e.allocate(len(img.Pix), img.Pix)
	if err != nil {
		return nil, err
	}
	size, err := e.allocate(8, make([]byte, 8))
	if err != nil {
		return nil, err
	}
	out, err := e.callFunction("encode", in, w, h, size, 0, quality, method, 0, 0)
	if err != nil {
		return nil, err
	}
	n, err := e.readNumbers(size, 1)
	if err != nil || n[0] == 0 {
		return nil, errors.New("webp: not encoded")
	}
	b, ok := e.Memory().Read(out, uint32(n[0])) //nolint:gosec // a size of the module
	if !ok {
		return nil, errors.New("webp: what was encoded is outside of the memory")
	}
	return bytes.Clone(b), nil
}

package web

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
)

// form is one of the shapes that covers are made of. All numbers are in the units of covers.
type form interface {
	// formatSVG returns the form in SVG, with a %s in the place of its colour.
	formatSVG() string
	// bounds returns a rectangle that contains the part of the form that lies on the cover. It may be larger.
	bounds() image.Rectangle
	// newHitTest returns a function that reports whether a point is in the form.
	newHitTest() func(x, y float64) bool
}

// shape is a form in a colour of the palette.
type shape struct {
	form

	colour uint8
}

// add lays a form on the others.
func (c *cover) add(colour uint8, f form) { c.shapes = append(c.shapes, shape{f, colour}) }

// drawSVG draws a cover for browsers.
func (c *cover) drawSVG() []byte {
	hex := func(n uint8) string {
		p := c.palette[n]
		return fmt.Sprintf("#%02x%02x%02x", p.R, p.G, p.B)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g"><rect width="%g" height="%g" fill="%s"/>`,
		coverWidth, coverHeight, coverWidth, coverHeight, hex(deep))
	for _, s := range c.shapes {
		fmt.Fprintf(&b, s.formatSVG(), hex(s.colour))
	}
	b.WriteString("</svg>")
	return []byte(b.String())
}

// These are the width and height of a picture for Open Graph, in pixels. A pixel is sharedScale units of a cover. A
// cover is taller in proportion, so drawPNG leaves out a strip of sharedTop units at its top, and one at its bottom.
const (
	sharedWidth, sharedHeight = 1200, 630
	sharedScale               = coverWidth / sharedWidth
	sharedTop                 = (coverHeight - sharedHeight*sharedScale) / 2
)

// drawPNG draws the middle of a cover for messengers, in the four colours of its palette. It tests
// for each form only the pixels within the form's bounds. It does not smooth edges: messengers show
// the pictures smaller than they are.
func (c *cover) drawPNG() ([]byte, error) {
	palette := make(color.Palette, len(c.palette))
	for i, p := range c.palette {
		palette[i] = p
	}
	m := image.NewPaletted(image.Rect(0, 0, sharedWidth, sharedHeight), palette) // all pixels are deep at first
	for _, s := range c.shapes {
		b, covers := s.bounds(), s.newHitTest()
		for row := max(0, int((float64(b.Min.Y)-sharedTop)/sharedScale)); row < sharedHeight; row++ {
			y := (float64(row)+0.5)*sharedScale + sharedTop
			if y > float64(b.Max.Y) {
				break
			}
			for column := max(0, int(float64(b.Min.X)/sharedScale)); column < sharedWidth; column++ {
				x := (float64(column) + 0.5) * sharedScale
				if x > float64(b.Max.X) {
					break
				}
				if covers(x, y) {
					m.Pix[m.PixOffset(column, row)] = s.colour
				}
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		return nil, fmt.Errorf("web: cover: %w", err)
	}
	return out.Bytes(), nil
}

// box is a rectangle. Its corners are round with the radius round, and it is turned around the
// middle of the cover by turn degrees.
type box struct{ x, y, w, h, round, turn float64 }

func (f box) formatSVG() string {
	return fmt.Sprintf(`<rect x="%g" y="%g" width="%g" height="%g" rx="%g" fill="%%s" transform="rotate(%g %g %g)"/>`,
		f.x, f.y, f.w, f.h, f.round, f.turn, coverWidth/2, coverHeight/2)
}

func (f box) bounds() image.Rectangle {
	// How far a turned box reaches is not computed. The whole cover is its bounds, so every pixel
	// is tested.
	if f.turn != 0 {
		return image.Rect(0, 0, coverWidth, coverHeight)
	}
	return image.Rect(int(f.x), int(f.y), int(f.x+f.w), int(f.y+f.h))
}

// newHitTest returns a function that reports whether the box covers a point of the cover.
func (f box) newHitTest() func(x, y float64) bool {
	sin, cos := math.Sincos(-f.turn * math.Pi / 180)
	return func(x, y float64) bool {
		// Turning the point the other way is the same as turning the box, and the box stays simple
		// to test.
		x, y = x-coverWidth/2, y-coverHeight/2
		x, y = x*cos-y*sin+coverWidth/2, x*sin+y*cos+coverHeight/2
		beside := max(0, math.Abs(x-f.x-f.w/2)-f.w/2+f.round)
		above := max(0, math.Abs(y-f.y-f.h/2)-f.h/2+f.round)
		return beside*beside+above*above <= f.round*f.round
	}
}

// ring is the line of a circle, with a width. A ring whose line is twice as wide as its radius is a
// disc.
type ring struct{ x, y, r, width float64 }

func (f ring) formatSVG() string {
	return fmt.Sprintf(`<circle cx="%g" cy="%g" r="%g" fill="none" stroke="%%s" stroke-width="%g"/>`, f.x, f.y, f.r, f.width)
}

func (f ring) bounds() image.Rectangle {
	reach := f.r + f.width/2
	return image.Rect(int(f.x-reach), int(f.y-reach), int(f.x+reach)+1, int(f.y+reach)+1)
}

func (f ring) newHitTest() func(x, y float64) bool {
	return func(x, y float64) bool { return math.Abs(math.Hypot(x-f.x, y-f.y)-f.r) <= f.width/2 }
}

// corner is the upper right half of a square.
type corner struct{ x, y, side float64 }

func (f corner) formatSVG() string {
	return fmt.Sprintf(`<path d="M%g %gh%gv%gz" fill="%%s"/>`, f.x, f.y, f.side, f.side)
}

func (f corner) bounds() image.Rectangle {
	return image.Rect(int(f.x), int(f.y), int(f.x+f.side), int(f.y+f.side))
}

func (f corner) newHitTest() func(x, y float64) bool {
	return func(x, y float64) bool { return y >= f.y && y-f.y <= x-f.x && x-f.x <= f.side }
}

// stage is a stage at the top of the cover. Its lower edge is bent: SVG draws it as a curve, and the hit test
// computes the same curve.
type stage struct{}

func (stage) formatSVG() string {
	return fmt.Sprintf(`<path d="M0 0H%gV190Q%g 300 0 190Z" fill="%%s"/>`, coverWidth, coverWidth/2)
}

func (stage) bounds() image.Rectangle { return image.Rect(0, 0, coverWidth, 250) }

// newHitTest returns a function that reports whether a point is on or above the stage's bent lower edge.
func (stage) newHitTest() func(x, y float64) bool {
	return func(x, y float64) bool {
		t := x / coverWidth
		return y <= 190+220*t*(1-t)
	}
}

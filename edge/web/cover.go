package web

import (
	"hash/fnv"
	"image/color"
	"math"
	"math/rand/v2"
	"strings"
)

// These are the width and the height of a cover, in the units of its SVG. Pages crop covers as they need.
const coverWidth, coverHeight = 1260.0, 840.0

// Cover draws a picture for an event that has none, as an SVG: simple shapes in hues that are at
// most 40 degrees apart. The drawing depends on the category and the id alone, so every node draws
// the same picture, and no node has to keep it.
func Cover(category, id string) []byte {
	return drawCover(category, id).drawSVG()
}

// CoverPNG draws the middle part of the same picture in the size for Open Graph, because messengers show no SVG.
func CoverPNG(category, id string) ([]byte, error) {
	return drawCover(category, id).drawPNG()
}

// drawCover chooses the kind of shapes by the category, and draws their measures and colours at
// random from the id. The seed is the hash of the id: the order of draws must stay as it is, or
// every event gets another picture.
func drawCover(category, id string) *cover {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(id))               // never fails
	r := rand.New(rand.NewPCG(sum.Sum64(), 1)) //nolint:gosec // a picture, no secret
	hue := r.Float64() * 360
	c := &cover{r: r, palette: [4]color.RGBA{colorOf(0.32, 0.09, hue), colorOf(0.52, 0.13, hue+12), colorOf(0.72, 0.14, hue+40), colorOf(0.88, 0.07, hue+40)}}
	switch {
	case strings.Contains(category, "concert") || strings.Contains(category, "music") || strings.Contains(category, "festival"):
		c.drawArcs()
	case strings.Contains(category, "theat") || strings.Contains(category, "comedy") || strings.Contains(category, "art"):
		c.drawSeats()
	case strings.Contains(category, "sport"):
		c.drawBars()
	case strings.Contains(category, "course") || strings.Contains(category, "book") || strings.Contains(category, "workshop"):
		c.drawSheets()
	default:
		c.drawGrid()
	}
	return c
}

// These are the colours of a cover, as places in its palette. The order is from dark to light.
const (
	deep uint8 = iota // the background
	mid
	bright
	pale
)

// cover is a picture that can be drawn as SVG or PNG. r serves only to choose its shapes.
type cover struct {
	r       *rand.Rand
	palette [4]color.RGBA
	shapes  []shape // the shapes in the order in which they are drawn, each over the ones before
}

// pickColour draws a colour that stands out from the ground: any but deep.
func (c *cover) pickColour() uint8 { return []uint8{mid, bright, pale}[c.r.IntN(3)] }

// drawArcs draws rings around a point near the lower edge, like sound that spreads. It is for
// music.
func (c *cover) drawArcs() {
	x, y := math.Round(coverWidth*(0.15+0.7*c.r.Float64())), math.Round(coverHeight*(0.85+0.3*c.r.Float64()))
	for i, colour := range []uint8{mid, bright, mid, pale, bright} {
		c.add(colour, ring{x: x, y: y, r: float64(150 + i*165), width: float64(40 + c.r.IntN(70))})
	}
	c.add(pale, ring{x: x, y: y, r: 40, width: 80})
}

// drawSeats draws rows of seats before a stage, and lights some of the seats. It is for theatre, comedy and art.
func (c *cover) drawSeats() {
	c.add(mid, stage{})
	lit := c.r.IntN(40)
	for row := range 5 {
		n := 8 + row
		for i := range n {
			turn := (float64(i)+0.5)/float64(n)*2 - 1
			x, y := coverWidth/2+turn*(520+35*float64(row)), 390+float64(row)*100-70*turn*turn
			colour := bright
			if (row*11+i*7+lit)%9 == 0 {
				colour = pale
			}
			c.add(colour, box{x: math.Round(x - 33), y: math.Round(y), w: 66, h: 60, round: 20})
		}
	}
}

// drawBars draws slanted bars like the lanes of a track. It is for sports.
func (c *cover) drawBars() {
	for i := range 7 {
		c.add(c.pickColour(), box{x: float64(-60 + i*210), y: -200, w: float64(50 + c.r.IntN(110)), h: 1400, turn: 24})
	}
}

// drawSheets draws three sheets of paper that lie on each other. It is for courses, books and workshops.
func (c *cover) drawSheets() {
	for i, colour := range []uint8{mid, bright, pale} {
		c.add(colour, box{x: float64(300 + i*70), y: float64(110 + i*40), w: 520, h: 680, round: 24, turn: float64(-14 + i*11 + c.r.IntN(5))})
	}
}

// drawGrid draws a grid like a calendar, in which each field has a square, a disc, a corner or nothing. It is for
// all other categories.
func (c *cover) drawGrid() {
	for row := range 4 {
		for column := range 6 {
			x, y := float64(column*210), float64(row*210)
			switch c.r.IntN(4) {
			case 0:
				c.add(c.pickColour(), box{x: x, y: y, w: 210, h: 210})
			case 1:
				c.add(c.pickColour(), ring{x: x + 105, y: y + 105, r: 52.5, width: 105})
			case 2:
				c.add(c.pickColour(), corner{x: x, y: y, side: 210})
			}
		}
	}
}

// colorOf returns a colour of OKLCH (lightness, chroma and hue in degrees) as sRGB. Colours of the
// same lightness look equally light in every hue, so all covers have the same contrast. The numbers
// come from the definition of OKLab.
func colorOf(l, chroma, hue float64) color.RGBA {
	a, b := chroma*math.Cos(hue*math.Pi/180), chroma*math.Sin(hue*math.Pi/180)
	x, y, z := l+0.3963377774*a+0.2158037573*b, l-0.1055613458*a-0.0638541728*b, l-0.0894841775*a-1.2914855480*b
	x, y, z = x*x*x, y*y*y, z*z*z
	channel := func(v float64) uint8 {
		if v <= 0.0031308 {
			v *= 12.92
		} else {
			v = 1.055*math.Pow(v, 1/2.4) - 0.055
		}
		return uint8(math.Round(255 * min(max(v, 0), 1)))
	}
	return color.RGBA{
		R: channel(4.0767416621*x - 3.3077115913*y + 0.2309699292*z), G: channel(-1.2684380046*x + 2.6097574011*y - 0.3413193965*z),
		B: channel(-0.0041960863*x - 0.7034186147*y + 1.7076147010*z), A: 255,
	}
}

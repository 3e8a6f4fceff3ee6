package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// chart is a plot over the seconds of a run, drawn as inline SVG.
type chart struct {
	Title string
	Lines []line
	// Marks show on every chart when something was killed.
	Marks []mark
	Log   bool // logarithmic values; 0 is drawn at the bottom
}

// line is one curve; the index is the second.
type line struct {
	Name   string
	Values []float64
}

// mark is a vertical line at a moment, in seconds.
type mark struct {
	At   float64
	Name string
}

const (
	// The drawing's size and its margins, in the units of the SVG's view box. A browser scales them to the page.
	// The left margin holds the labels of the values, and the bottom one the seconds and the legend.
	width, height = 900.0, 230.0
	left, right   = 60.0, 10.0
	top, bottom   = 14.0, 34.0
)

// colours can be told apart by colour-blind readers (Okabe and Ito).
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// axis maps values to heights. A logarithmic axis begins above 0, because 0 has no logarithm.
type axis struct {
	low, high float64
	log       bool
}

// y is the height of a value in the drawing, which counts from the top. Values beyond the axis are drawn at its
// end.
func (a axis) y(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		// Values below the axis, such as the 0 of a second without any answer, are raised to its low end first.
		v, low, high = math.Log10(max(v, low)), math.Log10(low), math.Log10(high)
	}
	share := min(max((v-low)/(high-low), 0), 1)
	return height - bottom - share*(height-top-bottom)
}

// ticks are the labelled values: decades, or four round steps. The factor 1.0001 keeps the topmost decade although
// repeated multiplication has rounded it up a little.
func (a axis) ticks() []float64 {
	var out []float64
	if a.log {
		for v := a.low; v <= a.high*1.0001; v *= 10 {
			out = append(out, v)
		}
		return out
	}
	for i := range 5 {
		out = append(out, a.high*float64(i)/4)
	}
	return out
}

// axis fits the values: from 0, or whole decades around them.
func (c *chart) axis() axis {
	low, high := math.Inf(1), 0.0
	for _, l := range c.Lines {
		for _, v := range l.Values {
			high = max(high, v)
			if v > 0 {
				low = min(low, v)
			}
		}
	}
	// A chart of nothing but zeros still needs an axis of some height, or all values would be divided by 0.
	if high == 0 {
		return axis{low: 0, high: 1}
	}
	if !c.Log {
		return axis{low: 0, high: roundUp(high)}
	}
	a := axis{low: math.Pow(10, math.Floor(math.Log10(low))), high: math.Pow(10, math.Ceil(math.Log10(high))), log: true}
	// All values are the same power of ten. The axis gets one decade, so that its height is not 0.
	if a.high <= a.low {
		a.high = a.low * 10
	}
	return a
}

// roundUp is the next of 1, 2, 4, 5, 8 or 10 times a power of ten. All of these
// quarter well.
func roundUp(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 4, 5, 8} {
		if v <= m*unit {
			return m * unit
		}
	}
	return 10 * unit
}

// svg draws the chart with its heading and legend.
func (c *chart) svg() template.HTML {
	var b strings.Builder
	// The longest curve decides how many seconds the plot is wide. A curve that ends earlier is drawn shorter.
	seconds := 1
	for _, l := range c.Lines {
		seconds = max(seconds, len(l.Values))
	}
	a := c.axis()
	x := func(s float64) float64 { return left + s/float64(max(seconds-1, 1))*(width-left-right) }

	fmt.Fprintf(&b, `<h2>%s</h2><svg viewBox="0 0 %g %g" role="img">`, html.EscapeString(c.Title), width, height)
	for _, v := range a.ticks() {
		fmt.Fprintf(&b, `<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" stroke="#e3e3e3"/>`, left, width-right, a.y(v), a.y(v))
		fmt.Fprintf(&b, `<text x="%g" y="%.1f" text-anchor="end">%.4g</text>`, left-6, a.y(v)+4, v)
	}
	// At most ten labels, because more would overlap in a long run.
	for s, step := 0, max(1, (seconds+9)/10); s < seconds; s += step {
		fmt.Fprintf(&b, `<text x="%.1f" y="%g" text-anchor="middle">%d s</text>`, x(float64(s)), height-bottom+14, s)
	}
	for _, m := range c.Marks {
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%g" y2="%g" stroke="#999" stroke-dasharray="3"><title>%s killed</title></line>`,
			x(m.At), x(m.At), top, height-bottom, html.EscapeString(m.Name))
	}
	for i, l := range c.Lines {
		colour := colours[i%len(colours)]
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="1.6" points="`, colour)
		for s, v := range l.Values {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(float64(s)), a.y(v))
		}
		b.WriteString(`"/>`)
		// The legend stands below the plot, one entry for each curve from left to right.
		at := left + float64(i)*150
		fmt.Fprintf(&b, `<rect x="%g" y="%g" width="12" height="4" fill="%s"/><text x="%g" y="%g">%s</text>`,
			at, height-9, colour, at+17, height-3, html.EscapeString(l.Name))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // every text in it is escaped above
}

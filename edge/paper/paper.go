// Package paper writes PDF documents: texts in the scripts that people's names have, with their
// fonts, and QR codes. Its callers, handlers of the edge, decide what a document says.
//
// It starts no goroutine, so nothing has to be stopped.
package paper

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/go-pdf/fpdf"
	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/shaping"
	"rsc.io/qr"
)

// family is the name of the document's own fonts.
const family = "sans"

// Paper is a document of A4 pages, with lengths in millimetres.
type Paper struct {
	*fpdf.Fpdf
	types *typesetter
}

// New begins a document without pages, in portrait ("P") or landscape ("L"). at is the document's
// time of creation. Two documents with the same time and the same content have the same bytes.
func New(orientation string, at time.Time) *Paper {
	pdf := fpdf.New(orientation, "mm", "A4", "")
	pdf.SetCreationDate(at)
	pdf.SetModificationDate(at)
	pdf.SetAutoPageBreak(false, 0)
	pdf.AddUTF8FontFromBytes(family, "", fontData(regularFile))
	pdf.AddUTF8FontFromBytes(family, "B", fontData(boldFile))
	return &Paper{pdf, newTypesetter()}
}

// Color is red, green and blue, from 0 to 255 each.
type Color struct{ R, G, B int }

// Align says where the lines of a text stand within the column.
type Align int

// The alignments.
const (
	Left Align = iota
	Center
)

// Style is how a text is written.
type Style struct {
	Size  float64 // points
	Bold  bool
	Color Color
	Align Align
	// Lines is the most lines that a text may take. A longer text is written in a smaller size,
	// down to about 5 points, and then takes more lines. 0 means any number.
	Lines int
}

const (
	mmOfPoint  = 25.4 / 72
	lineHeight = 1.3  // of the size
	ascent     = 0.95 // of the size: from the top of a line to its baseline
	boldness   = 0.03 // of the size: the width of the line around bold letters of fonts without bold letters
	smallest   = 5    // points
)

// Write writes a text into a column whose upper left corner is x, y, and returns the y at which the
// next text may begin. Line breaks in the text count as spaces. x, y and width are in mm.
func (p *Paper) Write(text string, x, y, width float64, s Style) (below float64) {
	faces := p.types.plain
	if s.Bold {
		faces = p.types.bold
	}
	letters := faces.cleanText(text)
	lines := p.types.layOut(letters, faces, width/(s.Size*mmOfPoint))
	for s.Lines > 0 && len(lines) > s.Lines && s.Size > smallest {
		s.Size *= 0.95
		lines = p.types.layOut(letters, faces, width/(s.Size*mmOfPoint))
	}
	p.SetTextColor(s.Color.R, s.Color.G, s.Color.B)
	p.SetFillColor(s.Color.R, s.Color.G, s.Color.B)
	p.SetDrawColor(s.Color.R, s.Color.G, s.Color.B)
	size := s.Size * mmOfPoint
	for _, line := range lines {
		at := x
		if s.Align == Center {
			at += (width - widthOf(line)*size) / 2
		}
		p.writeLine(letters, line, at, y+ascent*size, s)
		y += lineHeight * size
	}
	return y
}

// writeLine writes a line of a text. x, y is the left end of its baseline, in mm.
func (p *Paper) writeLine(letters []rune, line shaping.Line, x, y float64, s Style) {
	for _, run := range inSight(line) {
		text := letters[run.Runes.Offset : run.Runes.Offset+run.Runes.Count]
		own := run.Face == p.types.plain[0] || run.Face == p.types.bold[0]
		if own && run.Direction == di.DirectionLTR && !slices.ContainsFunc(text, isBeyondBMP) {
			style := ""
			if s.Bold {
				style = "B"
			}
			p.SetFont(family, style, s.Size)
			p.Text(x, y, string(text))
		} else {
			p.drawRun(run, x, y, s, s.Bold && !own)
		}
		x += float64(run.Advance) / 64 / em * s.Size * mmOfPoint
	}
}

// isBeyondBMP reports whether a letter is beyond U+FFFF, which the PDF library can't write as text.
func isBeyondBMP(r rune) bool { return r > 0xffff }

// drawRun draws the letters of a run as shapes, and not as text: letters of scripts from right to
// left, letters beyond U+FFFF, and letters of fonts that the document does not contain. If thicken is
// set, it makes the letters bold.
func (p *Paper) drawRun(run shaping.Output, x, y float64, s Style, thicken bool) {
	size := s.Size * mmOfPoint
	laidOut, units := size/64/em, size/float64(run.Face.Upem())
	how := "f"
	if thicken {
		how = "B"
		p.SetLineWidth(boldness * size)
	}
	for _, g := range run.Glyphs {
		outline, ok := run.Face.GlyphDataOutline(g.GlyphID)
		if ok && len(outline.Segments) > 0 {
			p.addOutline(outline.Segments, x+float64(g.XOffset)*laidOut, y-float64(g.YOffset)*laidOut, units)
			p.DrawPath(how)
		}
		x += float64(g.Advance) * laidOut
	}
}

// addOutline adds a letter's outline to the path, each of its contours closed. x and y are the letter's
// place on the baseline in mm, and scale is the mm of one unit of the font. The quadratic curves of
// fonts become cubic ones, because PDF has no others.
func (p *Paper) addOutline(segments []opentype.Segment, x, y, scale float64) {
	var fromX, fromY float64
	for i := range segments {
		var at [3][2]float64
		for k, arg := range segments[i].ArgsSlice() {
			at[k] = [2]float64{x + float64(arg.X)*scale, y - float64(arg.Y)*scale}
		}
		end := at[len(segments[i].ArgsSlice())-1]
		switch segments[i].Op {
		case opentype.SegmentOpMoveTo:
			if i > 0 {
				p.ClosePath()
			}
			p.MoveTo(end[0], end[1])
		case opentype.SegmentOpLineTo:
			p.LineTo(end[0], end[1])
		case opentype.SegmentOpQuadTo: // PDF has only cubic curves, so the same curve as a cubic one
			third := func(from, control float64) float64 { return from + 2*(control-from)/3 }
			p.CurveBezierCubicTo(third(fromX, at[0][0]), third(fromY, at[0][1]), third(end[0], at[0][0]), third(end[1], at[0][1]), end[0], end[1])
		case opentype.SegmentOpCubeTo:
			p.CurveBezierCubicTo(at[0][0], at[0][1], at[1][0], at[1][1], end[0], end[1])
		}
		fromX, fromY = end[0], end[1]
	}
	p.ClosePath()
}

// QR draws a black QR code. Its upper left corner is x, y, and all lengths are in mm. The caller
// has to leave white space around it.
func (p *Paper) QR(text string, x, y, side float64) error {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return fmt.Errorf("paper: QR: %w", err)
	}
	dot := side / float64(code.Size)
	p.SetFillColor(0, 0, 0)
	for row := range code.Size {
		for from := 0; from < code.Size; from++ {
			to := from
			for code.Black(to, row) {
				to++
			}
			if to > from { // Black is false beyond the edge, so the loop above ends there
				p.Rect(x+float64(from)*dot, y+float64(row)*dot, float64(to-from)*dot, dot, "F")
				from = to
			}
		}
	}
	return nil
}

// Bytes ends the document and returns the PDF.
func (p *Paper) Bytes() ([]byte, error) {
	var out bytes.Buffer
	if err := p.Output(&out); err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	return out.Bytes(), nil
}

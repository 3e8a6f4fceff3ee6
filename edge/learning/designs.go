package learning

import (
	"math"

	"boxoffice/edge/paper"
	"boxoffice/persistence/courses"
)

// The page of a certificate is A4 in landscape; all lengths are in mm.
const width, height, margin = 297.0, 210.0, 10.0

// design is the look of a template: its colors, what is drawn behind the words, and where the words
// and the QR code stand.
type design struct {
	ink   paper.Color // the color of frames, heading and name
	tint  paper.Color // the color of what is drawn behind the words
	draw  func(*paper.Paper, *design)
	align paper.Align
	// The words stand in a column: left is its left edge, top the top of its heading, and width its
	// width, all in mm.
	left, top, width float64
	heading          paper.Color // the color of the heading; the zero value means that it has the color ink
	qrX, qrY         float64     // the upper left corner of the QR code, in mm
}

// qrSide is the length of a side of a certificate's QR code, in mm.
const qrSide = 28.0

// designs are the templates from which an organizer chooses, by name. Courses and certificates
// store the names, so no name may change.
var designs = map[string]*design{
	"cert-1": {
		ink: paper.Color{R: 20, G: 60, B: 120}, tint: paper.Color{R: 20, G: 60, B: 120}, draw: drawClassicFrame,
		align: paper.Center, left: 35, top: 32, width: width - 70, qrX: (width - qrSide) / 2, qrY: 160,
	},
	"cert-2": {
		ink: paper.Color{R: 130, G: 92, B: 20}, tint: paper.Color{R: 214, G: 186, B: 122}, draw: drawRosette,
		align: paper.Center, left: 35, top: 32, width: width - 70, qrX: width - margin - 18 - qrSide, qrY: height - margin - 18 - qrSide,
	},
	"cert-3": {
		ink: paper.Color{R: 16, G: 88, B: 62}, tint: paper.Color{R: 16, G: 88, B: 62}, draw: drawBand,
		left: 75, top: 38, width: width - 75 - 25, qrX: width - 25 - qrSide, qrY: height - 20 - qrSide,
	},
	"cert-4": {
		ink: paper.Color{R: 120, G: 30, B: 50}, tint: paper.Color{R: 234, G: 214, B: 218}, draw: drawQuarters,
		align: paper.Center, left: 45, top: 36, width: width - 90, qrX: (width - qrSide) / 2, qrY: 156,
	},
	"cert-5": {
		ink: paper.Color{R: 70, G: 40, B: 120}, tint: paper.Color{R: 70, G: 40, B: 120}, draw: drawBanner, heading: paper.Color{R: 255, G: 255, B: 255},
		align: paper.Center, left: 30, top: 12, width: width - 60, qrX: (width - qrSide) / 2, qrY: 160,
	},
	"cert-6": {
		ink: paper.Color{R: 30, G: 30, B: 30}, tint: paper.Color{R: 30, G: 30, B: 30}, draw: drawHairlines,
		left: 30, top: 42, width: width - 60, qrX: width - 30 - qrSide, qrY: height - 26 - qrSide,
	},
	"cert-7": {
		ink: paper.Color{R: 0, G: 96, B: 112}, tint: paper.Color{R: 0, G: 128, B: 148}, draw: drawCorners,
		align: paper.Center, left: 45, top: 36, width: width - 90, qrX: (width - qrSide) / 2, qrY: 160,
	},
	"cert-8": {
		ink: paper.Color{R: 150, G: 60, B: 15}, tint: paper.Color{R: 253, G: 240, B: 228}, draw: drawRays,
		align: paper.Center, left: 35, top: 34, width: width - 70, qrX: (width - qrSide) / 2, qrY: 160,
	},
}

// grey is the color of the less important words.
var grey = paper.Color{R: 80, G: 80, B: 80}

// printCertificate draws a certificate in the look of its template. Its QR code has the address at
// which anybody can check the certificate.
func printCertificate(earned *courses.Certificate, address string) ([]byte, error) {
	d := designs[earned.Template]
	pdf := paper.New("L", earned.IssuedAt)
	pdf.AddPage()
	pdf.SetFillColor(d.tint.R, d.tint.G, d.tint.B)
	pdf.SetDrawColor(d.tint.R, d.tint.G, d.tint.B)
	d.draw(pdf, d)
	heading := d.heading
	if heading == (paper.Color{}) {
		heading = d.ink
	}
	// write writes a text at y and moves y below it, so that a long name moves the texts after it down.
	y := d.top
	write := func(text string, gap float64, s paper.Style) {
		s.Align = d.align
		y = pdf.Write(text, d.left, y, d.width, s) + gap
	}
	write("Certificate of Completion", 14, paper.Style{Size: 34, Bold: true, Color: heading, Lines: 1})
	write("This certifies that", 2, paper.Style{Size: 13, Color: grey})
	write(earned.Name, 5, paper.Style{Size: 28, Bold: true, Color: d.ink, Lines: 2})
	write("has completed the course", 2, paper.Style{Size: 13, Color: grey})
	write(earned.Title, 7, paper.Style{Size: 20, Bold: true, Lines: 2})
	write(earned.Organization, 1, paper.Style{Size: 13, Color: grey, Lines: 1})
	write(earned.IssuedAt.UTC().Format("2 January 2006"), 1, paper.Style{Size: 12, Color: grey})
	write(earned.Number, 0, paper.Style{Size: 9, Color: grey})
	const quiet = 3.0 // mm of white around the QR code, without which scanners can't read it
	pdf.SetFillColor(255, 255, 255)
	pdf.Rect(d.qrX-quiet, d.qrY-quiet, qrSide+2*quiet, qrSide+2*quiet, "F")
	if err := pdf.QR(address, d.qrX, d.qrY, qrSide); err != nil {
		return nil, err
	}
	return pdf.Bytes()
}

// drawClassicFrame draws a thick frame, a thin frame within it, and a square in each corner of the
// thin one.
func drawClassicFrame(p *paper.Paper, _ *design) {
	p.SetLineWidth(1.6)
	p.Rect(margin, margin, width-2*margin, height-2*margin, "D")
	p.SetLineWidth(0.4)
	p.Rect(margin+4, margin+4, width-2*margin-8, height-2*margin-8, "D")
	const square = 6.0
	for _, x := range []float64{margin + 4, width - margin - 4 - square} {
		for _, y := range []float64{margin + 4, height - margin - 4 - square} {
			p.Rect(x, y, square, square, "F")
		}
	}
}

// drawRosette draws a rosette of fine lines, such as banknotes have, in a thin frame.
func drawRosette(p *paper.Paper, _ *design) {
	p.SetLineWidth(0.6)
	p.Rect(margin, margin, width-2*margin, height-2*margin, "D")
	p.SetLineWidth(0.15)
	const steps, petals = 360, 11.0
	for ring := range 7 {
		inner := 8 + 4*float64(ring)
		for i := range steps + 1 {
			a := 2 * math.Pi * float64(i) / steps
			r := inner + 4*math.Sin(petals*a+float64(ring)*0.9)
			x, y := 52+r*math.Cos(a), height-52+r*math.Sin(a)
			if i == 0 {
				p.MoveTo(x, y)
				continue
			}
			p.LineTo(x, y)
		}
		p.DrawPath("D")
	}
}

// drawBand draws a band at the left edge of the page, with a seal on the edge of the band.
func drawBand(p *paper.Paper, d *design) {
	const band = 50.0
	p.Rect(0, 0, band, height, "F")
	p.SetFillColor(255, 255, 255)
	p.Circle(band, height-45, 17, "F")
	p.SetFillColor(d.tint.R, d.tint.G, d.tint.B)
	p.Circle(band, height-45, 14, "F")
	p.SetDrawColor(255, 255, 255)
	p.SetLineWidth(0.5)
	p.Circle(band, height-45, 11, "D")
	p.SetLineWidth(1.4)
	p.Line(band-5, height-45, band-1.5, height-41) // a tick
	p.Line(band-1.5, height-41, band+5.5, height-49)
}

// drawQuarters draws rings around the corners of the page, and a frame. Each ring is a filled
// circle with a smaller white one on it.
func drawQuarters(p *paper.Paper, d *design) {
	for _, x := range []float64{0, width} {
		for _, y := range []float64{0, height} {
			for r := 42.0; r > 10; r -= 8 {
				p.Circle(x, y, r, "F")
				p.SetFillColor(255, 255, 255)
				p.Circle(x, y, r-4, "F")
				p.SetFillColor(d.tint.R, d.tint.G, d.tint.B)
			}
		}
	}
	p.SetDrawColor(d.ink.R, d.ink.G, d.ink.B)
	p.SetLineWidth(0.5)
	p.Rect(margin+8, margin+8, width-2*margin-16, height-2*margin-16, "D")
}

// drawBanner draws a banner along the top, and a line along the bottom.
func drawBanner(p *paper.Paper, _ *design) {
	p.Rect(0, 0, width, 35, "F")
	p.Rect(0, height-6, width, 6, "F")
}

// drawHairlines draws a thin line at the top and one at the bottom, with a short bar on the upper
// one.
func drawHairlines(p *paper.Paper, _ *design) {
	p.SetLineWidth(0.2)
	p.Line(30, 30, width-30, 30)
	p.Line(30, height-20, width-30, height-20)
	p.Rect(30, 29, 40, 2, "F")
}

// drawCorners draws two triangles in each of two opposite corners: one, and a flatter one over it
// in the color ink.
func drawCorners(p *paper.Paper, d *design) {
	triangle := func(x, y, dx, dy float64) {
		p.MoveTo(x, y)
		p.LineTo(x+dx, y)
		p.LineTo(x, y+dy)
		p.ClosePath()
		p.DrawPath("f")
	}
	triangle(0, 0, 80, 56)
	triangle(width, height, -80, -56)
	p.SetFillColor(d.ink.R, d.ink.G, d.ink.B)
	triangle(0, 0, 110, 24)
	triangle(width, height, -110, -24)
}

// drawRays draws rays from the middle of the page, in a double frame. The clip keeps them inside
// the frame.
func drawRays(p *paper.Paper, d *design) {
	const rays, far = 28, 320.0
	p.ClipRect(margin, margin, width-2*margin, height-2*margin, false)
	for i := range rays {
		from, to := math.Pi*float64(2*i)/rays, math.Pi*float64(2*i+1)/rays
		p.MoveTo(width/2, height/2)
		p.LineTo(width/2+far*math.Cos(from), height/2+far*math.Sin(from))
		p.LineTo(width/2+far*math.Cos(to), height/2+far*math.Sin(to))
		p.ClosePath()
		p.DrawPath("f")
	}
	p.ClipEnd()
	p.SetDrawColor(d.ink.R, d.ink.G, d.ink.B)
	p.SetLineWidth(2)
	p.Rect(margin, margin, width-2*margin, height-2*margin, "D")
	p.SetLineWidth(0.4)
	p.Rect(margin+3, margin+3, width-2*margin-6, height-2*margin-6, "D")
}

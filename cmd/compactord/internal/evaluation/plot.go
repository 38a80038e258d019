package evaluation

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// plot is a diagram of lines or points in SVG.
type plot struct {
	title, x, y string
	// logarithmic says that the x axis is.
	logarithmic bool
	// joined says that the points of a series are joined by a line; else each has its name beside it.
	joined bool
	// highest is the end of the y axis; 0 means the highest value.
	highest float64
	// front are points that a grey line joins.
	front  [][2]float64
	series []series
}

// series are the points of one line.
type series struct {
	name   string
	points [][2]float64
	// pale draws it in grey.
	pale bool
}

// The size of a diagram, and the margins around its area, in pixels.
const (
	plotWidth, plotHeight                    = 760, 380
	marginLeft, marginTop, marginRight, base = 64, 14, 170, 46
	areaWidth, areaHeight                    = plotWidth - marginLeft - marginRight, plotHeight - marginTop - base
)

// colours can be told apart on white, also by most colour-blind people.
var colours = []string{
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7b3294", "#a6761d", "#1b7837", "#b2182b", "#4d4d4d", "#2166ac",
}

// drawing is a diagram as shapes, which the page's template writes as SVG.
type drawing struct {
	Title         string
	Width, Height int
	Rules         []rule
	Lines         []line
	Dots          []dot
	Labels        []label
}

// rule is a line of the grid, line one of a series, dot a point with its values, and label a text. Positions are texts
// with one decimal.
type (
	rule  struct{ X1, Y1, X2, Y2 string }
	line  struct{ Points, Colour string }
	dot   struct{ X, Y, Colour, Title string }
	label struct{ X, Y, Anchor, Colour, Rotation, Text string }
)

const textColour = "#222222"

// draw returns the diagram; nil if there is nothing to draw.
func (p *plot) draw() *drawing {
	if !slices.ContainsFunc(p.series, func(s series) bool { return len(s.points) > 0 }) {
		return nil
	}
	d := &drawing{Title: p.title, Width: plotWidth, Height: plotHeight}
	f := p.frame()
	d.axes(p, f)
	if len(p.front) > 1 {
		d.addLine(f, p.front, "#bbbbbb")
	}
	var taken [][2]float64
	for i, s := range p.series {
		if len(s.points) == 0 {
			continue
		}
		colour := colours[i%len(colours)]
		if s.pale {
			colour = "#999999"
		}
		d.addPoints(p, f, s, colour)
		x, y := f.at(s.points[len(s.points)-1])
		if p.joined {
			x = marginLeft + areaWidth
		}
		y = apart(taken, x, y)
		taken = append(taken, [2]float64{x, y})
		d.Labels = append(d.Labels, label{pixels(x + 7), pixels(y + 4), "start", colour, "", s.name})
	}
	return d
}

// addPoints draws the points of a series, and the line between them.
func (d *drawing) addPoints(p *plot, f *frame, s series, colour string) {
	const mostDots = 12
	for _, point := range s.points {
		x, y := f.at(point)
		if !p.joined || len(s.points) <= mostDots {
			d.Dots = append(d.Dots, dot{pixels(x), pixels(y), colour, s.name + ": " + number(point[0]) + ", " + number(point[1])})
		}
	}
	if p.joined {
		d.addLine(f, s.points, colour)
	}
}

func (d *drawing) addLine(f *frame, through [][2]float64, colour string) {
	points := make([]string, len(through))
	for i, point := range through {
		x, y := f.at(point)
		points[i] = pixels(x) + "," + pixels(y)
	}
	d.Lines = append(d.Lines, line{strings.Join(points, " "), colour})
}

// pixels formats a position.
func pixels(v float64) string { return fmt.Sprintf("%.1f", v) }

// apart returns a height for a label at a position that is not on another one.
func apart(others [][2]float64, x, y float64) float64 {
	const height, width = 12, 90
	for step := range 2*len(others) + 1 {
		// Try below and above in turn, further away each time.
		moved := y + float64((step+1)/2*height)*float64(2*(step%2)-1)
		near := func(o [2]float64) bool { return math.Abs(o[0]-x) < width && math.Abs(o[1]-moved) < height }
		if moved >= marginTop && moved <= marginTop+areaHeight && !slices.ContainsFunc(others, near) {
			return moved
		}
	}
	return y
}

// frame maps values to positions.
type frame struct {
	left, right, top float64
	logarithmic      bool
}

// at returns the position of a point.
func (f *frame) at(point [2]float64) (x, y float64) {
	return marginLeft + areaWidth*(f.scale(point[0])-f.scale(f.left))/(f.scale(f.right)-f.scale(f.left)),
		marginTop + areaHeight*(1-point[1]/f.top)
}

func (f *frame) scale(x float64) float64 {
	if f.logarithmic {
		return math.Log(max(x, 1))
	}
	return x
}

// frame returns the frame that all points fit into. The y axis begins at 0.
func (p *plot) frame() *frame {
	f := &frame{left: math.Inf(1), right: math.Inf(-1), top: p.highest, logarithmic: p.logarithmic}
	for _, s := range p.series {
		for _, point := range s.points {
			f.left, f.right = min(f.left, point[0]), max(f.right, point[0])
			if p.highest == 0 {
				f.top = max(f.top, point[1])
			}
		}
	}
	if !p.logarithmic {
		f.left = 0
	}
	if f.scale(f.right) <= f.scale(f.left) {
		f.right = f.left + 1
	}
	if f.top == 0 {
		f.top = 1
	}
	return f
}

// axes draws the grid with its values, and the titles of the axes.
func (d *drawing) axes(p *plot, f *frame) {
	for _, mark := range marks(f.top) {
		x, y := f.at([2]float64{f.left, mark})
		d.Rules = append(d.Rules, rule{pixels(x), pixels(y), pixels(marginLeft + areaWidth), pixels(y)})
		d.Labels = append(d.Labels, label{pixels(x - 7), pixels(y + 4), "end", textColour, "", number(mark)})
	}
	across := marks(f.right)
	if p.logarithmic {
		across = nil
		for _, point := range p.series[0].points {
			across = append(across, point[0])
		}
	}
	for _, mark := range across {
		x, y := f.at([2]float64{mark, 0})
		d.Rules = append(d.Rules, rule{pixels(x), pixels(marginTop), pixels(x), pixels(y)})
		d.Labels = append(d.Labels, label{pixels(x), pixels(y + 17), "middle", textColour, "", number(mark)})
	}
	middle := pixels(marginTop + areaHeight/2)
	d.Labels = append(d.Labels,
		label{pixels(marginLeft + areaWidth/2), pixels(plotHeight - 8), "middle", textColour, "", p.x},
		label{"14", middle, "middle", textColour, "rotate(-90 14 " + middle + ")", p.y})
}

// marks returns round numbers from 0 to an end, at most eleven.
func marks(end float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10(end)))
	for _, finer := range []float64{5, 2} {
		if end/(step/finer) <= 10 {
			step /= finer
			break
		}
	}
	var all []float64
	for i := 0; float64(i)*step <= end*1.0001; i++ {
		all = append(all, float64(i)*step)
	}
	return all
}

// number formats a value of an axis.
func number(v float64) string {
	switch {
	case v == math.Trunc(v) && math.Abs(v) < 1e12:
		return groups(v)
	case math.Abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
	}
}

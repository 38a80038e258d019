package evaluation

import (
	"bufio"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"slices"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

//go:embed page.html
var pageText string

// page is the template of the page. It needs nothing from elsewhere.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"share": share, "interval": interval, "dollars": dollars, "signed": signed, "number": terminal.Number[int],
	"percent":  func(of float64) string { return fmt.Sprintf("%.0f %%", 100*of) },
	"permille": func(of float64) string { return fmt.Sprintf("%.1f %%", 100*of) },
}).Parse(pageText))

// groups formats a whole number with commas.
func groups(v float64) string { return terminal.Number(int64(v)) }

// pageData is what the page shows.
type pageData struct {
	*Report
	Front, Budgets, Triggers *drawing
	Costs                    []costPlot
	Several                  bool
	// Sources are the excerpts that the lost names link to.
	Sources []source
}

// costPlot is the cost of one transcript over its requests.
type costPlot struct {
	Name string
	Plot *drawing
}

// source is the line in which a lost name stood.
type source struct {
	Anchor string
	Lost   Lost
	Preset string
}

// mostCostPlots is how many transcripts have a diagram of their cost, the longest first.
const mostCostPlots = 8

// writePage writes the report as a page.
func writePage(path string, r *Report) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffered := bufio.NewWriter(file)
	if err := page.Execute(buffered, r.page()); err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	return buffered.Flush()
}

func (r *Report) page() *pageData {
	d := &pageData{Report: r, Several: len(r.command.Summarizers) > 1, Costs: r.costPlots()}
	if len(r.Presets) > 0 && r.Presets[0].Recall != nil {
		d.Front = r.frontPlot()
	}
	if len(r.Summaries) > 0 && len(r.command.Budgets) > 1 {
		d.Budgets = r.budgetPlot()
	}
	if r.Optimum != nil {
		d.Triggers = r.triggerPlot()
	}
	for i := range r.Presets {
		for n, l := range r.Presets[i].Lost {
			d.Sources = append(d.Sources, source{fmt.Sprintf("lost-%d-%d", i, n), l, r.named(&r.Presets[i])})
		}
	}
	return d
}

// frontPlot shows what presets cost and hold. Those that others dominate are pale, and a line joins the others.
func (r *Report) frontPlot() *drawing {
	p := plot{title: "Cost and recall of the presets", x: "US dollars", y: "held", highest: 1}
	for i := range r.Presets {
		if preset := &r.Presets[i]; preset.Recall != nil {
			p.series = append(p.series, series{
				name: r.named(preset), points: [][2]float64{{preset.Dollars, preset.Recall.Held.Mean}}, pale: preset.Dominated,
			})
			if !preset.Dominated && len(preset.Failed) == 0 {
				p.front = append(p.front, [2]float64{preset.Dollars, preset.Recall.Held.Mean})
			}
		}
	}
	slices.SortFunc(p.front, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	return p.draw()
}

func (r *Report) budgetPlot() *drawing {
	p := plot{title: "Recall over the size of the text", x: "tokens", y: "held", highest: 1, logarithmic: true, joined: true}
	for at := 0; at < len(r.Summaries); at += len(r.command.Budgets) {
		s := series{name: r.Summaries[at].Writer, pale: r.Summaries[at].Baseline}
		for _, of := range r.Summaries[at : at+len(r.command.Budgets)] {
			s.points = append(s.points, [2]float64{float64(of.Budget), of.Recall.Held.Mean})
		}
		p.series = append(p.series, s)
	}
	return p.draw()
}

func (r *Report) triggerPlot() *drawing {
	p := plot{title: "Cost over the trigger", x: "trigger, % of the window", y: "US dollars", joined: true}
	var fixed series
	fixed.name = "fixed trigger"
	for _, t := range r.Optimum.Triggers {
		fixed.points = append(fixed.points, [2]float64{100 * t.Share, t.Dollars})
	}
	best := series{name: "best times", pale: true, points: [][2]float64{{0, r.Optimum.Dollars}, {100, r.Optimum.Dollars}}}
	p.series = []series{fixed, best}
	return p.draw()
}

// costPlots shows the cost over time, of the transcripts with the most requests.
func (r *Report) costPlots() []costPlot {
	var plots []costPlot
	for _, s := range r.longest() {
		p := plot{title: "Cost of " + s.name, x: "requests", y: "US dollars so far", joined: true}
		for _, one := range s.replays {
			if one.failed == nil && len(one.costs) > 0 {
				preset := Preset{Name: one.preset, Summarizer: one.summarizer}
				p.series = append(p.series, series{name: r.named(&preset), points: thinned(one.costs)})
			}
		}
		if len(p.series) > 0 {
			plots = append(plots, costPlot{s.name, p.draw()})
		}
	}
	return plots
}

// thinned returns at most some hundred points of a line, with its last one.
func thinned(costs []float64) [][2]float64 {
	const most = 200
	step := max(1, (len(costs)+most-1)/most)
	var points [][2]float64
	for i := 0; i < len(costs); i += step {
		points = append(points, [2]float64{float64(i + 1), costs[i]})
	}
	if last := len(costs); points[len(points)-1][0] != float64(last) {
		points = append(points, [2]float64{float64(last), costs[last-1]})
	}
	return points
}

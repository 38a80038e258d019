package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// report is what was measured on one machine.
type report struct {
	System  string `json:"system"`
	CPU     string `json:"cpu,omitempty"`
	Threads string `json:"threads,omitempty"`
	Rows    []*row `json:"rows"`
}

// row is one benchmark. Figures that it does not report are missing.
type row struct {
	// Operation is its name, and Size what follows it but for the baseline.
	Operation string             `json:"operation"`
	Size      string             `json:"size,omitempty"`
	Baseline  string             `json:"baseline,omitempty"`
	Runs      int                `json:"runs"`
	Figures   map[string]float64 `json:"figures"`

	runs map[string][]float64
}

// read reads the output of go test.
func read(in io.Reader) (*report, error) {
	r, rows := &report{}, map[string]*row{}
	lines := benchfmt.NewReader(in, "stdin")
	for lines.Scan() {
		result, ok := lines.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		r.System = result.GetConfig("goos") + "/" + result.GetConfig("goarch")
		r.CPU = result.GetConfig("cpu")
		name, threads := withoutThreads(string(result.Name))
		r.Threads = threads
		if rows[name] == nil {
			rows[name] = newRow(name)
			r.Rows = append(r.Rows, rows[name])
		}
		rows[name].add(figuresOf(result))
	}
	for _, each := range r.Rows {
		each.settle()
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the benchmarks: %w", err)
	}
	return r, nil
}

// figuresOf returns the values by the units in which the benchmark reported them.
func figuresOf(result *benchfmt.Result) map[string]float64 {
	figures := map[string]float64{}
	for _, v := range result.Values {
		if v.OrigUnit != "" {
			figures[v.OrigUnit] = v.OrigValue
			continue
		}
		figures[v.Unit] = v.Value
	}
	return figures
}

// withoutThreads splits the number of threads from a benchmark's name.
func withoutThreads(name string) (without, threads string) {
	if at := strings.LastIndexByte(name, '-'); at >= 0 && strings.Trim(name[at+1:], "0123456789") == "" {
		return name[:at], name[at+1:]
	}
	return name, "1"
}

func newRow(name string) *row {
	parts := strings.Split(name, "/")
	r := &row{Operation: parts[0], runs: map[string][]float64{}}
	var size []string
	for _, part := range parts[1:] {
		if base, ok := strings.CutPrefix(part, "base="); ok {
			r.Baseline = base
			continue
		}
		size = append(size, part)
	}
	r.Size = strings.Join(size, " ")
	return r
}

func (r *row) add(figures map[string]float64) {
	r.Runs++
	for unit, value := range figures {
		r.runs[unit] = append(r.runs[unit], value)
	}
}

// settle takes the median of each figure.
func (r *row) settle() {
	r.Figures = map[string]float64{}
	for unit, values := range r.runs {
		slices.Sort(values)
		r.Figures[unit] = values[len(values)/2]
	}
}

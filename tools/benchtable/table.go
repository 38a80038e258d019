package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// table draws a report for a terminal. A row that is over its target ends with "over".
func table(r *report) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %s, %s threads\n\n", r.System, r.CPU, r.Threads)
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "operation\tsize\tp50\tp99\tbaseline\tbase p50\tratio\ttarget\tMB/s\tallocs\tbytes\t")
	for _, row := range r.Rows {
		_, _ = fmt.Fprintln(w, strings.Join([]string{
			row.Operation, row.Size, row.median(), row.time("p99-ns"), row.Baseline, row.time("base-ns"),
			row.number("x-base", "%.2f"), row.target(),
			row.number("MB/s", "%.1f"), row.number("allocs/op", "%.0f"), row.number("B/op", "%.0f"), row.verdict(),
		}, "\t"))
	}
	_ = w.Flush()
	return text.String()
}

// median draws the median time of a call, or the mean, marked as such.
func (r *row) median() string {
	if median := r.time("p50-ns"); median != "" {
		return median
	}
	return "~" + r.time("ns/op")
}

// time draws nanoseconds with three digits.
func (r *row) time(unit string) string {
	ns, ok := r.Figures[unit]
	if !ok {
		return ""
	}
	d := time.Duration(ns)
	for _, step := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= step {
			return d.Round(step / 100).String()
		}
	}
	return d.String()
}

func (r *row) number(unit, format string) string {
	value, ok := r.Figures[unit]
	if !ok {
		return ""
	}
	return fmt.Sprintf(format, value)
}

// target draws the ratio or the time that the row should not exceed.
func (r *row) target() string {
	if limit := r.time("limit-ns"); limit != "" {
		return limit
	}
	return r.number("x-target", "%.2f")
}

func (r *row) verdict() string {
	for _, bound := range []struct{ limit, figure, instead string }{{"x-target", "x-base", ""}, {"limit-ns", "p50-ns", "ns/op"}} {
		most, limited := r.Figures[bound.limit]
		figure, ok := r.Figures[bound.figure]
		if !ok {
			figure = r.Figures[bound.instead]
		}
		if limited && figure > most {
			return "over"
		}
	}
	return ""
}

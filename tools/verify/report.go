package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// result is the result of a step.
type result struct {
	step    string
	took    time.Duration
	outcome string
	// off is what the step left out, with the reasons.
	off []string
}

const (
	ok      = "ok"
	failed  = "failed"
	skipped = "skipped"
	stopped = "stopped"
)

// errSkipped is returned by a step that can do nothing on this machine.
var errSkipped = errors.New("skipped")

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return ok
	case errors.Is(err, errSkipped):
		return skipped
	case errors.Is(err, errInterrupted):
		return stopped
	default:
		return failed
	}
}

// table formats the results in columns.
func table(results []result) string {
	var text strings.Builder
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, r := range results {
		row := []string{"    " + r.step, "-", r.outcome}
		if r.outcome != skipped {
			row[1] = r.took.Round(100 * time.Millisecond).String()
		}
		if len(r.off) > 0 {
			row = append(row, strings.Join(r.off, "; "))
		}
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	_ = columns.Flush() // A builder takes everything.
	return text.String()
}

// leaveOut reports work that is left out because something is missing, so that nobody mistakes a green run for a
// complete one.
func (v *verifier) leaveOut(what, lack string) {
	text := what + " off: " + lack
	fmt.Fprintln(v.out, text)
	v.leftOut = append(v.leftOut, text)
}

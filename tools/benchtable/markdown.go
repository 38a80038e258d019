package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// A document has the table between these lines.
const begin, end = "<!-- bench -->\n", "<!-- end -->\n"

// writeInto replaces the table of a document.
func writeInto(document string, r *report) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return errors.New(document + ": has no lines " + strings.TrimSpace(begin) + " and " + strings.TrimSpace(end))
	}
	return os.WriteFile(document, []byte(before+begin+markdown(r)+end+after), 0o600)
}

// markdown draws a report for a document.
func markdown(r *report) string {
	var text strings.Builder
	text.WriteString("\n| operation | size | p50 | p99 | baseline | its p50 | ratio | target | allocations |\n|" + strings.Repeat("---|", 9) + "\n")
	for _, row := range r.Rows {
		_, _ = fmt.Fprintln(&text, "| "+strings.Join([]string{
			inWords(operations, row.Operation), row.sizes(), row.milliseconds("p50-ns"), row.milliseconds("p99-ns"), inWords(baselines, row.Baseline),
			row.milliseconds("base-ns"), row.number("x-base", "%.2f"), row.bound(), row.allocations(),
		}, " | ")+" |")
	}
	text.WriteString("\n")
	return text.String()
}

// operations and baselines are words for what package e2e/load measures.
var operations = map[string]string{
	"Append":         "append of a message",
	"AppendTogether": "4 appends of each client at once",
	"AppendDue":      "append where a compaction is due",
	"Turn":           "turn: two deltas, three appends",
	"Compact":        "compaction by `extractive`",
	"Import":         "command `import`",
	"View":           "whole view",
	"Delta":          "delta of a message of 2 kB",
	"Cold":           "first view after a restart",
	"BehindCut":      "after a long past",
}

var baselines = map[string]string{
	"echo+bbolt":          "echo and bbolt",
	"echo+batch":          "echo and batches of bbolt",
	"3_echo+bbolt,2_echo": "their echoes and writes",
	"calm":                "not due",
	"warm":                "the next view",
	"covered_1000":        "1,000 messages behind the cut",
}

// inWords returns a name in words, or the name where there are none.
func inWords(words map[string]string, name string) string {
	if word, ok := words[name]; ok {
		return word
	}
	return strings.ReplaceAll(name, "_", " ")
}

// sizes says "800 kB, gemini" of "kB=800 dialect=gemini".
func (r *row) sizes() string {
	var sizes []string
	for _, size := range strings.Fields(r.Size) {
		switch unit, value, named := strings.Cut(size, "="); {
		case unit == "dialect" && value == "none":
			sizes = append(sizes, "neutral")
		case unit == "dialect":
			sizes = append(sizes, "`"+value+"`")
		case unit == "covered":
			sizes = append(sizes, grouped(value)+" messages behind the cut")
		case named:
			sizes = append(sizes, grouped(value)+" "+unit)
		default:
			sizes = append(sizes, unit)
		}
	}
	return strings.Join(sizes, ", ")
}

func (r *row) bound() string {
	if limit := r.milliseconds("limit-ns"); limit != "" {
		return limit
	}
	return r.number("x-target", "%.2f")
}

// milliseconds draws nanoseconds as milliseconds, with two decimals below 10.
func (r *row) milliseconds(unit string) string {
	ns, ok := r.Figures[unit]
	switch ms := ns / float64(time.Millisecond); {
	case !ok:
		return ""
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	default:
		return fmt.Sprintf("%.0f ms", ms)
	}
}

func (r *row) allocations() string {
	count, ok := r.Figures["allocs/op"]
	if !ok {
		return ""
	}
	return grouped(fmt.Sprintf("%.0f", count)) + ", " + grouped(fmt.Sprintf("%.0f", r.Figures["B/op"]/1000)) + " kB"
}

// grouped writes the digits of a number in groups of three.
func grouped(digits string) string {
	if strings.Trim(digits, "0123456789") != "" {
		return digits
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// printCatalogue writes what there is to choose from, a few lines each.
func printCatalogue(a *app, there *compactordv1.ListStrategiesResponse) {
	w := a.out
	table := newTextTable(w, column{"STRATEGY", 0}, column{"WHAT IT DOES", 44}, column{"SUMMARIZER", 0}, column{"USED BY", 18})
	for _, s := range there.GetStrategies() {
		table.row(s.GetName(), s.GetDescription(), summarizerNeed(s), strings.Join(s.GetPresets(), ", "))
	}
	table.flush()
	fmt.Fprintln(w)
	presets := newTextTable(w, column{"PRESET", 0}, column{"WHAT IT DOES", 60}, column{"REPRODUCES", 22})
	for _, p := range there.GetPresets() {
		presets.row(p.GetName(), p.GetDescription(), orDash(p.GetReproduces()))
	}
	presets.flush()
	fmt.Fprintf(w, "\nAll there is to say of one, such as this:\n  %s\nWhat they come to on a transcript:\n  %s\n",
		a.hinted(again(strategies.DefaultPreset)), a.hinted(command("compare", "FILE")))
}

func summarizerNeed(s *compactordv1.StrategyInfo) string {
	switch {
	case s.GetNeedsSummarizer():
		return "needed"
	case s.GetNests():
		return "if nested"
	default:
		return "-"
	}
}

// details writes all there is to say of strategies and presets.
func (c *strategiesCommand) details(w io.Writer, there *compactordv1.ListStrategiesResponse) error {
	for i, s := range there.GetStrategies() {
		separate(w, i)
		printStrategy(w, s)
	}
	for i, p := range there.GetPresets() {
		separate(w, i+len(there.GetStrategies()))
		if err := printPreset(w, p, c.limitFlags); err != nil {
			return err
		}
	}
	return nil
}

func separate(w io.Writer, i int) {
	if i > 0 {
		fmt.Fprintln(w)
	}
}

// textWidth is how wide running text is.
const textWidth = 98

func paragraph(w io.Writer, text, first, others string) {
	for i, line := range wrapped(text, textWidth-len(others)) {
		if i == 0 {
			fmt.Fprintln(w, first+line)
		} else {
			fmt.Fprintln(w, others+line)
		}
	}
}

func printStrategy(w io.Writer, s *compactordv1.StrategyInfo) {
	heading(w, "Strategy "+s.GetName())
	paragraph(w, s.GetDescription(), "", "")
	fmt.Fprintln(w)
	row(w, "Taken by", "%s", takenBy(s))
	row(w, "Summarizer", "%s", summarizerNeed(s))
	paragraph(w, orDash(strings.Join(s.GetPresets(), ", ")), "  Presets     ", "              ")
	if s.GetCustom() {
		fmt.Fprintln(w)
		paragraph(w, "It was registered by whoever built this daemon: a policy selects it by `custom`, and its parameters are "+
			"its own.", "", "")
	}
	if len(s.GetParameters()) == 0 {
		return
	}
	fmt.Fprintln(w)
	table := newTextTable(w, column{"PARAMETER", 0}, column{"TYPE", 0}, column{"DEFAULT", 14}, column{"RANGE", 16}, column{"WHAT IT SAYS", 40})
	for _, p := range s.GetParameters() {
		table.row(p.GetName(), p.GetType(), orDash(p.GetDefaultValue()), parameterRange(p), parameterText(p))
	}
	table.flush()
}

// takenBy names the calls and settings that take a strategy.
func takenBy(s *compactordv1.StrategyInfo) string {
	calls := []string{"Compact"}
	if !s.GetCuts() && !s.GetNeedsSummarizer() {
		calls = append(calls, "Prune", "on_user_message")
	}
	if s.GetOnAppend() {
		calls = append(calls, "on_append")
	}
	return strings.Join(calls, ", ")
}

// parameterRange writes the least and the greatest value; of texts and lists, their greatest length.
func parameterRange(p *compactordv1.ParameterInfo) string {
	switch {
	case p.Minimum == nil && p.Maximum == nil:
		return "-"
	case p.GetType() == "string":
		return "to " + figureText(p.GetMaximum()) + " bytes"
	case p.GetType() == "strings", p.GetType() == "strategies":
		return "to " + figureText(p.GetMaximum()) + " of them"
	case p.Maximum == nil:
		return "from " + figureText(p.GetMinimum())
	case p.Minimum == nil:
		return "to " + figureText(p.GetMaximum())
	default:
		return figureText(p.GetMinimum()) + " to " + figureText(p.GetMaximum())
	}
}

func parameterText(p *compactordv1.ParameterInfo) string {
	if len(p.GetValues()) == 0 {
		return p.GetDescription()
	}
	return p.GetDescription() + " One of " + strings.Join(p.GetValues(), ", ") + "."
}

// figureText writes a number as people do, with its fraction if it has one.
func figureText(n float64) string {
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return number(int64(n))
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

func printPreset(w io.Writer, p *compactordv1.PresetInfo, limits limitFlags) error {
	heading(w, "Preset "+p.GetName())
	paragraph(w, p.GetDescription(), "", "")
	if p.GetReproduces() != "" {
		fmt.Fprintln(w)
		paragraph(w, p.GetReproduces(), "Reproduces: ", "  ")
	}
	if len(p.GetDeviations()) > 0 {
		fmt.Fprint(w, "\nDeviates on purpose:\n")
		for _, deviation := range p.GetDeviations() {
			paragraph(w, deviation, "  - ", "    ")
		}
	}
	if limits.ContextWindow == nil {
		fmt.Fprint(w, "\nIts policy for a window that is not known (--context-window N gives its numbers for a model):\n\n")
	} else {
		fmt.Fprintf(w, "\nIts policy for a window of %s:\n\n", count(*limits.ContextWindow, "token"))
	}
	if t := p.GetPolicy().GetTrigger(); t != nil && t.Enabled != nil && !t.GetEnabled() {
		paragraph(w, "With these limits "+limits.neverDue(), "", "")
		fmt.Fprintln(w)
	}
	text, err := policyText(p.GetPolicy())
	fmt.Fprint(w, indent(text, "  "))
	return err
}

// policyText writes a policy as YAML, by the names of the contract and in its order.
func policyText(p *compactordv1.Policy) (string, error) {
	raw, err := apiJSON{Message: p}.MarshalJSON()
	if err != nil {
		return "", err
	}
	// JSON is YAML; what is left is to write it in lines.
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return "", err
	}
	inLines(&document)
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err = encoder.Encode(&document)
	return text.String(), err
}

// inLines takes away how the nodes of a document were written.
func inLines(node *yaml.Node) {
	node.Style = 0
	for _, child := range node.Content {
		inLines(child)
	}
}

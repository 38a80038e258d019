package catalog

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// printCatalogue writes what there is to choose from, a few lines each.
func printCatalogue(a *api.App, there *compactordv1.ListStrategiesResponse) {
	w := a.Out
	table := terminal.NewTextTable(w, terminal.Column{Heading: "STRATEGY", Width: 0}, terminal.Column{Heading: "WHAT IT DOES", Width: 44}, terminal.Column{Heading: "SUMMARIZER", Width: 0}, terminal.Column{Heading: "USED BY", Width: 18})
	for _, s := range there.GetStrategies() {
		table.Row(s.GetName(), s.GetDescription(), summarizerNeed(s), strings.Join(s.GetPresets(), ", "))
	}
	table.Flush()
	fmt.Fprintln(w)
	presets := terminal.NewTextTable(w, terminal.Column{Heading: "PRESET", Width: 0}, terminal.Column{Heading: "WHAT IT DOES", Width: 60}, terminal.Column{Heading: "REPRODUCES", Width: 22})
	for _, p := range there.GetPresets() {
		presets.Row(p.GetName(), p.GetDescription(), terminal.OrDash(p.GetReproduces()))
	}
	presets.Flush()
	fmt.Fprintf(w, "\nAll there is to say of one, such as this:\n  %s\nWhat they come to on a transcript:\n  %s\n",
		a.Hinted(terminal.Again(strategies.DefaultPreset)), a.Hinted(terminal.Command("compare", "FILE")))
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
func (c *Strategies) details(w io.Writer, there *compactordv1.ListStrategiesResponse) error {
	for i, s := range there.GetStrategies() {
		separate(w, i)
		printStrategy(w, s)
	}
	for i, p := range there.GetPresets() {
		separate(w, i+len(there.GetStrategies()))
		if err := printPreset(w, p, c.LimitFlags); err != nil {
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

func printStrategy(w io.Writer, s *compactordv1.StrategyInfo) {
	terminal.Heading(w, "Strategy "+s.GetName())
	terminal.Paragraph(w, s.GetDescription(), "", "")
	fmt.Fprintln(w)
	terminal.Row(w, "Taken by", "%s", takenBy(s))
	terminal.Row(w, "Summarizer", "%s", summarizerNeed(s))
	terminal.Paragraph(w, terminal.OrDash(strings.Join(s.GetPresets(), ", ")), "  Presets     ", "              ")
	if s.GetCustom() {
		fmt.Fprintln(w)
		terminal.Paragraph(w, "It was registered by whoever built this daemon: a policy selects it by `custom`, and its parameters are "+
			"its own.", "", "")
	}
	if len(s.GetParameters()) == 0 {
		return
	}
	fmt.Fprintln(w)
	table := terminal.NewTextTable(w, terminal.Column{Heading: "PARAMETER", Width: 0}, terminal.Column{Heading: "TYPE", Width: 0}, terminal.Column{Heading: "DEFAULT", Width: 14}, terminal.Column{Heading: "RANGE", Width: 16}, terminal.Column{Heading: "WHAT IT SAYS", Width: 40})
	for _, p := range s.GetParameters() {
		table.Row(p.GetName(), p.GetType(), terminal.OrDash(p.GetDefaultValue()), parameterRange(p), parameterText(p))
	}
	table.Flush()
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
		return terminal.Number(int64(n))
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

func printPreset(w io.Writer, p *compactordv1.PresetInfo, limits conversation.LimitFlags) error {
	terminal.Heading(w, "Preset "+p.GetName())
	terminal.Paragraph(w, p.GetDescription(), "", "")
	if p.GetReproduces() != "" {
		fmt.Fprintln(w)
		terminal.Paragraph(w, p.GetReproduces(), "Reproduces: ", "  ")
	}
	if len(p.GetDeviations()) > 0 {
		fmt.Fprint(w, "\nDeviates on purpose:\n")
		for _, deviation := range p.GetDeviations() {
			terminal.Paragraph(w, deviation, "  - ", "    ")
		}
	}
	if limits.ContextWindow == nil {
		fmt.Fprint(w, "\nIts policy for a window that is not known (--context-window N gives its numbers for a model):\n\n")
	} else {
		fmt.Fprintf(w, "\nIts policy for a window of %s:\n\n", terminal.Count(*limits.ContextWindow, "token"))
	}
	if t := p.GetPolicy().GetTrigger(); t != nil && t.Enabled != nil && !t.GetEnabled() {
		terminal.Paragraph(w, "With these limits "+limits.NeverDue(), "", "")
		fmt.Fprintln(w)
	}
	text, err := policyText(p.GetPolicy())
	fmt.Fprint(w, terminal.Indent(text, "  "))
	return err
}

// policyText writes a policy as YAML, by the names of the contract and in its order.
func policyText(p *compactordv1.Policy) (string, error) {
	raw, err := terminal.APIJSON{Message: p}.MarshalJSON()
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

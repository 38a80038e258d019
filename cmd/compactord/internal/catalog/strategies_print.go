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

// printCatalogue writes tables of the strategies and the presets.
func printCatalogue(a *api.App, answer *compactordv1.ListStrategiesResponse) {
	w := a.Out
	table := terminal.NewTextTable(w, terminal.Column{Heading: "STRATEGY", Width: 0}, terminal.Column{Heading: "WHAT IT DOES", Width: 44}, terminal.Column{Heading: "SUMMARIZER", Width: 0}, terminal.Column{Heading: "USED BY", Width: 18})
	for _, s := range answer.GetStrategies() {
		table.Row(s.GetName(), s.GetDescription(), summarizerNeed(s), strings.Join(s.GetPresets(), ", "))
	}
	table.Flush()
	fmt.Fprintln(w)
	presets := terminal.NewTextTable(w, terminal.Column{Heading: "PRESET", Width: 0}, terminal.Column{Heading: "WHAT IT DOES", Width: 60}, terminal.Column{Heading: "REPRODUCES", Width: 22})
	for _, p := range answer.GetPresets() {
		presets.Row(p.GetName(), p.GetDescription(), terminal.OrDash(p.GetReproduces()))
	}
	presets.Flush()
	fmt.Fprintf(w, "\nTo show everything about one:\n  %s\nTo compare the presets on a transcript:\n  %s\n",
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

// details writes everything about the strategies and presets.
func (c *Strategies) details(w io.Writer, answer *compactordv1.ListStrategiesResponse) error {
	for i, s := range answer.GetStrategies() {
		separate(w, i)
		printStrategy(w, s)
	}
	for i, p := range answer.GetPresets() {
		separate(w, i+len(answer.GetStrategies()))
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
	terminal.Row(w, "Allowed in", "%s", allowedIn(s))
	terminal.Row(w, "Summarizer", "%s", summarizerNeed(s))
	terminal.Paragraph(w, terminal.OrDash(strings.Join(s.GetPresets(), ", ")), "  Presets     ", "              ")
	if s.GetCustom() {
		fmt.Fprintln(w)
		terminal.Paragraph(w, "It was registered by the builder of this daemon. A policy selects it with `custom`. Only its builder "+
			"documents its parameters.", "", "")
	}
	if len(s.GetParameters()) == 0 {
		return
	}
	fmt.Fprintln(w)
	table := terminal.NewTextTable(w, terminal.Column{Heading: "PARAMETER", Width: 0}, terminal.Column{Heading: "TYPE", Width: 0}, terminal.Column{Heading: "DEFAULT", Width: 14}, terminal.Column{Heading: "RANGE", Width: 16}, terminal.Column{Heading: "MEANING", Width: 40})
	for _, p := range s.GetParameters() {
		table.Row(p.GetName(), p.GetType(), terminal.OrDash(p.GetDefaultValue()), parameterRange(p), parameterText(p))
	}
	table.Flush()
}

// allowedIn returns the calls and settings that accept a strategy.
func allowedIn(s *compactordv1.StrategyInfo) string {
	calls := []string{"Compact"}
	if !s.GetCuts() && !s.GetNeedsSummarizer() {
		calls = append(calls, "Prune", "on_user_message")
	}
	if s.GetOnAppend() {
		calls = append(calls, "on_append")
	}
	return strings.Join(calls, ", ")
}

// parameterRange writes the minimum and the maximum; for texts and lists, the greatest length.
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

// figureText formats a number with commas or, where it is no integer, with its fraction.
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
		fmt.Fprint(w, "\nDiffers on purpose:\n")
		for _, deviation := range p.GetDeviations() {
			terminal.Paragraph(w, deviation, "  - ", "    ")
		}
	}
	if limits.ContextWindow == nil {
		fmt.Fprint(w, "\nIts policy for an unknown window (--context-window N shows its numbers for a model):\n\n")
	} else {
		fmt.Fprintf(w, "\nIts policy for a window of %s:\n\n", terminal.Count(*limits.ContextWindow, "token"))
	}
	if t := p.GetPolicy().GetTrigger(); t != nil && t.Enabled != nil && !t.GetEnabled() {
		terminal.Paragraph(w, "With these limits "+conversation.NeverDue, "", "")
		fmt.Fprintln(w)
	}
	text, err := policyText(p.GetPolicy())
	fmt.Fprint(w, terminal.Indent(text, "  "))
	return err
}

// policyText formats a policy as YAML, with the field names and the order of the contract.
func policyText(p *compactordv1.Policy) (string, error) {
	raw, err := terminal.APIJSON{Message: p}.MarshalJSON()
	if err != nil {
		return "", err
	}
	// JSON is YAML: parse it, and encode it in block style.
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return "", err
	}
	blockStyle(&document)
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err = encoder.Encode(&document)
	return text.String(), err
}

// blockStyle resets the style of a node and of all nodes in it.
func blockStyle(node *yaml.Node) {
	node.Style = 0
	for _, child := range node.Content {
		blockStyle(child)
	}
}

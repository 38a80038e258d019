package conversation

import (
	"context"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// DialectNames lists the dialects, for help texts.
func DialectNames() string {
	all := dialects.All()
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name()
	}
	return strings.Join(names, ", ")
}

// FormatNames lists the formats of transcripts that can be read, for help texts.
func FormatNames() string {
	all := transcript.Formats()
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// DialectNamed returns the dialect that a flag names.
func DialectNamed(flag, name string) (dialect.Dialect, error) {
	d, known := dialects.Named(name)
	if !known {
		return nil, terminal.Usagef("%s: there is no dialect %q; there are %s", flag, name, DialectNames())
	}
	return d, nil
}

// RenderedView is a view in a dialect.
type RenderedView struct {
	List   dialect.List
	report *compactordv1.ViewReport
}

// Rendered reads all pages of a view in a dialect.
func (c *Conversation) Rendered(ctx context.Context, d dialect.Dialect, breakpoints bool) (*RenderedView, error) {
	v := &RenderedView{}
	request := &compactordv1.GetLLMViewRequest{
		Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: c.Session},
		Dialect: d.Kind(), MarkCacheBreakpoints: breakpoints, AsOf: c.AsOf,
		MaxBytes: c.PageBytes,
	}
	for {
		answer, err := c.Compactions.GetLLMView(ctx, request)
		if err != nil {
			return nil, api.RefusedFlags(err)
		}
		v.List.System, v.report = nil, answer.GetViewReport()
		for _, raw := range answer.GetSystemJson() {
			v.List.System = append(v.List.System, []byte(raw))
		}
		v.List.Messages = v.List.Messages[:answer.GetUnchangedPrefix()]
		for _, raw := range answer.GetMessagesJson() {
			v.List.Messages = append(v.List.Messages, []byte(raw))
		}
		if !answer.GetHasMore() {
			return v, nil
		}
		request.ViewToken = answer.GetViewToken()
	}
}

// Report prints the repairs and other changes that rendering made.
func (v *RenderedView) Report(p *terminal.Progress) {
	byRule := make(map[string]int)
	var rules []string
	for _, r := range v.report.GetRepairs() {
		if byRule[r.GetRule()] == 0 {
			rules = append(rules, r.GetRule())
		}
		byRule[r.GetRule()]++
	}
	for _, rule := range rules {
		p.Say("repaired for %s: %s", rule, terminal.Count(byRule[rule], "time"))
	}
	if n := len(v.report.GetPartsDropped()); n > 0 {
		p.Say("%s left out or shown as text, since the dialect cannot hold them", terminal.Count(n, "part"))
	}
	if v.report.GetDisableThinking() {
		p.Say("turn thinking off for the next request: the running tool loop had to lose its thinking")
	}
}

// Markdown is the value of --to for Markdown.
const Markdown = "markdown"

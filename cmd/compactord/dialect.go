package main

import (
	"context"
	"strings"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func dialectNames() string {
	all := dialects.All()
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name()
	}
	return strings.Join(names, ", ")
}

func formatNames() string {
	all := transcript.Formats()
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// dialectNamed finds the dialect that a flag names.
func dialectNamed(flag, name string) (dialect.Dialect, error) {
	d, known := dialects.Named(name)
	if !known {
		return nil, usagef("%s: there is no dialect %q; known are %s", flag, name, dialectNames())
	}
	return d, nil
}

// renderedView is a view in a provider's shape.
type renderedView struct {
	list   dialect.List
	report *compactordv1.ViewReport
}

// rendered reads a view in a dialect to its end, page by page.
func (c *conversation) rendered(ctx context.Context, d dialect.Dialect, breakpoints bool) (*renderedView, error) {
	v := &renderedView{}
	request := &compactordv1.GetLLMViewRequest{
		Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: c.session},
		Dialect: d.Kind(), MarkCacheBreakpoints: breakpoints, AsOf: c.asOf,
		MaxBytes: c.pageBytes,
	}
	for {
		answer, err := c.compactions.GetLLMView(ctx, request)
		if err != nil {
			return nil, refusedFlags(err)
		}
		v.list.System, v.report = nil, answer.GetViewReport()
		for _, raw := range answer.GetSystemJson() {
			v.list.System = append(v.list.System, []byte(raw))
		}
		v.list.Messages = v.list.Messages[:answer.GetUnchangedPrefix()]
		for _, raw := range answer.GetMessagesJson() {
			v.list.Messages = append(v.list.Messages, []byte(raw))
		}
		if !answer.GetHasMore() {
			return v, nil
		}
		request.ViewToken = answer.GetViewToken()
	}
}

// tell says on stderr what was done to render the view.
func (v *renderedView) tell(p *progress) {
	byRule := make(map[string]int)
	var rules []string
	for _, r := range v.report.GetRepairs() {
		if byRule[r.GetRule()] == 0 {
			rules = append(rules, r.GetRule())
		}
		byRule[r.GetRule()]++
	}
	for _, rule := range rules {
		p.say("repaired for %s: %s", rule, count(byRule[rule], "time"))
	}
	if n := len(v.report.GetPartsDropped()); n > 0 {
		p.say("%s left out, or put as text, since the dialect has no place for it", count(n, "part"))
	}
	if v.report.GetDisableThinking() {
		p.say("turn thinking off for the next request: the tool loop that goes on had to lose its thinking")
	}
}

// markdown is what is written for people.
const markdown = "markdown"

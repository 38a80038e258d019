package conversation

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// RenderedReport is what is to be said of a view in a dialect.
type RenderedReport struct {
	view *compactordv1.ViewReport
	// lacks is a rule that the list breaks as a request; nil where there is none.
	lacks *dialect.Violation
}

// Lacks returns what the list lacks for a request; empty where that is nothing.
func (r *RenderedReport) Lacks() string {
	if r.lacks == nil {
		return ""
	}
	return r.lacks.String()
}

// PrintRendered writes those fields of a request's body that hold the LLM view in a dialect, of which a page at a time is held.
// begin is called before the first one.
func (c *Conversation) PrintRendered(
	ctx context.Context, w io.Writer, d dialect.Dialect, breakpoints bool, begin func(),
) (*RenderedReport, error) {
	request := &compactordv1.GetLLMViewRequest{
		Target:  &compactordv1.GetLLMViewRequest_SessionId{SessionId: c.Session},
		Dialect: d.Kind(), MarkCacheBreakpoints: breakpoints, AsOf: c.AsOf,
		MaxBytes: min(c.PageBytes, HeldPageBytes),
	}
	p := renderedPrinter{to: w, shape: d}
	for {
		page, err := c.Compactions.GetLLMView(ctx, request)
		if err != nil {
			return nil, api.RefusedFlags(err)
		}
		if request.GetViewToken() == "" {
			begin()
			err = p.begin(page)
		} else {
			err = p.follow(page)
		}
		if err != nil {
			return nil, err
		}
		if !page.GetHasMore() {
			return &RenderedReport{page.GetViewReport(), p.lacks()}, p.end()
		}
		request.ViewToken = page.GetViewToken()
	}
}

// renderedPrinter writes a list in a dialect.
type renderedPrinter struct {
	to     io.Writer
	shape  dialect.Dialect
	system []string
	// after is what stands behind the list.
	after []byte
	// written is how many elements were written, and last the one behind them: the next page may have it once more, and longer.
	written int
	last    json.RawMessage
}

// begin writes the first page.
func (p *renderedPrinter) begin(page *compactordv1.GetLLMViewResponse) error {
	p.system = page.GetSystemJson()
	place := fmt.Appendf(nil, `{%q:0}`, rand.Text())
	before, after, _ := bytes.Cut(p.shape.Document(&dialect.List{System: rawList(p.system), Messages: []json.RawMessage{place}}), place)
	if _, err := p.to.Write(before); err != nil {
		return err
	}
	p.after = bytes.Clone(after)
	return p.add(page.GetMessagesJson())
}

// follow writes a later page. It returns ErrViewChanged for one of another view.
func (p *renderedPrinter) follow(page *compactordv1.GetLLMViewResponse) error {
	if !slices.Equal(page.GetSystemJson(), p.system) {
		return ErrViewChanged
	}
	switch before := int(page.GetUnchangedPrefix()); {
	case before == p.written:
		p.last = nil
	case before != p.written+1 || p.last == nil:
		return ErrViewChanged
	}
	return p.add(page.GetMessagesJson())
}

// add writes elements but the last one.
func (p *renderedPrinter) add(elements []string) error {
	for _, e := range elements {
		if err := p.flush(); err != nil {
			return err
		}
		p.last = json.RawMessage(e)
	}
	return nil
}

func (p *renderedPrinter) flush() error {
	if p.last == nil {
		return nil
	}
	if p.written++; p.written > 1 {
		if _, err := io.WriteString(p.to, ","); err != nil {
			return err
		}
	}
	_, err := p.to.Write(p.last)
	return err
}

// lacks returns a rule of requests that the list breaks by its end; nil where there is none. The daemon has checked all others.
func (p *renderedPrinter) lacks() *dialect.Violation {
	list := &dialect.List{System: rawList(p.system)}
	if p.last != nil {
		list.Messages = []json.RawMessage{p.last}
	}
	list.Before.Messages = p.written
	requestOnly := map[string]bool{}
	for _, r := range p.shape.Rules() {
		requestOnly[r.ID] = r.RequestOnly
	}
	for _, found := range p.shape.Validate(list, dialect.Request) {
		if requestOnly[found.Rule] {
			return &found
		}
	}
	return nil
}

// end writes the last element, and what stands behind the list.
func (p *renderedPrinter) end() error {
	if err := p.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.to, "%s\n", p.after)
	return err
}

func rawList(elements []string) []json.RawMessage {
	list := make([]json.RawMessage, len(elements))
	for i, e := range elements {
		list[i] = json.RawMessage(e)
	}
	return list
}

// Say prints the repairs and other changes that rendering made, and what the list lacks for a request.
func (r *RenderedReport) Say(p *terminal.Progress) {
	byRule := make(map[string]int)
	var rules []string
	for _, repair := range r.view.GetRepairs() {
		if byRule[repair.GetRule()] == 0 {
			rules = append(rules, repair.GetRule())
		}
		byRule[repair.GetRule()]++
	}
	for _, rule := range rules {
		p.Say("repaired for %s: %s", rule, terminal.Count(byRule[rule], "time"))
	}
	if n := len(r.view.GetPartsDropped()); n > 0 {
		p.Say("%s left out or shown as text, since the dialect cannot hold them", terminal.Count(n, "part"))
	}
	if r.view.GetDisableThinking() {
		p.Say("turn thinking off for the next request: the running tool loop had to lose its thinking")
	}
	if lacks := r.Lacks(); lacks != "" {
		p.Say("this list is not a valid request yet: %s", lacks)
	}
}

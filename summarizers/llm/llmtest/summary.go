package llmtest

import (
	"regexp"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// Written describes a summary.
type Written struct {
	// Sections are the sections of the summary. nil means the headings that the prompt's instructions name. If they
	// name none, as for a shortened tool result, the answer is text without headings.
	Sections []*compactordv1.Section
	// Lines are the list items below its first heading. If there are none, it gets one of our own, since an empty
	// summary is refused.
	Lines []string
	// Echo matches text that the model copies from the prompt. Each distinct match is a list item below the second
	// heading.
	Echo *regexp.Regexp
}

// Summary is the answer of a model that writes all headings, also those of empty sections. A few lines alone would be
// refused as a fragment where they replace a long conversation.
func Summary(written Written) Reply {
	return Reply{write: func(a *answering, w wire) {
		w.begin()
		writeText(w, written.Of(a.req))
		w.end(finished)
	}}
}

// Of returns the text of the summary for a request.
func (w Written) Of(req *Request) string {
	headings := w.headings(req)
	echoes := w.echoes(req)
	if len(headings) == 0 {
		return strings.Join(append(w.lines(), echoes...), "\n")
	}
	var text strings.Builder
	for i, h := range headings {
		text.WriteString(h + "\n")
		bullets := []string{summarizers.NothingBelow}
		switch {
		case i == 0 && len(w.Lines) > 0:
			bullets = bulleted(w.Lines)
		case i == 0:
			bullets = bulleted([]string{"The work goes on."})
		}
		if i == 1 && len(echoes) > 0 {
			bullets = bulleted(echoes)
		}
		text.WriteString(strings.Join(bullets, "\n") + "\n\n")
	}
	return strings.TrimSpace(text.String())
}

// lines returns at least one line, since an empty summary is refused.
func (w Written) lines() []string {
	if len(w.Lines) == 0 {
		return []string{"The work goes on."}
	}
	return w.Lines
}

func bulleted(lines []string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = "- " + line
	}
	return all
}

func (w Written) echoes(req *Request) []string {
	if w.Echo == nil {
		return nil
	}
	var all []string
	for _, match := range w.Echo.FindAllString(req.Text(), -1) {
		if !slices.Contains(all, match) {
			all = append(all, match)
		}
	}
	return all
}

func (w Written) headings(req *Request) []string {
	instructions := instructionsOf(req)
	prefix := summarizers.Headings(summarizers.TurnPrefix, w.Sections)
	asked := named(instructions)
	if len(w.Sections) == 0 || names(instructions, prefix) {
		return asked
	}
	var given []string
	for _, h := range summarizers.Headings(summarizers.History, w.Sections) {
		given = append(given, h.Line())
	}
	return given
}

// named returns the headings that a text contains as headings, in order.
func named(text string) []string {
	var lines []string
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		lines = append(lines, found[1])
	}
	return lines
}

var heading = regexp.MustCompile(`(?m)^(#+ .+)$`)

// instructionsOf returns the text from the tag of the instructions on, so the focus, too. Without that tag it returns the
// system prompt, and the text after the conversation and the previous summary.
func instructionsOf(req *Request) string {
	tail := req.User
	if at := strings.LastIndex(tail, "<instructions>"); at >= 0 {
		return tail[at:]
	}
	for _, tag := range []string{"</conversation>", "</previous-summary>"} {
		if at := strings.LastIndex(tail, tag); at >= 0 {
			tail = tail[at:]
		}
	}
	return req.System + "\n" + tail
}

// names says whether a text contains all of the headings as headings, in order.
func names(text string, headings []summarizers.Heading) bool {
	for _, h := range headings {
		line := regexp.MustCompile(`(?m)^\W*#+ ` + regexp.QuoteMeta(h.Title) + `\b`)
		at := line.FindStringIndex(text)
		if at == nil {
			return false
		}
		text = text[at[1]:]
	}
	return true
}

package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// titled is a line of a text that is the title of a section, and whether the section is numbered.
type titled struct {
	title    string
	numbered bool
}

// maxTitle is how many bytes the title of a section has at most.
const maxTitle = 80

// titleAt returns the title that a line is: a heading, a line in bold, or a number with a short text that ends in a colon.
func titleAt(line string) (t titled, ok bool) {
	if line == "" || line[0] == ' ' || line[0] == '\t' || len(line) > maxTitle {
		return t, false
	}
	trimmed := strings.TrimSpace(line)
	if isHeading(trimmed) {
		return titled{title: strings.Trim(trimmed, "#*: ")}, true
	}
	if strings.HasPrefix(trimmed, "**") && strings.HasSuffix(strings.TrimRight(trimmed, ":："), "**") && strings.Count(trimmed, "**") == 2 {
		return titled{title: strings.Trim(trimmed, "*:： ")}, true
	}
	body, listed := listItem(trimmed)
	if listed && trimmed[0] >= '0' && trimmed[0] <= '9' && endsInColon(body) {
		return titled{title: strings.Trim(body, "*:： "), numbered: true}, true
	}
	return t, false
}

// openingTag returns the name of a tag that a section begins with, if a line is one.
func openingTag(line string) string {
	name, ok := strings.CutPrefix(line, "<")
	if !ok || len(line) > maxTitle || !strings.HasSuffix(name, ">") || strings.ContainsAny(name, " /!=\"") {
		return ""
	}
	return strings.TrimSuffix(name, ">")
}

// opensWithTag says whether the first line of a text is a tag.
func opensWithTag(text string) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(clip(text, 4*maxTitle)), "\n")
	return openingTag(strings.TrimSpace(line)) != ""
}

// summaryWords are in the opening of a text that is a summary of earlier work.
var summaryWords = []string{
	"summar", "state_snapshot", "previous conversation", "earlier conversation", "compacted", "zusammenfass", "resumen", "résumé", "resumo", "краткое содержание", "итог", "摘要", "总结", "要約", "요약",
}

// fewestKinds is how many kinds of sections a summary of earlier work has at least.
const fewestKinds = 3

// isEarlierSummary says whether a message is a summary of earlier work that another tool wrote: it has sections of several
// kinds, among them one about the state of the work. One that does not call itself a summary also says what comes next.
func isEarlierSummary(text string) bool {
	if len(text) < minDocument {
		return false
	}
	var kinds [kinds]bool
	n := 0
	for line := range strings.Lines(text) {
		t, ok := titleAt(strings.TrimRight(line, "\r\n"))
		if name := openingTag(strings.TrimSpace(line)); name != "" {
			t, ok = titled{title: name}, true
		}
		if ok {
			if k := meaningOf(t.title); k != kindFact && !kinds[k] {
				kinds[k] = true
				n++
			}
		}
	}
	if n < fewestKinds || !kinds[kindDoing] && !kinds[kindDone] {
		return false
	}
	opening := clip(text, 400)
	return kinds[kindNext] && kinds[kindRequest] || slices.ContainsFunc(summaryWords, func(w string) bool { return containsAnyCase(opening, w) })
}

// summaryIn returns the part of a message that is the summary: without what stands around it, such as an analysis before
// it, or an order to go on.
func summaryIn(text string) string {
	if inner := summarizers.Between(text, "summary"); inner != "" {
		return inner
	}
	if _, rest, ok := strings.Cut(text, "\nSummary:\n"); ok {
		return rest
	}
	return text
}

// earlierSummary takes over a summary of earlier work that a message has. It replaces one that an earlier message had,
// since each covers all before it.
func (r *reader) earlierSummary(index uint32, text string) {
	request := r.l.takeOver(text, []uint32{index}, len(r.l.requests) == 0)
	if request != nil {
		r.lastUser = r.l.request(request)
	}
}

// hasSections says whether at least half of the sections of a text are those of a layout.
func (ly *layout) hasSections(text string) bool {
	ours, titled, all := ly.titled(), 0, 0
	for line := range strings.Lines(text) {
		if t, ok := titleAt(strings.TrimRight(line, "\r\n")); ok {
			all++
			if _, known := ours[session.TitleKey(t.title)]; known {
				titled++
			}
		}
	}
	return 2*titled >= all
}

// carryEarlier takes over a previous summary that another tool wrote.
func (l *ledger) carryEarlier(text string) {
	if request := l.takeOver(text, nil, true); request != nil {
		request.carried, request.goal, request.last = true, true, true
		l.requests = append(l.requests, request)
	}
	for _, it := range l.earlier.lines {
		it.carried = true
	}
}

// takeOver takes over a summary of earlier work. Its constraints join those of the digest. It returns what the summary
// says about the request if that is wanted.
func (l *ledger) takeOver(text string, cites []uint32, wanted bool) *item {
	b := earlierReader{summary: &earlierSummary{cites: cites}, wanted: wanted}
	for line := range strings.Lines(summaryIn(text)) {
		b.line(clip(strings.TrimRight(line, "\r\n"), maxLine))
	}
	l.earlier = b.summary
	var cues cueReader
	for _, rule := range b.rules {
		l.add(&item{kind: kindRule, text: rule, cites: slices.Clone(cites), tier: ruleTier(rule, cues.read(rule), byUser), carried: len(cites) == 0})
	}
	request := strings.Join(b.request, lineBreak)
	if request == "" {
		return nil
	}
	return &item{kind: kindRequest, text: shorten(request, maxRequest), cites: slices.Clone(cites)}
}

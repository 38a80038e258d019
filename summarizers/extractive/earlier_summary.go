package extractive

import (
	"slices"
	"strings"

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

// summaryWords are in the opening of a text that is a summary of earlier work.
var summaryWords = []string{
	"summar", "previous conversation", "earlier conversation", "compacted", "zusammenfass", "resumen", "résumé", "resumo", "краткое содержание", "итог", "摘要", "总结", "要約", "요약",
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
		if t, ok := titleAt(strings.TrimRight(line, "\r\n")); ok {
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

// earlierSummary reads a summary of earlier work section by section into the ledger. It replaces one that an earlier
// message had, since each covers all before it.
func (r *reader) earlierSummary(index uint32, text string) {
	r.l.forgetSummary()
	r.l.summarized, r.l.summary = true, index
	if inner := summarizers.Between(text, "summary"); inner != "" {
		text = inner
	} else if _, rest, ok := strings.Cut(text, "\nSummary:\n"); ok {
		text = rest
	}
	s := summaryReader{previousReader: previousReader{l: r.l, holds: kindFact, from: []uint32{index}}}
	for line := range strings.Lines(text) {
		s.line(strings.TrimRight(line, "\r\n"))
	}
	s.flush()
	if request := strings.Join(s.request, lineBreak); request != "" && len(r.l.requests) == 0 {
		r.lastUser = r.l.request(&item{kind: kindRequest, text: shorten(request, maxRequest), cites: []uint32{index}})
	}
}

// summaryReader reads a summary of another tool.
type summaryReader struct {
	previousReader
	// request has the lines about what the user asked for.
	request []string
	// file is the file that the indented lines below it are about.
	file string
	// numbered says that sections are numbered, so that the lines below them are indented. ended says that text follows that
	// belongs to none.
	numbered, ended bool
}

func (s *summaryReader) line(line string) {
	if t, ok := titleAt(line); ok && !s.inCode {
		s.heading(t.title)
		s.numbered, s.ended, s.quotes = t.numbered, false, false
		return
	}
	trimmed := strings.TrimSpace(line)
	s.ended = s.ended || s.numbered && !s.inCode && trimmed != "" && line[0] != ' ' && line[0] != '\t' && line[0] != '-' && line[0] != '*'
	if s.ended {
		return
	}
	if s.numbered {
		// What is below a number is indented by its width.
		line = strings.TrimPrefix(line, "   ")
	}
	if s.holds == kindRequest && !s.inCode && !strings.HasPrefix(trimmed, "```") {
		if body, _ := listItem(trimmed + " "); contentUpTo(body, 1) > 0 {
			s.request = append(s.request, oneLine(body))
		}
		return
	}
	if s.holds == kindFile && !s.inCode && s.belowFile(line) {
		return
	}
	s.previousReader.line(line)
}

// belowFile reads a line that is about the file that the item above it names. It returns false for other lines.
func (s *summaryReader) belowFile(line string) bool {
	body, listed := listItem(strings.TrimSpace(line) + " ")
	if !listed {
		return false
	}
	if line[0] != ' ' && line[0] != '\t' {
		s.file = ""
		path, _, _ := strings.Cut(strings.Trim(body, "*: "), " ")
		if path = strings.Trim(path, "`*:"); looksLikeFile(path) {
			s.file = path
		}
		return false
	}
	if s.file == "" {
		return false
	}
	about := &item{kind: kindFact, text: oneLine("`" + s.file + "`: " + body), cites: slices.Clone(s.from)}
	value, _ := density(body)
	about.score = 3 + value
	s.l.add(about)
	return true
}

// forgetSummary removes the statements of the summary that a message had, but for what the user wants.
func (l *ledger) forgetSummary() {
	if !l.summarized {
		return
	}
	of := func(it *item) bool { return len(it.cites) == 1 && it.cites[0] == l.summary && it.kind != kindRule }
	for k := range l.lists {
		l.lists[k] = slices.DeleteFunc(l.lists[k], func(it *item) bool {
			if of(it) {
				delete(l.byKey, indexKey(it.kind, it.keyed()))
			}
			return of(it)
		})
	}
	l.errors = slices.DeleteFunc(l.errors, of)
	l.todos = slices.DeleteFunc(l.todos, of)
}

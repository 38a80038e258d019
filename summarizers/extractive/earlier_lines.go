package extractive

import (
	"slices"
	"strings"
	"unicode"

	"github.com/compactord/compactord/session/quotation"
)

// earlierSummary is a summary of earlier work that another tool wrote. It keeps its own structure: a digest shows its
// lines in their order, indented below a line that says where they are from.
type earlierSummary struct {
	// cites is the message that has it; empty if it was the previous summary.
	cites []uint32
	lines []*item
	// leads are the lines that lead to the next one, the outermost first, and holds is what its section is about.
	leads []*item
	holds kind
}

// fromEarlier is the line above an earlier summary, before its citation.
const fromEarlier = "From an earlier summary:"

// earlierMargin is how far all its lines are indented, so far that none can be a heading of the digest, and maxIndent
// how far one is in itself at most.
const (
	earlierMargin = "    "
	maxIndent     = 12
)

// maxEarlierLines is how many lines are kept. The budget chooses among them later.
const maxEarlierLines = 2000

// add adds a line below those that lead to it: the title of its section, and lines that end in a colon and are indented
// less.
func (e *earlierSummary) add(it *item) {
	if !strings.ContainsFunc(it.text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) || len(e.lines) >= maxEarlierLines {
		return
	}
	title := it.isTitle()
	if title {
		e.holds = meaningOf(it.text)
	} else if it.score == 0 {
		it.score = e.worth(it.text)
	}
	for n := len(e.leads); n > 0 && (title || !e.leads[n-1].isTitle() && e.leads[n-1].indent >= it.indent); n-- {
		e.leads = e.leads[:n-1]
	}
	if n := len(e.leads); n > 0 {
		it.under = e.leads[n-1]
	}
	if title || endsInColon(it.text) && units(it.text) <= maxTitle {
		e.leads = append(e.leads, it)
	}
	it.kind, it.cites, it.seq = kindEarlier, slices.Clone(e.cites), len(e.lines)
	e.lines = append(e.lines, it)
}

// worths are what lines of an earlier summary are worth by what their section is about, and codeWorth what a line of code
// is. Chosen by hand: what the user wants and where the work stands matters most, and most of the rest can be read again
// where it is.
var worths = [kinds]int{
	kindRequest: 10, kindRule: 12, kindDone: 6, kindDoing: 12, kindError: 8, kindDecision: 9, kindNext: 12, kindFact: 6, kindFile: 5,
}

const codeWorth = 1

// worth rates a line among those of its summary.
func (e *earlierSummary) worth(text string) int {
	value, _ := density(text)
	worth := worths[e.holds] + min(value, 4)
	var cues cueReader
	if cues.read(text)&cueMust != 0 {
		worth += 4
	}
	return worth
}

// isTitle says whether a line of an earlier summary is the title of a section.
func (it *item) isTitle() bool {
	return it.indent == 0 && endsInColon(it.text) && units(it.text) <= maxTitle && strings.IndexByte("-*+", it.text[0]) < 0
}

// statements returns the lines but for titles and those that lead to others.
func (e *earlierSummary) statements() []*item {
	if e == nil {
		return nil
	}
	leads := map[*item]bool{}
	for _, it := range e.lines {
		leads[it.under] = true
	}
	return slices.DeleteFunc(slices.Clone(e.lines), func(it *item) bool { return leads[it] || it.isTitle() })
}

// earlierLines returns the lines of an earlier summary that were chosen, each with those that lead to it.
func earlierLines(list []chosen) (lines []string) {
	shown := map[*item]bool{}
	for _, c := range list {
		if c.it.kind != kindEarlier {
			continue
		}
		if lines == nil {
			lines = []string{"- " + fromEarlier + citation(c.it.cites)}
		}
		var leads []*item
		for above := c.it.under; above != nil && !shown[above]; above = above.under {
			leads, shown[above] = append(leads, above), true
		}
		for _, above := range slices.Backward(leads) {
			lines = append(lines, above.indentation()+escapeCitations(above.text))
		}
		lines = append(lines, c.it.indentation()+escapeCitations(c.text()))
	}
	return lines
}

// indentation returns what stands before a line of an earlier summary.
func (it *item) indentation() string { return earlierMargin + strings.Repeat(" ", it.indent) }

// earlier reads a line of an earlier summary that a digest has. It returns false for other lines.
func (p *previousReader) earlier(line, trimmed string) bool {
	if rest, ok := strings.CutPrefix(trimmed, "- "+fromEarlier); ok {
		if rest, cites := splitCitation(rest); rest == "" {
			p.inEarlier = true
			p.l.earlier = &earlierSummary{cites: slices.DeleteFunc(cites, func(c uint32) bool { return c >= p.next })}
			return true
		}
	}
	own, ok := strings.CutPrefix(line, earlierMargin)
	if p.inEarlier = p.inEarlier && ok && trimmed != ""; !p.inEarlier {
		return false
	}
	it := earlierLine(quotation.Defuse(own))
	it.text, it.carried = unescapeCitations(it.text), true
	p.l.earlier.add(it)
	return true
}

// earlierLine returns a line as an item.
func earlierLine(line string) *item {
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	return &item{text: oneLine(line), indent: min(indent, maxIndent)}
}

// earlierReader reads a summary of another tool.
type earlierReader struct {
	summary *earlierSummary
	// wanted says that what it says about the request is put into request.
	wanted  bool
	request []string
	// rules are the lines of a section of constraints.
	rules []string
	// begun says that the words before the summary have ended.
	begun bool
	// holds is what the section is about.
	holds kind
	// numbered says that sections are numbered, so that the lines below them are indented. ended says that text follows that
	// belongs to none.
	numbered, ended bool
	inCode          bool
	// margin is how far the lines of a section in a tag are indented; inTag before the first of them.
	margin int
}

const inTag = -1

func (e *earlierReader) line(line string) {
	trimmed := strings.TrimSpace(line)
	if strings.HasPrefix(trimmed, "```") {
		e.inCode = !e.inCode
		return
	}
	// A block of code that was cut off does not end.
	if t, ok := titleAt(line); ok && (!e.inCode || e.numbered && t.numbered) {
		e.inCode = false
		e.title(t, trimmed)
		return
	}
	if strings.HasPrefix(trimmed, "<") && strings.HasSuffix(trimmed, ">") && (!strings.Contains(trimmed, " ") || strings.HasPrefix(trimmed, "<!--")) && !e.inCode {
		// Models also put sections into tags.
		if name := openingTag(trimmed); name != "" {
			e.title(titled{title: name}, trimmed)
			e.margin = inTag
		}
		return
	}
	line = quotation.Defuse(line)
	e.begun = e.begun || trimmed == ""
	if !e.begun || trimmed == "" || trimmed == none || isRuler(trimmed) {
		return
	}
	unindented := line[0] != ' ' && line[0] != '\t' && line[0] != '-' && line[0] != '*'
	if e.ended = e.ended || e.numbered && !e.inCode && unindented; e.ended {
		return
	}
	if e.wanted && e.holds == kindRequest && !e.inCode {
		if body, _ := listItem(trimmed + " "); contentUpTo(body, 1) > 0 {
			e.request = append(e.request, oneLine(quotation.Defuse(body)))
		}
		return
	}
	if e.holds == kindRule && !e.inCode {
		body, _ := listItem(trimmed + " ")
		e.rules = append(e.rules, oneLine(quotation.Defuse(body)))
		return
	}
	it := earlierLine(line)
	if e.margin == inTag {
		e.margin = it.indent
	}
	it.indent -= min(it.indent, e.margin)
	if e.inCode {
		it.score = codeWorth
	}
	e.summary.add(it)
}

// title reads the title of a section. It is shown with a colon: a heading would look like one of the digest's.
func (e *earlierReader) title(t titled, line string) {
	e.margin = 0
	e.begun, e.ended, e.numbered, e.holds = true, false, t.numbered, meaningOf(t.title)
	text := t.title + ":"
	if t.numbered {
		text = strings.ReplaceAll(line, "**", "")
	}
	e.summary.add(&item{text: oneLine(quotation.Defuse(text))})
}

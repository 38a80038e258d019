package extractive

import (
	"cmp"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/quotation"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// carry reads a previous summary into the ledger. It recognizes lines that render wrote. In a model's summary it takes
// each line as a statement of the kind that the heading suggests: by the summary's sections if they are known,
// otherwise by the words of the heading. A line that cannot be parsed is kept unchanged.
func (l *ledger) carry(g *guard, text string, sections []*compactordv1.Section, next uint32) {
	if text == "" {
		return
	}
	if len(sections) == 0 && len(summarizers.Citations(text)) == 0 && isEarlierSummary(text) && !layoutOf(summarizers.History, nil).hasSections(text) {
		g.try(summarizers.StagePrevious, 0, func() { l.carryEarlier(text) })
		return
	}
	p := previousReader{l: l, next: next, holds: kindFact, quotes: true}
	if len(sections) > 0 {
		g.try(summarizers.StagePrevious, 0, func() { p.titled = layoutOf(summarizers.History, sections).titled() })
	}
	for text != "" {
		var line string
		line, text = firstLine(text)
		if !g.try(summarizers.StagePrevious, 0, func() { p.line(line) }) {
			g.try(summarizers.StagePrevious, 0, func() { l.keepLine(line, p.holds) })
		}
	}
	for _, settle := range []func(){p.flush, func() { l.resolveCarried(); l.mergeCarried(); l.mergeCarriedTodos() }, l.markCarriedLast} {
		g.try(summarizers.StagePrevious, 0, settle)
	}
}

// keepLine keeps a line of a previous summary unchanged, unless it is a heading.
func (l *ledger) keepLine(line string, holds kind) {
	body, cites := splitCitation(clip(line, maxLine))
	if strings.HasPrefix(body, "#") || body == none {
		return
	}
	it := &item{kind: holds, text: shorten(oneLine(quotation.Defuse(strings.TrimPrefix(body, "- "))), maxRule), score: 4, carried: true}
	if !keptByItself[holds] {
		it.kind = kindFact
	}
	it.addCites(cites...)
	l.add(it)
}

// keptByItself are the kinds that the ledger keeps in `lists`.
var keptByItself = [kinds]bool{
	kindRule: true, kindDone: true, kindDoing: true, kindDecision: true, kindNext: true, kindFact: true,
}

// mergeCarried sorts the requests by age. In a summary the goal comes first, whatever its age.
func (l *ledger) mergeCarried() {
	slices.SortStableFunc(l.requests, func(a, b *item) int { return cmp.Compare(a.oldest(), b.oldest()) })
	said := l.requests
	l.requests = nil
	for _, it := range said {
		it = l.request(it)
		l.hold(it, l.statements(it))
	}
	for _, it := range l.lists[kindRule] {
		if it.by == byUser && isShort(it) {
			l.hold(it, l.statements(it))
		}
	}
}

// markCarriedLast finds the last request. If no line is labelled as it, the goal is the last request.
func (l *ledger) markCarriedLast() {
	marked := false
	var newest *item
	for _, it := range l.requests {
		marked = marked || it.last
		if newest == nil || it.newest() >= newest.newest() {
			newest = it
		}
	}
	if !marked && newest != nil {
		newest.last = true
	}
}

// mergeCarriedTodos leaves each to-do once, as the later of two texts says. One text can list as open what the other one
// says is done.
func (l *ledger) mergeCarriedTodos() {
	later := map[string]*item{}
	for _, it := range l.todos {
		if known := later[it.keyed()]; known != nil {
			it.addCites(known.cites...)
		}
		later[it.keyed()] = it
	}
	l.todos = slices.DeleteFunc(l.todos, func(it *item) bool {
		done := l.byKey[indexKey(kindDone, it.keyed())]
		return later[it.keyed()] != it || done != nil && done.newest() >= it.newest()
	})
}

// previousReader reads a previous summary line by line.
type previousReader struct {
	l *ledger
	// next is the index of the first message after that summary. Numbers from there on are no citations of messages.
	next uint32
	// titled are the sections of that summary, by the keys of their titles.
	titled map[string]section
	// holds is the kind of lines below the current heading. headed says that there was a heading.
	holds  kind
	headed bool
	// fixed says that errors below the current heading may already be fixed.
	fixed bool
	// code collects a code block, which becomes one item.
	code   []string
	inCode bool
	// goal says that the goal was read.
	goal bool
	// quotes says that quotes can stand below the current heading.
	quotes bool
	// quoting says that the next lines quote the message quoted, in the form form.
	quoting bool
	form    quoteForm
	quoted  uint32
	// leading is the citation that a list item begins with. The indented lines below it have it, too.
	leading []uint32
	// inEarlier says that the next lines are of an earlier summary.
	inEarlier bool
	// parent is an item that ends in a colon. The indented items after it belong to it.
	parent string
}

// maxLine is how much of a line is read, which is more than render writes.
const maxLine = 64 << 10

func (p *previousReader) line(line string) {
	line = clip(line, maxLine)
	trimmed := strings.TrimSpace(line)
	if p.goesOnQuoting(line, trimmed) || p.earlier(line, trimmed) {
		return
	}
	if strings.HasPrefix(trimmed, "```") {
		if p.inCode {
			p.flush()
		}
		p.inCode = !p.inCode
		return
	}
	if p.inCode {
		if len(p.code) < 64 && trimmed != "" {
			p.code = append(p.code, strings.TrimRight(line, "\r"))
		}
		return
	}
	switch {
	case trimmed == "" || trimmed == none || trimmed == "- "+none || isRuler(trimmed):
		return
	case strings.HasPrefix(trimmed, "#"):
		p.heading(strings.TrimLeft(trimmed, "#"))
		return
	case strings.HasPrefix(trimmed, "**") && strings.HasSuffix(strings.TrimRight(trimmed, ":："), "**") && strings.Count(trimmed, "**") == 2:
		p.heading(strings.Trim(trimmed, "*:："))
		return
	case strings.HasPrefix(trimmed, "<") && strings.HasSuffix(trimmed, ">") && !strings.Contains(trimmed, " "):
		// Models also put sections into tags.
		if !strings.HasPrefix(trimmed, "</") {
			p.heading(strings.Trim(trimmed, "<>"))
		}
		return
	}
	indented := line[0] == ' ' || line[0] == '\t'
	if p.quote(trimmed) {
		return
	}
	body, listed := listItem(trimmed)
	if !indented || !listed {
		p.parent = ""
	}
	// Earlier versions, models and other tools stored it as it was said.
	p.item(quotation.Defuse(body), listed, indented)
}

// goesOnQuoting reads a line below a quote: another quote of the message, whatever it begins with. One with a citation of
// its own is none.
func (p *previousReader) goesOnQuoting(line, trimmed string) bool {
	if !p.quoting || p.inCode || trimmed == "" || !strings.HasPrefix(line, p.form.next) {
		return false
	}
	if p.form.next == quotation.Mark {
		trimmed = trimmed[min(len(trimmed), len(quotation.Mark)):]
		if _, _, _, cites := spanAt(trimmed); cites {
			return false
		}
	} else if body, listed := listItem(trimmed); listed {
		if _, cites := splitCitation(body); len(cites) > 0 {
			return false
		}
	}
	p.addQuote(trimmed)
	return true
}

// addQuote adds a quote of the message that is quoted.
func (p *previousReader) addQuote(text string) {
	if p.l.again[p.quoted] {
		return
	}
	p.l.quote(p.l.quotes)(evidence.Piece{
		Message: p.quoted, Voice: evidence.Quoted, Text: p.form.read(text), ByTool: p.form.next == quotation.Mark,
	})
}

// quote reads a line that begins quotes. It returns false if it is none.
func (p *previousReader) quote(line string) bool {
	p.quoting = false
	body, form, marked := openQuote(line)
	first, last, rest, ok := spanAt(body)
	byTool := form.next == quotation.Mark
	if !ok || !marked || !p.quotes && !byTool {
		return false
	}
	if last >= p.next {
		// A tool's words become no statement.
		return byTool
	}
	if r, inFolder, ok := resultsIn(rest); ok {
		p.l.newest = max(p.l.newest, last)
		r.first, r.last = first, last
		if inFolder {
			p.l.carryFolder(r)
		} else {
			p.l.returned(r)
		}
		return true
	}
	file, tells := readFileLine(rest)
	if !tells && !hasName(form.read(rest)) {
		return byTool
	}
	p.l.newest = max(p.l.newest, last)
	p.quoting, p.quoted, p.form = true, last, form
	if tells && first == last {
		p.l.sourceFiles[last] = form.decode(file)
		return true
	}
	if names, ok := strings.CutPrefix(rest, namesOnly); ok {
		p.quoting = false
		chosenAnew := p.l.again[first] && p.l.again[last]
		if !chosenAnew && (!p.l.silent || form.next != quotation.Mark) {
			p.l.quotes.AddNames(first, last, form.decode(names))
		}
		return true
	}
	p.addQuote(rest)
	return true
}

// hasName says whether a text has a name. Each quote has one.
func hasName(text string) bool {
	found := false
	evidence.Names(text, func(evidence.Name, int) { found = true })
	return found
}

func (p *previousReader) heading(title string) {
	p.quoting, p.leading = false, nil
	p.holds, p.headed, p.parent = meaningOf(title), true, ""
	p.quotes = p.holds == kindFact
	if known, ok := p.titled[session.TitleKey(title)]; ok {
		p.holds, p.quotes = known.holds, known.quotes
	}
	p.fixed = p.holds == kindError && containsAnyCase(title, "fix")
}

// flush ends a code block.
func (p *previousReader) flush() {
	if len(p.code) > 0 {
		text := shorten(oneLine(quotation.Defuse(strings.Join(p.code, "\n"))), maxRule)
		p.l.add(&item{kind: kindFact, text: text, score: 4, carried: true})
		p.code = nil
	}
}

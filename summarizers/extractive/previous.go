package extractive

import (
	"cmp"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
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
	p := previousReader{l: l, next: next, holds: kindFact, quotes: true}
	if len(sections) > 0 {
		g.try(summarizers.StagePrevious, 0, func() { p.titled = layoutOf(summarizers.History, sections).titled() })
	}
	for text != "" {
		line := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		if !g.try(summarizers.StagePrevious, 0, func() { p.line(line) }) {
			g.try(summarizers.StagePrevious, 0, func() { l.keepLine(line, p.holds) })
		}
	}
	for _, settle := range []func(){p.flush, func() { l.resolveCarried(); l.mergeCarried() }, l.markCarriedLast} {
		g.try(summarizers.StagePrevious, 0, settle)
	}
}

// keepLine keeps a line of a previous summary unchanged, unless it is a heading.
func (l *ledger) keepLine(line string, holds kind) {
	body, cites := splitCitation(clip(line, maxLine))
	if strings.HasPrefix(body, "#") || body == none {
		return
	}
	it := &item{kind: holds, text: shorten(oneLine(strings.TrimPrefix(body, "- ")), maxRule), score: 4, carried: true}
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
		if it = l.request(it); units(it.text) <= maxSaid {
			l.watch(it)
		}
	}
	for _, it := range l.lists[kindRule] {
		if it.by == byUser && units(it.text) <= maxSaid {
			l.watch(it)
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
	// from is the message that holds the summary, if another tool wrote it. All its lines cite that.
	from []uint32
	// quotes says that quotes can stand below the current heading.
	quotes bool
	// quoting says that indented lines quote the message quoted.
	quoting bool
	quoted  uint32
	// leading is the citation that a list item begins with. The indented lines below it have it, too.
	leading []uint32
	// parent is an item that ends in a colon. The indented items after it belong to it.
	parent string
}

// maxLine is how much of a line is read, which is more than render writes.
const maxLine = 64 << 10

func (p *previousReader) line(line string) {
	line = clip(line, maxLine)
	trimmed := strings.TrimSpace(line)
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
	body, listed := listItem(trimmed)
	if p.quote(body, listed, indented) {
		return
	}
	if !indented || !listed {
		p.parent = ""
	}
	p.item(body, listed, indented)
}

// quote reads a line of quotes. It returns false if it is none.
func (p *previousReader) quote(body string, listed, indented bool) bool {
	if p.quoting && indented && !listed {
		p.l.quotes.Add(evidence.Piece{Message: p.quoted, Voice: evidence.Quoted, Text: unescape(body)})
		return true
	}
	p.quoting = false
	first, last, rest, ok := spanAt(body)
	if !ok || !listed || !p.quotes || last >= p.next {
		return false
	}
	if tool, count, ok := resultsIn(rest); ok {
		p.l.newest = max(p.l.newest, last)
		p.l.returned(results{tool: tool, count: count, first: first, last: last})
		return true
	}
	if !hasName(rest) {
		return false
	}
	p.l.newest = max(p.l.newest, last)
	if names, ok := strings.CutPrefix(rest, namesOnly); ok {
		p.l.quotes.AddNames(first, last, unescape(names))
		return true
	}
	p.quoting, p.quoted = true, last
	p.l.quotes.Add(evidence.Piece{Message: last, Voice: evidence.Quoted, Text: unescape(rest)})
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

// saysFixed says whether a model's line about an error says that the error is fixed.
func saysFixed(line string) bool {
	if containsAnyCase(line, "not yet") || containsAnyCase(line, "still") {
		return false
	}
	for _, word := range []string{"fixed", "fix:", "resolved", "solved"} {
		if containsAnyCase(line, word) {
			return !containsAnyCase(line, "not "+word) && !containsAnyCase(line, "un"+word)
		}
	}
	return strings.Contains(line, "已修复") || strings.Contains(line, "已解决")
}

// flush ends a code block.
func (p *previousReader) flush() {
	if len(p.code) > 0 {
		text := shorten(oneLine(strings.Join(p.code, "\n")), maxRule)
		p.l.add(&item{kind: kindFact, text: text, cites: p.from, score: 4, carried: p.from == nil})
		p.code = nil
	}
}

// item reads one line.
func (p *previousReader) item(body string, listed, indented bool) {
	state, boxed, body := checkbox(body)
	body, cites := splitCitation(body)
	switch first, rest := leadingCitation(body); {
	case len(cites) > 0:
		p.leading = nil
	case len(first) > 0:
		p.leading = first
		body, cites = rest, first
	case !listed && indented:
		cites = p.leading
	}
	cites = slices.DeleteFunc(slices.Clone(cites), func(c uint32) bool { return c >= p.next })
	if p.from != nil {
		cites = slices.Clone(p.from)
	}
	it := &item{kind: p.holds, cites: cites, carried: p.from == nil}
	for _, c := range cites {
		p.l.newest = max(p.l.newest, c)
	}
	labelled := false
	if !boxed || state == openBox {
		for _, lb := range labels {
			if rest, ok := strings.CutPrefix(body, lb.text); ok && lb.meant(p.holds) {
				it.kind, it.last, it.noise, it.passing, it.settled = lb.kind, lb.last, lb.noise, lb.passing, lb.settled
				body, labelled = rest, true
				break
			}
		}
	}
	if it.kind == kindRule {
		for by, voice := range voices {
			if rest, ok := strings.CutPrefix(body, voice); ok && voice != "" {
				it.by, body = speaker(by), rest
			}
		}
	}
	if body == none {
		return
	}
	body, it.changes, it.changed = readRemark(body)
	it.text = oneLine(unescape(body))
	if it.text == "" {
		return
	}
	if p.parent != "" && !labelled {
		it.text = p.parent + " " + it.text
	} else if listed && (len(cites) == 0 || p.from != nil) && endsInColon(it.text) && units(it.text) < 120 {
		p.parent = it.text
		return
	}
	if boxed {
		p.todo(it, state)
		return
	}
	p.keep(it, labelled)
}

// todo stores a to-do item.
func (p *previousReader) todo(it *item, state box) {
	it.box = state
	if state == doneBox {
		it.kind, it.score = kindDone, 6
		p.l.add(it)
		return
	}
	if it.kind != kindDoing {
		it.kind = kindNext
	}
	p.l.todos = append(p.l.todos, it)
}

// keep stores an item according to its kind.
func (p *previousReader) keep(it *item, labelled bool) {
	var cues cueReader
	value, _ := density(it.text)
	switch it.kind {
	case kindRequest:
		it.goal = !labelled && !p.goal
		p.goal = p.goal || it.goal
		p.l.requests = append(p.l.requests, it)
		return
	case kindRule:
		it.tier = ruleTier(it.text, cues.read(it.text), it.by)
	case kindError:
		if p.fixed && !labelled && (p.from != nil || !strings.HasPrefix(it.text, "`") && saysFixed(it.text)) {
			it.kind, it.score = kindFact, 4+value
			break
		}
		it.score = 6
		it.carryFailure()
		p.l.errors = append(p.l.errors, it)
		return
	case kindFile:
		if p.file(it) {
			return
		}
		it.kind, it.score = kindFact, 4+value
	case kindDoing:
		if it.passing || strings.HasPrefix(it.text, waitsFor) {
			// This step is older than the messages that are read now, so it is the last one only if there are none.
			p.l.lastStep = it
			return
		}
		it.score = 4
	case kindFact:
		if !p.headed && !labelled {
			// Without headings, a line's kind must be recognized by its words.
			if found := cues.read(it.text); found&cueMust != 0 {
				it.kind, it.tier = kindRule, tierMust
				break
			}
		}
		it.score = 4 + value
	case kindDecision:
		it.score = 6 + min(value, 4)
	case kindDone:
		it.score = 4 + min(value, 4)
		if rest, ok := strings.CutPrefix(it.text, ranPrefix); ok {
			if shown, _, ok := strings.Cut(rest, "`"); ok {
				it.score = 3
				if milestone(shown) {
					it.score = 7
				}
				p.l.commands["`"+shown+"`"] = it
				return
			}
		}
		if isStepLine(it.text) {
			it.score = stepScore
			p.l.commands[stepKey] = it
			return
		}
	default:
		it.score = 4 + min(value, 4)
	}
	p.l.add(it)
}

// file reads a line about a file. It returns false if it is none.
func (p *previousReader) file(it *item) bool {
	var path, rest string
	text := strings.TrimPrefix(it.text, "**")
	if strings.HasPrefix(text, "`") {
		var ok bool
		if path, rest, ok = strings.Cut(text[1:], "`"); !ok {
			return false
		}
	} else {
		path, rest, _ = strings.Cut(text, " ")
		path = strings.Trim(path, ":,*")
	}
	if !looksLikeFile(path) && !strings.HasPrefix(text, "`") {
		return false
	}
	if strings.TrimSpace(rest) == wording.PathsBegin {
		p.l.workIn(path, carriedRoot, true, it.oldest())
		return true
	}
	rest = strings.TrimLeft(rest, "* :-—–(")
	modified := false
	if after, ok := strings.CutPrefix(rest, stateModified); ok {
		modified, rest = true, after
	} else if after, ok := strings.CutPrefix(rest, stateRead); ok {
		rest = after
	}
	f := p.l.touch(path, modified, strings.TrimLeft(rest, " :;"), it.cites...)
	if f != nil {
		f.carried = true
	}
	return true
}

// The states of a file in a summary.
const (
	stateModified = "modified"
	stateRead     = "read"
)

// leadingCitation splits off the citation that a line begins with.
func leadingCitation(line string) (cites []uint32, rest string) {
	cites, length := summarizers.CitationAt(line)
	return cites, strings.TrimSpace(line[length:])
}

// splitCitation splits off the citation at the end of a line.
func splitCitation(line string) (body string, cites []uint32) {
	line = strings.TrimSpace(line)
	if !strings.HasSuffix(line, "]") {
		return line, nil
	}
	open := strings.LastIndex(line, "[#")
	if open < 0 {
		return line, nil
	}
	cites, length := summarizers.CitationAt(line[open:])
	if length != len(line)-open {
		return line, nil
	}
	return strings.TrimSpace(line[:open]), cites
}

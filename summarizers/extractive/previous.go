package extractive

import (
	"cmp"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// carry puts a previous summary into the ledger. It reads what render wrote back as it was; of a summary that a model
// wrote it takes each line for a statement of the kind that its heading says: by its sections where they are known, else
// by its words. A line that cannot be read is kept as it stands.
func (l *ledger) carry(g *guard, text string, sections []*compactordv1.Section) {
	if text == "" {
		return
	}
	p := carrier{l: l, holds: kindFact}
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
	for _, settle := range []func(){p.flush, l.mergeCarried, l.markCarriedLast} {
		g.try(summarizers.StagePrevious, 0, settle)
	}
}

// keepLine keeps a line of a previous summary as it stands, but for headings.
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

// keptByItself are the kinds of items that the ledger keeps as they are, in a list for each.
var keptByItself = [kinds]bool{
	kindRule: true, kindDone: true, kindDoing: true, kindDecision: true, kindNext: true, kindFact: true,
}

// mergeCarried puts the requests in order: the goal stands first in a summary whenever it was said.
func (l *ledger) mergeCarried() {
	slices.SortStableFunc(l.requests, func(a, b *item) int { return cmp.Compare(a.oldest(), b.oldest()) })
	said := l.requests
	l.requests = nil
	for _, it := range said {
		l.request(it)
	}
}

// markCarriedLast finds the last request: where no line is marked as it, the goal was it.
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

// carrier reads a previous summary line by line.
type carrier struct {
	l *ledger
	// titled are the sections that the summary was written with, by what is recognized of their titles.
	titled map[string]section
	// holds is what lines are below the current heading; headed says that there was one.
	holds  kind
	headed bool
	// fixed says that errors below the heading may have been fixed, by what it says.
	fixed bool
	// code collects a block of code, which becomes one item.
	code   []string
	inCode bool
	// parent is the item that ends in a colon and that indented ones belong to.
	parent string
}

// maxLine is how much of a line of a previous summary is read: more than any line that render writes.
const maxLine = 64 << 10

func (p *carrier) line(line string) {
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
		// Models put sections into tags as well.
		if !strings.HasPrefix(trimmed, "</") {
			p.heading(strings.Trim(trimmed, "<>"))
		}
		return
	}
	indented := line[0] == ' ' || line[0] == '\t'
	body, listed := listItem(trimmed)
	if !indented || !listed {
		p.parent = ""
	}
	p.item(body, listed)
}

func (p *carrier) heading(title string) {
	p.holds, p.headed, p.parent = meaningOf(title), true, ""
	if known, ok := p.titled[session.TitleKey(title)]; ok {
		p.holds = known.holds
	}
	p.fixed = p.holds == kindError && containsFold(title, "fix")
}

// tellsFix says whether a model's line about an error tells that it is one no more.
func tellsFix(line string) bool {
	if containsFold(line, "not yet") || containsFold(line, "still") {
		return false
	}
	for _, word := range []string{"fixed", "fix:", "resolved", "solved"} {
		if containsFold(line, word) {
			return !containsFold(line, "not "+word) && !containsFold(line, "un"+word)
		}
	}
	return strings.Contains(line, "已修复") || strings.Contains(line, "已解决")
}

// flush ends a block of code.
func (p *carrier) flush() {
	if len(p.code) > 0 {
		text := shorten(oneLine(strings.Join(p.code, "\n")), maxRule)
		p.l.add(&item{kind: kindFact, text: text, score: 4, carried: true})
		p.code = nil
	}
}

// item takes in one line.
func (p *carrier) item(body string, listed bool) {
	state, boxed, body := checkbox(body)
	body, cites := splitCitation(body)
	it := &item{kind: p.holds, cites: cites, carried: true}
	for _, c := range cites {
		p.l.newest = max(p.l.newest, c)
	}
	labelled := false
	if !boxed || state == openBox {
		for _, lb := range labels {
			if rest, ok := strings.CutPrefix(body, lb.text); ok && lb.meant(p.holds) {
				it.kind, it.last, it.noise, it.passing = lb.kind, lb.last, lb.noise, lb.passing
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
	it.text = oneLine(unescape(strings.ReplaceAll(body, "**", "")))
	if it.text == "" {
		return
	}
	if p.parent != "" && !labelled {
		it.text = p.parent + " " + it.text
	} else if listed && len(cites) == 0 && endsInColon(it.text) && units(it.text) < 120 {
		p.parent = it.text
		return
	}
	if boxed {
		p.todo(it, state)
		return
	}
	p.keep(it, labelled)
}

// todo takes in an item of a to-do list.
func (p *carrier) todo(it *item, state box) {
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

// keep puts an item where its kind belongs.
func (p *carrier) keep(it *item, labelled bool) {
	var cues cueReader
	value, _ := density(it.text)
	switch it.kind {
	case kindRequest:
		p.l.requests = append(p.l.requests, it)
		return
	case kindRule:
		it.tier = ruleTier(it.text, cues.read(it.text), it.by)
	case kindError:
		if p.fixed && !labelled && !strings.HasPrefix(it.text, "`") && tellsFix(it.text) {
			it.kind, it.score = kindFact, 4+value
			break
		}
		it.score = 6
		if failed, _, ok := strings.Cut(it.text, "` failed: "); ok && strings.HasPrefix(failed, "`") {
			parsed := parseCommand(failed[1:])
			it.command = parsed.key
			// Only words that a later command can repeat are left of a script.
			it.command.once = it.command.once || strings.Contains(failed, "<<")
			it.passing = len(it.cites) > 0 && (it.command.once || parsed.reads)
		} else if tool, rest, ok := strings.Cut(strings.TrimPrefix(it.text, "`"), "` "); ok && strings.Contains(rest, " failed: ") {
			it.tool = tool
			if path, _, ok := strings.Cut(rest, " failed: "); ok && looksLikeFile(path) {
				it.path = path
			} else {
				it.path, _, _ = strings.Cut(it.text, " failed: ")
			}
		}
		if strings.HasPrefix(it.text, modelFailed) {
			it.tool = "model"
		}
		p.l.errors = append(p.l.errors, it)
		return
	case kindFile:
		if p.file(it) {
			return
		}
		it.kind, it.score = kindFact, 4+value
	case kindMarks:
		for word := range strings.SplitSeq(it.text, ", ") {
			if len(it.cites) > 0 {
				p.l.marks.carry(word, it.cites)
			}
		}
		return
	case kindDoing:
		if it.passing {
			// The step before the messages that are read now; only without any of them it is still the last.
			p.l.lastStep = it
			return
		}
		it.score = 4
	case kindFact:
		if !p.headed && !labelled {
			// A text without headings: what it holds has to be recognized by its words.
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
	default:
		it.score = 4 + min(value, 4)
	}
	p.l.add(it)
}

// file reads a line about a file.
func (p *carrier) file(it *item) bool {
	var path, rest string
	if strings.HasPrefix(it.text, "`") {
		var ok bool
		if path, rest, ok = strings.Cut(it.text[1:], "`"); !ok {
			return false
		}
	} else {
		path, rest, _ = strings.Cut(it.text, " ")
		path = strings.TrimRight(path, ":,")
	}
	if !looksLikeFile(path) && !strings.HasPrefix(it.text, "`") {
		return false
	}
	rest = strings.TrimLeft(rest, " :-—–(")
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

// The states of a file, as they are written.
const (
	stateModified = "modified"
	stateRead     = "read"
)

// splitCitation takes the citation off the end of a line.
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

package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// item reads one line.
func (p *previousReader) item(body string, listed, indented bool) {
	state, boxed, body := checkbox(body)
	body, cites := p.citationsOf(body, indented)
	it := &item{kind: p.holds, cites: cites, carried: true}
	for _, c := range cites {
		p.l.newest = max(p.l.newest, c)
	}
	labelled := false
	if !boxed || state == openBox {
		body, labelled = it.readLabel(body)
	}
	if it.kind == kindRule {
		body = it.readVoice(body)
	}
	if body == none {
		return
	}
	body = it.readRemarks(body)
	it.text = oneLine(unescape(body))
	if it.text == "" {
		return
	}
	it.hear(body)
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

// citationsOf splits off the citation of an item: the one at its end, the one that it begins with, or that of the list
// item that it is below.
func (p *previousReader) citationsOf(line string, indented bool) (body string, cites []uint32) {
	body, cites = splitCitation(line)
	switch first, rest := leadingCitation(body); {
	case len(cites) > 0:
		p.leading = nil
	case len(first) > 0:
		p.leading = first
		body, cites = rest, first
	case indented:
		cites = p.leading
	}
	return body, slices.DeleteFunc(slices.Clone(cites), func(c uint32) bool { return c >= p.next })
}

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

// readLabel splits off the label of an item, and sets what it says.
func (it *item) readLabel(line string) (body string, labelled bool) {
	for _, lb := range labels {
		if rest, ok := strings.CutPrefix(line, lb.text); ok && lb.meant(it.kind, rest) {
			it.kind, it.last, it.noise, it.passing, it.end = lb.kind, lb.last, lb.noise, lb.passing, lb.end
			return rest, true
		}
	}
	return line, false
}

// readVoice splits off the words that say whose rule it is.
func (it *item) readVoice(line string) (body string) {
	for by, voice := range voices {
		if rest, ok := strings.CutPrefix(line, voice); ok && voice != "" {
			it.by, line = speaker(by), rest
		}
	}
	return line
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
	p.l.list(it)
}

// keep stores an item according to its kind.
func (p *previousReader) keep(it *item, labelled bool) {
	if !labelled && p.goal && it.isUserStatement() {
		it.kind, it.end, labelled = kindRequest, requestFinished, true
	}
	switch it.kind {
	case kindRequest:
		it.goal, it.endedBefore = !labelled && !p.goal, it.end == requestFinished
		// A second one is that of the turn in progress, with a text of its own.
		it.last = it.last || !labelled && p.goal && !it.goal && p.headed && len(it.cites) > 0
		p.goal = p.goal || it.goal
		p.l.requests = append(p.l.requests, it)
		return
	case kindError:
		if !p.fixed || labelled || strings.HasPrefix(it.text, "`") || !saysFixed(it.text) {
			it.score = 6
			it.carryFailure()
			p.l.errors = append(p.l.errors, it)
			return
		}
		it.kind = kindFact
	case kindFile:
		if p.file(it) {
			return
		}
		it.kind = kindFact
	case kindDoing:
		if it.passing || strings.HasPrefix(it.text, waitsFor) {
			// This step is older than the messages that are read now, so it is the last one only if there are none.
			p.l.lastStep = it
			return
		}
	case kindDone:
		if p.l.carryCommit(it) || p.ran(it) {
			return
		}
	default:
	}
	p.rank(it, labelled)
	p.l.add(it)
}

// isUserStatement says whether a line without a label of ours is a statement of the user with a label of its own.
func (it *item) isUserStatement() bool {
	return it.kind == kindFact && it.heard == nil && len(it.cites) > 0 && isStatement(ownWords(it.text))
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

// rank sets how much an item matters among those of its kind. Without headings, a rule must be recognized by its words.
func (p *previousReader) rank(it *item, labelled bool) {
	var cues cueReader
	value, _ := density(it.text)
	switch it.kind {
	case kindRule:
		it.tier = ruleTier(it.text, cues.read(it.text), it.by)
	case kindDoing:
		it.score = 4
	case kindFact:
		if !p.headed && !labelled && cues.read(it.text)&cueMust != 0 {
			it.kind, it.tier = kindRule, tierMust
			return
		}
		it.score = 4 + value
	case kindDecision:
		it.score = 6 + min(value, 4)
	default:
		it.score = 4 + min(value, 4)
	}
}

// ran reads a line about a command or a step, which a later run replaces. It returns false if it is none.
func (p *previousReader) ran(it *item) bool {
	if rest, ok := strings.CutPrefix(it.text, ranPrefix); ok {
		if shown, outcome, ok := cutSpans(rest); ok {
			key := codeSpans(shown)
			if outcome, ok := strings.CutPrefix(outcome, outcomeMark); ok && it.heard == nil {
				it.hearsOutcome(ranPrefix+key[1:]+outcomeMark, outcome)
			}
			it.score = 3
			if milestone(shown) {
				it.score = 7
			}
			p.l.commands[key] = it
			return true
		}
	}
	if isStepLine(it.text) {
		it.score = stepScore
		p.l.commands[stepKey] = it
		return true
	}
	return false
}

// file reads a line about a file. It returns false if it is none.
func (p *previousReader) file(it *item) bool {
	if p.l.carryScratch(it) {
		return true
	}
	var path, rest string
	text := strings.TrimPrefix(it.text, "**")
	if it.heard != nil && it.heard.before == "" {
		path, rest, text = it.heard.words, it.heard.after, "`"
	} else if strings.HasPrefix(text, "`") {
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
	path, said, rest := joinFolder(path, rest)
	rest = strings.TrimLeft(rest, "* :-—–(")
	modified := false
	if after, ok := strings.CutPrefix(rest, stateModified); ok {
		modified, rest = true, after
	} else if after, ok := strings.CutPrefix(rest, stateRead); ok {
		rest = after
	}
	f := p.l.touchSaid(path, said, modified, it.cites...)
	if f != nil {
		f.carried = true
		if why := strings.TrimLeft(rest, " :;"); why != "" && modified == f.modified {
			f.why = why
		}
	}
	return true
}

// The states of a file in a summary.
const (
	stateModified = "modified"
	stateRead     = "read"
)

// inFolder stands between the end of a file's path and the folder that it begins in.
const inFolder = " in "

// joinFolder joins the end of a path and the folder that a line names after it. It also returns that end, if there is a
// folder, and what follows in the line.
func joinFolder(end, rest string) (path, said, state string) {
	if after, ok := strings.CutPrefix(rest, inFolder+"`"); ok {
		if dir, state, ok := strings.Cut(after, "`"); ok {
			return inDirectory(dir, end), end, state
		}
	}
	return end, "", rest
}

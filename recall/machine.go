package recall

import (
	"context"
	"errors"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// machine matches an expression with a line, and can stop anywhere and go on later, which package regexp cannot.
// It follows all ways through the expression at once, those that are preferred first, and so takes at most as many steps
// for a character as the expression has instructions.
type machine struct {
	pattern *Pattern
	line    string
	work    *Work
	// now has the ways up to this place, next those up to the place after the next character.
	now, next ways
	// steps are those that were not told to work yet.
	steps int
}

// way is a way through the expression that has got to an instruction. start is where its match begins.
type way struct {
	at    uint32
	start int
}

// ways are ways to different instructions, the preferred ones first.
type ways struct {
	order []way
	// position is each instruction's place in order, if it has one.
	position []uint32
}

func (w *ways) has(at uint32) bool {
	i := w.position[at]
	return int(i) < len(w.order) && w.order[i].at == at
}

func (w *ways) put(at uint32, start int) {
	w.position[at] = uint32(len(w.order))
	w.order = append(w.order, way{at, start})
}

// paused is where a search stopped within a line: before which byte, and which instructions the ways had got to, the
// first of which begins at start.
type paused struct {
	at, start    int
	instructions []uint32
}

// stepsPerReport is how many steps the machine takes between two reports to Work.
const stepsPerReport = 1 << 12

func newMachine(p *Pattern, line string, work *Work) *machine {
	n := len(p.program.Inst)
	return &machine{
		pattern: p, line: line, work: work,
		now: ways{position: make([]uint32, n)}, next: ways{position: make([]uint32, n)},
	}
}

// run returns the first match from a place on; from is nil at the beginning of the line. Where the work is over, it
// returns where to go on, and errOver.
func (m *machine) run(ctx context.Context, from *paused) (match span, found bool, stopped *paused, err error) {
	at, before := 0, rune(-1)
	if from != nil {
		at, before = from.at, runeBefore(m.line, from.at)
		for _, instruction := range from.instructions {
			m.now.put(instruction, from.start)
		}
	}
	for {
		if err := m.report(ctx); err != nil {
			if found && errors.Is(err, errOver) {
				// The match may be longer, but it is one.
				return match, true, nil, nil
			}
			return span{}, false, m.pause(at, from), err
		}
		if !found && len(m.now.order) == 0 {
			if at = m.skip(at); at < 0 {
				return span{}, false, nil, nil
			}
			before = runeBefore(m.line, at)
		}
		current, width := runeAt(m.line, at)
		if !found {
			m.follow(&m.now, uint32(m.pattern.program.Start), at, syntax.EmptyOpContext(before, current))
		}
		after, _ := runeAt(m.line, at+width)
		if start := m.step(current, syntax.EmptyOpContext(current, after)); start >= 0 {
			match, found = span{start, at}, true
		}
		m.now, m.next = m.next, m.now
		m.next.order = m.next.order[:0]
		if width == 0 || found && len(m.now.order) == 0 {
			return match, found, nil, nil
		}
		at, before = at+width, current
	}
}

// step takes each way over a character, and returns where the match of the first way begins that is complete before the
// character; -1 where none is.
func (m *machine) step(c rune, empty syntax.EmptyOp) int {
	m.steps += len(m.now.order) + 1
	for _, w := range m.now.order {
		i := &m.pattern.program.Inst[w.at]
		switch i.Op {
		case syntax.InstMatch:
			// The other ways are preferred less.
			return w.start
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if c >= 0 && i.MatchRune(c) {
				m.follow(&m.next, i.Out, w.start, empty)
			}
		default:
		}
	}
	return -1
}

// follow adds the ways that lead on from an instruction without a character, where empty says what holds.
func (m *machine) follow(to *ways, at uint32, start int, empty syntax.EmptyOp) {
	for !to.has(at) {
		m.steps++
		to.put(at, start)
		i := &m.pattern.program.Inst[at]
		switch i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			m.follow(to, i.Out, start, empty)
			at = i.Arg
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^empty != 0 {
				return
			}
			at = i.Out
		case syntax.InstCapture, syntax.InstNop:
			at = i.Out
		default:
			return
		}
	}
}

// skip returns where the next match can begin; -1 where none can.
func (m *machine) skip(at int) int {
	if m.pattern.prefix == "" {
		return at
	}
	next := strings.Index(m.line[at:], m.pattern.prefix)
	if next < 0 {
		return -1
	}
	m.steps += next
	return at + next
}

// report tells the work how many steps were taken.
func (m *machine) report(ctx context.Context) error {
	if m.steps < stepsPerReport {
		return nil
	}
	steps := m.steps
	m.steps = 0
	return m.work.spendTimed(ctx, steps)
}

// pause returns where to go on. If no way has begun before the place where this call began, that is where the first one
// begins: then all is as if the search had never stopped. Else only the instructions are noted, so that later a match
// is found where there is one, while it may begin after start.
func (m *machine) pause(at int, from *paused) *paused {
	began := 0
	if from != nil {
		began = from.at
	}
	if len(m.now.order) == 0 {
		return &paused{at: at, start: at}
	}
	first := m.now.order[0].start
	if first > began {
		return &paused{at: first, start: first}
	}
	stopped := &paused{at: at, start: first}
	for _, w := range m.now.order {
		stopped.instructions = append(stopped.instructions, w.at)
	}
	return stopped
}

func runeAt(line string, at int) (c rune, width int) {
	if at >= len(line) {
		return -1, 0
	}
	return utf8.DecodeRuneInString(line[at:])
}

func runeBefore(line string, at int) rune {
	if at == 0 {
		return -1
	}
	c, _ := utf8.DecodeLastRuneInString(line[:at])
	return c
}

package main

import (
	"fmt"
	"io"
	"strings"
)

// progress tells on stderr how work goes on: on a terminal by a bar that is drawn over and over, else by a line for each
// stage. A nil progress says nothing.
type progress struct {
	out io.Writer
	// bar says whether stderr is a terminal.
	bar bool

	name, unit string
	total      int64
	// drawn is the percentage that the bar shows, -1 where none is drawn.
	drawn int
	// text is what a summary's text has shown.
	text writing
}

// progress returns what tells how the work goes on; with quiet, nothing does.
func (t *terminal) progress(quiet bool) *progress {
	if quiet {
		return nil
	}
	return newProgress(t.stderr, t.errTerminal)
}

// newProgress tells on out how work goes on, by a bar where that is a terminal.
func newProgress(out io.Writer, bar bool) *progress { return &progress{out: out, bar: bar, drawn: -1} }

// stage begins a stage. total is 0 where nobody knows.
func (p *progress) stage(name, unit string, total int64) {
	if p == nil {
		return
	}
	p.clear()
	p.closeText()
	p.name, p.unit, p.total = name, unit, total
	if p.bar {
		p.draw(0)
		return
	}
	fmt.Fprintf(p.out, "%s\n", printable(name))
}

// update says how much of the stage is done.
func (p *progress) update(done int64) {
	if p == nil || !p.bar || p.total == 0 {
		return
	}
	if at := int(min(100, 100*done/p.total)); at != p.drawn {
		p.closeText()
		p.draw(done)
	}
}

// barWidth is how many characters the bar has.
const barWidth = 30

func (p *progress) draw(done int64) {
	if p.total == 0 {
		p.drawn = 0
		fmt.Fprintf(p.out, "\r\x1b[K%s ...", printable(p.name))
		return
	}
	p.drawn = int(min(100, 100*done/p.total))
	full := p.drawn * barWidth / 100
	fmt.Fprintf(p.out, "\r\x1b[K%s%s %3d %%  %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), p.drawn,
		printable(p.name))
}

// clear takes the bar away.
func (p *progress) clear() {
	if p == nil || !p.bar || p.drawn < 0 {
		return
	}
	p.drawn = -1
	fmt.Fprint(p.out, "\r\x1b[K")
}

// say prints a line that stays.
func (p *progress) say(format string, args ...any) {
	if p == nil {
		return
	}
	p.clear()
	p.closeText()
	fmt.Fprintln(p.out, printable(fmt.Sprintf(format, args...)))
}

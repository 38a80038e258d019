package terminal

import (
	"fmt"
	"io"
	"strings"
)

// Progress tells on stderr how work goes on: on a terminal by a bar that is drawn over and over, else by a line for each
// stage. A nil progress says nothing.
type Progress struct {
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

// Progress returns what tells how the work goes on; with quiet, nothing does.
func (t *Terminal) Progress(quiet bool) *Progress {
	if quiet {
		return nil
	}
	return NewProgress(t.Stderr, t.ErrTerminal)
}

// NewProgress tells on out how work goes on, by a bar where that is a terminal.
func NewProgress(out io.Writer, bar bool) *Progress { return &Progress{out: out, bar: bar, drawn: -1} }

// Stage begins a stage. total is 0 where nobody knows.
func (p *Progress) Stage(name, unit string, total int64) {
	if p == nil {
		return
	}
	p.Clear()
	p.CloseText()
	p.name, p.unit, p.total = name, unit, total
	if p.bar {
		p.draw(0)
		return
	}
	fmt.Fprintf(p.out, "%s\n", Printable(name))
}

// Update says how much of the stage is done.
func (p *Progress) Update(done int64) {
	if p == nil || !p.bar || p.total == 0 {
		return
	}
	if at := int(min(100, 100*done/p.total)); at != p.drawn {
		p.CloseText()
		p.draw(done)
	}
}

// barWidth is how many characters the bar has.
const barWidth = 30

func (p *Progress) draw(done int64) {
	if p.total == 0 {
		p.drawn = 0
		fmt.Fprintf(p.out, "\r\x1b[K%s ...", Printable(p.name))
		return
	}
	p.drawn = int(min(100, 100*done/p.total))
	full := p.drawn * barWidth / 100
	fmt.Fprintf(p.out, "\r\x1b[K%s%s %3d %%  %s", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), p.drawn,
		Printable(p.name))
}

// Clear takes the bar away.
func (p *Progress) Clear() {
	if p == nil || !p.bar || p.drawn < 0 {
		return
	}
	p.drawn = -1
	fmt.Fprint(p.out, "\r\x1b[K")
}

// Say prints a line that stays.
func (p *Progress) Say(format string, args ...any) {
	if p == nil {
		return
	}
	p.Clear()
	p.CloseText()
	fmt.Fprintln(p.out, Printable(fmt.Sprintf(format, args...)))
}

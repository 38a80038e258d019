package terminal

import (
	"fmt"
	"io"
	"strings"
)

// Progress shows on stderr how work goes on: by a bar on a terminal, else by a line for each stage. A nil Progress
// shows nothing.
type Progress struct {
	out io.Writer
	// bar says whether stderr is a terminal.
	bar bool

	name, unit string
	total      int64
	// drawn is the percentage that the bar shows, or -1 if no bar is drawn.
	drawn int
	// text is the summary's text that has been shown.
	text writing
}

// Progress returns a Progress on stderr; nil with quiet.
func (t *Terminal) Progress(quiet bool) *Progress {
	if quiet {
		return nil
	}
	return NewProgress(t.Stderr, t.ErrTerminal)
}

// NewProgress returns a Progress on out, with a bar if out is a terminal.
func NewProgress(out io.Writer, bar bool) *Progress { return &Progress{out: out, bar: bar, drawn: -1} }

// Stage begins a stage. total is 0 where it is unknown.
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

// Update sets how much of the stage is done.
func (p *Progress) Update(done int64) {
	if p == nil || !p.bar || p.total == 0 {
		return
	}
	if at := int(min(100, 100*done/p.total)); at != p.drawn {
		p.CloseText()
		p.draw(done)
	}
}

// barWidth is the width of the bar in characters.
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

// Clear removes the bar.
func (p *Progress) Clear() {
	if p == nil || !p.bar || p.drawn < 0 {
		return
	}
	p.drawn = -1
	fmt.Fprint(p.out, "\r\x1b[K")
}

// Say prints a line, which stays when the bar is redrawn.
func (p *Progress) Say(format string, args ...any) {
	if p == nil {
		return
	}
	p.Clear()
	p.CloseText()
	fmt.Fprintln(p.out, Printable(fmt.Sprintf(format, args...)))
}

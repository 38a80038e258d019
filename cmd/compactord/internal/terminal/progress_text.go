package terminal

import "fmt"

// ShowsText makes Delta show the text of a summary on a terminal.
func (p *Progress) ShowsText() {
	if p != nil {
		p.text.shown = p.bar
	}
}

// writing is the state of a text that is shown as it is written.
type writing struct {
	shown bool
	// attempt is the number of the attempt whose text is shown; 0 if none is.
	attempt uint32
	// said is the text of the attempt so far.
	said []byte
	// open says that the last line of the text has no line break yet.
	open bool
	// parts is the number of requests for the text, and part the number of the current one, from 1. moved says that the
	// current one has ended, so that the next attempt belongs to the next part.
	parts, part uint32
	moved       bool
}

// Expects sets the number of requests.
func (p *Progress) Expects(requests uint32) {
	if p != nil {
		p.text.parts, p.text.part, p.text.moved = requests, 1, false
	}
}

// NextPart says that the current request has ended.
func (p *Progress) NextPart() {
	if p != nil {
		p.text.moved = true
	}
}

// Delta shows text as it is written. A new attempt replaces the text above: it is either the next part of a fold or
// another try.
func (p *Progress) Delta(attempt uint32, text string) {
	if p == nil || !p.text.shown || text == "" {
		return
	}
	t := &p.text
	if attempt != t.attempt {
		p.Clear()
		p.CloseText()
		switch {
		case t.attempt == 0:
		case t.moved && t.part < t.parts:
			t.part++
			fmt.Fprintf(p.out, "\n[part %d of %d, which includes the text above]\n\n", t.part, t.parts)
		default:
			fmt.Fprintf(p.out, "\n[attempt %d replaces the text above]\n\n", attempt)
		}
		t.attempt, t.said, t.moved = attempt, t.said[:0], false
	}
	p.Clear()
	t.said = append(t.said, text...)
	t.open = text[len(text)-1] != '\n'
	fmt.Fprint(p.out, Printable(text))
}

// CloseText ends the last line of the text.
func (p *Progress) CloseText() {
	if p != nil && p.text.open {
		fmt.Fprintln(p.out)
		p.text.open = false
	}
}

// Shown says whether the whole text has been shown.
func (p *Progress) Shown(text string) bool {
	return p != nil && p.text.attempt > 0 && string(p.text.said) == text
}

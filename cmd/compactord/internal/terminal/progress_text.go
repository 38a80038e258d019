package terminal

import "fmt"

// ShowsText has the text of a summary shown as it is written, where a person watches.
func (p *Progress) ShowsText() {
	if p != nil {
		p.text.shown = p.bar
	}
}

// writing is text that is shown as it comes.
type writing struct {
	shown bool
	// attempt is the one whose text is on the terminal; 0 while there is none.
	attempt uint32
	// said is the text of the attempt.
	said []byte
	// open says that the line of the text has no end yet.
	open bool
	// parts is how many requests the text takes, part the one that is shown, from 1. moved says that more of the
	// conversation was taken in since: the next attempt is the next part.
	parts, part uint32
	moved       bool
}

// Expects says how many requests are to come.
func (p *Progress) Expects(requests uint32) {
	if p != nil {
		p.text.parts, p.text.part, p.text.moved = requests, 1, false
	}
}

// TookIn says that more of the conversation was taken in.
func (p *Progress) TookIn() {
	if p != nil {
		p.text.moved = true
	}
}

// Delta shows text as it is written. A new attempt voids what was shown: of a conversation that is read part by part,
// the next text takes it in.
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
			fmt.Fprintf(p.out, "\n[part %d of %d, which takes in what stands above]\n\n", t.part, t.parts)
		default:
			fmt.Fprintf(p.out, "\n[attempt %d: what stands above does not count]\n\n", attempt)
		}
		t.attempt, t.said, t.moved = attempt, t.said[:0], false
	}
	p.Clear()
	t.said = append(t.said, text...)
	t.open = text[len(text)-1] != '\n'
	fmt.Fprint(p.out, Printable(text))
}

// CloseText ends the line of a text.
func (p *Progress) CloseText() {
	if p != nil && p.text.open {
		fmt.Fprintln(p.out)
		p.text.open = false
	}
}

// Told says whether all of a text was shown in the end.
func (p *Progress) Told(text string) bool {
	return p != nil && p.text.attempt > 0 && string(p.text.said) == text
}

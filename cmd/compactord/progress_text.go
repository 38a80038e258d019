package main

import "fmt"

// showsText has the text of a summary shown as it is written, where a person watches.
func (p *progress) showsText() {
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
}

// delta shows text as it is written. A new attempt voids what was shown.
func (p *progress) delta(attempt uint32, text string) {
	if p == nil || !p.text.shown || text == "" {
		return
	}
	t := &p.text
	if attempt != t.attempt {
		p.clear()
		p.closeText()
		if t.attempt > 0 {
			fmt.Fprintf(p.out, "\n[attempt %d: what stands above does not count]\n\n", attempt)
		}
		t.attempt, t.said = attempt, t.said[:0]
	}
	p.clear()
	t.said = append(t.said, text...)
	t.open = text[len(text)-1] != '\n'
	fmt.Fprint(p.out, printable(text))
}

// closeText ends the line of a text.
func (p *progress) closeText() {
	if p != nil && p.text.open {
		fmt.Fprintln(p.out)
		p.text.open = false
	}
}

// told says whether all of a text was shown in the end.
func (p *progress) told(text string) bool {
	return p != nil && p.text.attempt > 0 && string(p.text.said) == text
}

package transcript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Note says what a Reader left out or changed, for people.
type Note struct {
	// Count is how often it happened.
	Count int
	// Text is the whole note, such as `2 _compaction lines left out`.
	Text string
}

// noteText is the text of a note, for one and for many. Where the count does not begin the text, both are whole
// sentences.
type noteText struct {
	one, many string
}

// leftOut returns the note on something that a log cannot hold.
func leftOut(one, many string) noteText {
	return noteText{one: "1 " + one + " left out", many: "%d " + many + " left out"}
}

// maxPlaces bounds the line numbers of a note.
const maxPlaces = 10

// noteCounter counts notes, in the order of their first occurrence.
type noteCounter struct {
	seen   []noteText
	counts map[noteText]int
	places map[noteText][]int
	// strict reports that what cannot be read is refused. skipped is the error of the first record that was skipped.
	strict  bool
	skipped *LineError
}

func (r *noteCounter) add(what noteText) { r.addMany(what, 1) }

// addAt also records the line.
func (r *noteCounter) addAt(what noteText, line int) {
	r.add(what)
	if r.places == nil {
		r.places = make(map[noteText][]int)
	}
	lines := r.places[what]
	// One line more than the note names shows that there are more. A document on one line counts as one.
	if len(lines) <= maxPlaces && !slices.Contains(lines, line) {
		r.places[what] = append(lines, line)
	}
}

func (r *noteCounter) addMany(what noteText, n int) {
	if n == 0 {
		return
	}
	if r.counts == nil {
		r.counts = make(map[noteText]int)
	}
	if r.counts[what] == 0 {
		r.seen = append(r.seen, what)
	}
	r.counts[what] += n
}

func (r *noteCounter) all() []Note {
	notes := make([]Note, 0, len(r.seen))
	for _, what := range r.seen {
		n := r.counts[what]
		text := what.one
		if n > 1 {
			text = fmt.Sprintf(what.many, n)
		}
		if text += placesOf(r.places[what]); what == unreadRecord {
			text += r.firstSkipped()
		}
		notes = append(notes, Note{Count: n, Text: text})
	}
	return slices.Clip(notes)
}

// gaps reports whether lines or records were left out. References to them find nothing.
func (r *noteCounter) gaps() bool {
	return r.counts[brokenLine]+r.counts[unreadRecord]+r.counts[unreadField] > 0
}

// placesOf returns the lines of a note as text.
func placesOf(lines []int) string {
	if len(lines) == 0 {
		return ""
	}
	more := ")"
	if len(lines) > maxPlaces {
		lines, more = lines[:maxPlaces], ", ...)"
	}
	word := " (line "
	if len(lines) > 1 {
		word = " (lines "
	}
	numbers := make([]string, len(lines))
	for i, line := range lines {
		numbers[i] = strconv.Itoa(line)
	}
	return word + strings.Join(numbers, ", ") + more
}

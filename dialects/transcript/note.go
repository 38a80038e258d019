package transcript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Note tells a person about something that a Reader left out or changed.
type Note struct {
	// Count is how often it happened.
	Count int
	// Text is the whole note, such as `2 _compaction lines left out`.
	Text string
}

// remark is what happened, in the words for one and for many. A remark that starts no sentence with its count holds a
// whole sentence in both.
type remark struct {
	one, many string
}

// leftOut is the remark on a kind of thing that has no place in a log.
func leftOut(one, many string) remark {
	return remark{one: "1 " + one + " left out", many: "%d " + many + " left out"}
}

// maxPlaces bounds the line numbers of a note.
const maxPlaces = 10

// remarks counts what happened, in the order of its first time.
type remarks struct {
	seen   []remark
	counts map[remark]int
	places map[remark][]int
	// strict says that what cannot be read is refused, and skipped is the first record that was passed over.
	strict  bool
	skipped *LineError
}

func (r *remarks) add(what remark) { r.addMany(what, 1) }

// addAt tells the line too.
func (r *remarks) addAt(what remark, line int) {
	r.add(what)
	if r.places == nil {
		r.places = make(map[remark][]int)
	}
	lines := r.places[what]
	// One more than is told says that there are more; and a document is one line, whatever happens in it.
	if len(lines) <= maxPlaces && !slices.Contains(lines, line) {
		r.places[what] = append(lines, line)
	}
}

func (r *remarks) addMany(what remark, n int) {
	if n == 0 {
		return
	}
	if r.counts == nil {
		r.counts = make(map[remark]int)
	}
	if r.counts[what] == 0 {
		r.seen = append(r.seen, what)
	}
	r.counts[what] += n
}

func (r *remarks) notes() []Note {
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

// gaps says whether lines or records were passed over: what names one of them finds nothing.
func (r *remarks) gaps() bool {
	return r.counts[brokenLine]+r.counts[unreadRecord]+r.counts[unreadField] > 0
}

// placesOf tells the lines of what happened.
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

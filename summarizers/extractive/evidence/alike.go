package evidence

import (
	"strings"
	"unicode/utf8"
)

// Many lines of a conversation are alike: the same error that each package returns, the rows of a table, the entries of a
// log. After a few of them, the next one says nothing new but its names, and these can be shown alone. Other lines of code
// that are alike are not among them: agents go on to use their names, and need them in their context.
const (
	// mostRows is how many rows of one message are quoted that differ only in values.
	mostRows = 3
	// mostBesides is how many lines that return an error and differ in one name only are all quoted. Of more, one is.
	mostBesides = 3
	// fewestShared is how many other words lines share that differ in one name, and mostWords how many words such a
	// line has.
	fewestShared, mostWords = 4, 48
	// fewestOfNotice is how many words a sentence of a tool has at least beside the names in it. A shorter one costs little
	// more than its names.
	fewestOfNotice = 8
)

// alike counts the lines that are alike.
type alike struct {
	// lines counts all lines of each form, by the lowest bits of its hash. Forms that share a counter only seem to be more
	// frequent.
	lines []uint8
	words lineWords
}

// countAlike counts the lines of a collector that differ in one name.
func (c *Collector) countAlike() *alike {
	size := 1 << 10
	for size < 8*len(c.lines) {
		size *= 2
	}
	a := &alike{lines: make([]uint8, size)}
	for i := range c.lines {
		a.forms(&c.lines[i], func(form uint64) bool {
			if n := &a.lines[form&uint64(size-1)]; *n <= mostBesides {
				*n++
			}
			return true
		})
	}
	return a
}

// forms calls yield for each form that a line shares with those that differ from it in one name, until it returns false.
// Only lines that return or raise an error have such forms, and long sentences that a tool writes around a name.
func (a *alike) forms(l *line, yield func(form uint64) bool) {
	switch {
	case !l.canBeAlike():
	case l.nature == failure && l.voice != User && l.voice != Agent:
		a.words.read(l.text)
		a.words.eachForm(yield)
	case l.byTool:
		if form, ok := l.noticeForm(); ok {
			yield(form)
		}
	}
}

// noticeForm returns the form of a long sentence that a tool writes around names: its other words.
func (l *line) noticeForm() (form uint64, ok bool) {
	if strings.Count(l.text, " ") < fewestOfNotice {
		return 0, false
	}
	words, named := 0, false
	form = hashBasis
	for word := range strings.FieldsSeq(l.text) {
		if !isProse(word) {
			named = true
			continue
		}
		for i := range len(word) {
			form = (form ^ uint64(word[i])) * hashPrime
		}
		form = (form ^ ' ') * hashPrime
		words++
	}
	return form, named && words >= fewestOfNotice
}

// isProse says whether a word between spaces is a word of a sentence and no name: letters, with punctuation around them.
func isProse(word string) bool {
	word = strings.Trim(word, ".,:;!?()")
	for i := range len(word) {
		if !isLetter(word[i]) && word[i] < utf8.RuneSelf && word[i] != '\'' && word[i] != '-' {
			return false
		}
	}
	return word != ""
}

// isFrequent says whether more than a few lines have a form.
func (a *alike) isFrequent(form uint64) bool {
	return a.lines[form&uint64(len(a.lines)-1)] > mostBesides
}

// quotedForms are the forms of the lines that a ranking returned.
type quotedForms struct {
	names map[uint64]bool
	rows  map[rowForm]int
}

// rowForm is the form of a row of a message.
type rowForm struct {
	message uint32
	form    uint64
}

// saysAgain says whether enough lines are quoted that are like this one. Otherwise it counts the line as quoted.
func (q *quotedForms) saysAgain(l *line, a *alike) bool {
	again := false
	a.forms(l, func(form uint64) bool {
		again = q.names[form] && a.isFrequent(form)
		return !again
	})
	row, isRow := l.rowForm()
	if again || isRow && q.rows[row] >= mostRows {
		return true
	}
	a.forms(l, func(form uint64) bool {
		q.names[form] = true
		return true
	})
	if isRow {
		q.rows[row]++
	}
	return false
}

// lineWords are the words of a line and what stands between them, as hashes. Parts of a name, such as Page in
// TestPageSize, are words.
type lineWords struct {
	hashes []uint64
	total  uint64
}

// Constants of FNV-1a, and the hash of a word that is left out.
const (
	hashBasis, hashPrime = 14695981039346656037, 1099511628211
	leftOutHash          = 0x9E3779B97F4A7C15
)

// read reads a line.
func (w *lineWords) read(text string) {
	w.hashes, w.total = w.hashes[:0], hashBasis
	for i := 0; i < len(text); {
		if !isWordLetter(text[i]) {
			w.total = (w.total ^ uint64(text[i])) * hashPrime
			i++
			continue
		}
		hash := uint64(hashBasis)
		start := i
		for ; i < len(text) && isWordLetter(text[i]) && (i < start+2 || !isUpper(text[i]) || isUpper(text[i-1])); i++ {
			hash = (hash ^ uint64(lowerByte(text[i]))) * hashPrime
		}
		w.hashes = append(w.hashes, hash)
		w.total = (w.total ^ 1) * hashPrime
	}
	for i, hash := range w.hashes {
		w.total += placed(hash, i)
	}
}

// eachForm calls yield with the hash of the line without each of its words, until it returns false.
func (w *lineWords) eachForm(yield func(form uint64) bool) {
	if len(w.hashes) > mostWords {
		return
	}
	for i, word := range w.hashes {
		form, times, before := w.total, 0, false
		for k, other := range w.hashes {
			if other == word {
				form += placed(leftOutHash, k) - placed(word, k)
				before = before || k < i
				times++
			}
		}
		if !before && len(w.hashes)-times >= fewestShared && !yield(form) {
			return
		}
	}
}

// placed is the share of a word at a place in the hash of a line.
func placed(hash uint64, at int) uint64 {
	hash = (hash ^ uint64(at+1)*leftOutHash) * hashPrime
	return (hash ^ hash>>29) * leftOutHash
}

func isWordLetter(c byte) bool { return isLetter(c) || isDigit(c) || c >= utf8.RuneSelf }

func lowerByte(c byte) byte {
	if isUpper(c) {
		return c | 0x20
	}
	return c
}

// rowForm returns the form of a row of a table or an entry of a log: what a tool wrote, at least half of it values.
func (l *line) rowForm() (rowForm, bool) {
	if !l.byTool || !l.canBeAlike() {
		return rowForm{}, false
	}
	if bars := strings.Count(l.text, " | "); bars >= 2 {
		return rowForm{l.message, uint64(bars)}, true
	}
	form, words, values := uint64(hashBasis), 0, 0
	for word := range strings.FieldsSeq(l.text) {
		words++
		said, isValue := withoutValue(word)
		if isValue {
			values++
		}
		for i := range len(said) {
			form = (form ^ uint64(said[i])) * hashPrime
		}
		form = (form ^ ' ') * hashPrime
	}
	return rowForm{l.message, form}, values >= 2 && 2*values >= words
}

// withoutValue returns a word of a row without the value in it: `key=` of `key=value`, and nothing of a number, an
// identifier with digits or a code in capitals.
func withoutValue(word string) (said string, isValue bool) {
	if key := strings.IndexByte(word, '='); key > 0 {
		return word[:key+1], true
	}
	capitals, small := 0, 0
	for i := range len(word) {
		switch c := word[i]; {
		case isDigit(c):
			return "", true
		case isUpper(c):
			capitals++
		case isLetter(c) || c >= utf8.RuneSelf:
			small++
		}
	}
	if capitals > 1 && small == 0 {
		return "", true
	}
	return word, false
}

// canBeAlike says whether it matters that lines are like this one. Each test that failed does.
func (l *line) canBeAlike() bool { return l.place == (place{}) && !strings.Contains(l.text, "FAIL") }

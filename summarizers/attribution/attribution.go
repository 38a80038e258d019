// Package attribution finds in a text that a model wrote what it repeats word for word from tools, and quotes it: in the
// model's own sentences, words of a tool would stand as the agent's.
package attribution

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/compactord/compactord/session/quotation"
)

// fewest is how many words in a row are attributed at least. A character of a script without spaces is a word here, and
// counts half.
const fewest = 6

// Checker compares a text with what was said. All texts of tools and others are read before Quoted or Without.
type Checker struct {
	text  string
	words []word
	seed  maphash.Seed
	// runs has all rows of fewest words, by the hash of these words, and from those that begin at each word.
	runs map[uint64]*run
	from []*run
}

// run is a row of fewest words. A text can have it in many places.
type run struct {
	// tool is the first that said it; empty where none did.
	tool string
	// byOthers reports that somebody else said it, too.
	byOthers bool
}

// word is a word of the text.
type word struct {
	start, end int
	hash       uint64
	half       bool
}

// unknown is a tool whose name is not known.
const unknown = "a tool"

// New returns a checker of a text.
func New(text string) *Checker {
	c := &Checker{text: text, seed: maphash.MakeSeed(), runs: map[uint64]*run{}}
	c.eachWord(text, func(w word) { c.words = append(c.words, w) })
	for i := range len(c.words) - fewest + 1 {
		var row row
		for _, w := range c.words[i : i+fewest] {
			row.add(w.hash)
		}
		if c.runs[row.hash()] == nil {
			c.runs[row.hash()] = &run{}
		}
		c.from = append(c.from, c.runs[row.hash()])
	}
	return c
}

// row holds the hashes of the last words.
type row struct {
	last [fewest]uint64
	n    int
}

func (r *row) add(hash uint64) {
	copy(r.last[:], r.last[1:])
	r.last[fewest-1] = hash
	r.n++
}

func (r *row) hash() uint64 {
	sum := uint64(0)
	for _, h := range r.last {
		sum = (sum ^ h) * 1099511628211
	}
	return sum
}

// ReadTool reads what a tool returned. The name may be empty.
func (c *Checker) ReadTool(name, said string) {
	if name == "" {
		name = unknown
	}
	c.eachRun(said, func(r *run) { r.tool = cmp.Or(r.tool, name) })
}

// ReadOther reads what the user, the agent or an operator said.
func (c *Checker) ReadOther(said string) {
	c.eachRun(said, func(r *run) { r.byOthers = true })
}

// ReadPrevious reads an earlier summary, whose quotations are a tool's words.
func (c *Checker) ReadPrevious(summary string) {
	quotation.Each(summary, func(words string) { c.ReadTool("", words) })
}

func (c *Checker) eachRun(said string, yield func(*run)) {
	if len(c.runs) == 0 {
		return
	}
	var row row
	c.eachWord(said, func(w word) {
		if row.add(w.hash); row.n >= fewest {
			if known := c.runs[row.hash()]; known != nil {
				yield(known)
			}
		}
	})
}

// Quoted returns the text with what it repeats from tools quoted, and the tool behind it.
func (c *Checker) Quoted() string {
	return c.write(func(words, tool string) string {
		if tool == "" {
			return quotation.Quote(words)
		}
		return quotation.Quote(words) + " (said by " + tool + ")"
	})
}

// Without returns the text with a mark in place of what it repeats from tools.
func (c *Checker) Without(mark string) string {
	return c.write(func(string, string) string { return mark })
}

// write replaces what is repeated. The tool is given for the last piece of a passage of several lines.
func (c *Checker) write(replace func(words, tool string) string) string {
	var b strings.Builder
	done := 0
	for _, p := range c.passages() {
		// A quotation has whole characters: half of an escape would be read as something else on each side.
		start, _ := quotation.Around(c.text, c.words[p.from].start)
		_, end := quotation.Around(c.text, c.words[p.to-1].end)
		start = max(start, done)
		b.WriteString(c.text[done:start])
		for done = start; ; {
			line, _, more := strings.Cut(c.text[done:end], "\n")
			lead := line[:len(line)-len(strings.TrimLeft(line, " \t\r-*+>#"))]
			if words := strings.TrimSpace(line[len(lead):]); words != "" {
				tool := p.tool
				if more {
					tool = ""
				}
				b.WriteString(lead + replace(words, tool))
			} else {
				b.WriteString(line)
			}
			if done += len(line); !more {
				break
			}
			b.WriteByte('\n')
			done++
		}
	}
	return b.String() + c.text[done:]
}

// passage is a row of words that a tool said and nobody else.
type passage struct {
	from, to int
	tool     string
}

func (c *Checker) passages() []passage {
	var all []passage
	for at, r := range c.from {
		if r.tool == "" || r.byOthers || c.weight(at, at+fewest) < fewest && !c.goesOn(at) {
			continue
		}
		if n := len(all); n > 0 && all[n-1].to >= at {
			all[n-1].to = at + fewest
			continue
		}
		all = append(all, passage{at, at + fewest, r.tool})
	}
	return slices.DeleteFunc(all, func(p passage) bool { return c.weight(p.from, p.to) < fewest })
}

// goesOn says whether the words at a place are a part of a longer passage, so that halves may suffice together.
func (c *Checker) goesOn(at int) bool {
	return at > 0 && c.from[at-1].tool != "" || at+1 < len(c.from) && c.from[at+1].tool != ""
}

// weight counts words.
func (c *Checker) weight(from, to int) int {
	halves := 0
	for _, w := range c.words[from:to] {
		halves += 2
		if w.half {
			halves--
		}
	}
	return halves / 2
}

// eachWord yields the words of a text, without regard to case and to the signs between them.
func (c *Checker) eachWord(text string, yield func(word)) {
	start := -1
	end := func(at int) {
		if start >= 0 {
			yield(word{start: start, end: at, hash: maphash.String(c.seed, strings.ToLower(text[start:at]))})
			start = -1
		}
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r >= utf8.RuneSelf && unicode.In(r, withoutSpaces...):
			end(i)
			yield(word{start: i, end: i + size, hash: maphash.String(c.seed, text[i:i+size]), half: true})
		case isOfWord(r):
			if start < 0 {
				start = i
			}
		default:
			end(i)
		}
		i += size
	}
	end(len(text))
}

func isOfWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	return unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark)
}

// withoutSpaces are the scripts without spaces between words.
var withoutSpaces = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

package evidence

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The lengths of lines, in bytes.
const (
	// longLine is from where on only parts of a line are quoted.
	longLine = 240
	// beside is how much of a long line is quoted on each side of a name, and longPart is the longest part.
	beside, longPart = 80, 300
	// longestPart is where a part without spaces is not quoted any more.
	longestPart = 800
	// longestLine is the longest line whose names are looked at together, which takes several times its length.
	longestLine = 1 << 20
	// surroundings is how far on each side of a name its context goes.
	surroundings = 120
)

// line is a line that can be quoted, or a part of a long one.
type line struct {
	message uint32
	text    string
	// from and to are the bounds of its names in Collector.shows.
	from, to int32
	nature   nature
	// voice is whose words the line was when it was first read.
	voice Voice
	// byTool says that a tool said it first.
	byTool bool
	place
}

// place is where a part of a long line stands.
type place struct {
	// cut is the number of the long line, or 0.
	cut        int32
	start, end int32
}

// follows says whether a part overlaps with the one before it, or begins where that ends.
func (p place) follows(before place) bool {
	return p.cut > 0 && p.cut == before.cut && p.start >= before.start && p.start <= before.end && p.end > before.end
}

// shown is a name in a line.
type shown struct {
	id int32
	// inContext says that the line also shows most of what stands around the name in the conversation.
	inContext bool
}

// Lines returns the lines of a text that can be quoted, without white space around them. Line breaks that are escaped, as
// in JSON, end a line, too, if it is long: in short ones, they stand in the literals of a program.
func Lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		line := func(raw string) bool {
			trimmed := strings.TrimSpace(withoutNumber(raw))
			return len(trimmed) < minWord || yield(trimmed)
		}
		for raw := range strings.SplitSeq(text, "\n") {
			if len(raw) <= longLine || strings.IndexByte(raw, '\\') < 0 {
				if !line(raw) {
					return
				}
				continue
			}
			for part := range strings.SplitSeq(raw, `\n`) {
				if !line(part) {
					return
				}
			}
		}
	}
}

// isDiffIndex says whether a line is the one with the hashes of two versions in a diff, which nobody needs again.
func isDiffIndex(line string) bool {
	rest, ok := strings.CutPrefix(line, "index ")
	if !ok {
		return false
	}
	before, after, two := strings.Cut(rest, "..")
	return two && before != "" && strings.Trim(before, "0123456789abcdef") == "" && strings.TrimLeft(after, "0123456789abcdef") != after
}

// stretch is how many bytes of a line that is too long are looked at together. It ends at a space if there is one.
func stretch(line string) int {
	if space := strings.LastIndexByte(line[:longestLine], ' '); space > 0 {
		return space
	}
	size := longestLine
	for size > longestLine-utf8.UTFMax && !utf8.RuneStart(line[size]) {
		size--
	}
	return size
}

// withoutNumber returns a line without the line number and the arrow or tab that tools which read files put before it.
func withoutNumber(line string) string {
	start := 0
	for start < len(line) && line[start] == ' ' {
		start++
	}
	end := start
	for end < len(line) && isDigit(line[end]) {
		end++
	}
	if end == start || end-start > 6 {
		return line
	}
	for _, mark := range []string{"→", "\t"} {
		if after, ok := strings.CutPrefix(line[end:], mark); ok {
			return after
		}
	}
	return line
}

// cut makes the parts of a line that can be quoted. c.found are its names.
func (c *Collector) cut(text string, p Piece) {
	if len(text) <= longLine {
		c.part(text, 0, len(text), c.found, p)
		return
	}
	c.cuts++
	for i := 0; i < len(c.found); {
		if c.found[i].id == known {
			i++
			continue
		}
		start, end := max(0, c.found[i].start-beside), min(len(text), c.found[i].end+beside)
		next := i + 1
		for ; next < len(c.found); next++ {
			o := c.found[next]
			if o.start > end || o.end+beside-start > longPart {
				break
			}
			if o.id != known {
				end = max(end, min(len(text), o.end+beside))
			}
		}
		if start, end, ok := toWords(text, start, end); ok {
			start = fromKey(text, start)
			c.part(text, start, end, c.within(start, end, i, next), p)
		}
		i = next
	}
}

// within returns the names in a part of the line, among which are those from i to next.
func (c *Collector) within(start, end, i, next int) []occurrence {
	for i > 0 && c.found[i-1].start >= start {
		i--
	}
	for next < len(c.found) && c.found[next].start < end {
		next++
	}
	return c.found[i:next]
}

// toWords moves the bounds of a part outwards until it cuts no word. It returns false if the part becomes too long.
func toWords(text string, start, end int) (from, to int, ok bool) {
	for from = start; from > 0 && continues(text, from); from-- {
		if start-from > longestPart {
			return 0, 0, false
		}
	}
	for to = end; to < len(text) && continues(text, to); to++ {
		if to-end > longestPart {
			return 0, 0, false
		}
	}
	return from, to, true
}

// longestKey is the longest key of JSON that is quoted because of its value.
const longestKey = 40

// fromKey moves the start of a part of JSON: before the key of the value that it begins with, before the quotation mark of
// the text, or behind what ends the value before.
func fromKey(text string, start int) int {
	from := fromQuotationMark(text, start)
	key, isValue := strings.CutSuffix(strings.TrimRight(text[:from], " "), `":`)
	if !isValue {
		return len(text) - len(strings.TrimLeft(text[from:], "]}, "))
	}
	if at := openingMark(key, len(key)); at >= 0 {
		return at
	}
	return from
}

// fromQuotationMark moves the start of a part before the quotation mark that opens the text there.
func fromQuotationMark(text string, start int) int {
	switch {
	case start == 0:
		return 0
	case text[start-1] == '"' && isRun(text[start]):
		return start - 1
	case text[start-1] == '"' && text[start] == ':':
		start--
	}
	if text[start] == '"' && start > 0 && isRun(text[start-1]) {
		if at := openingMark(text, start); at >= 0 {
			return at
		}
	}
	return start
}

// openingMark returns where the quotation mark is that opens the key which ends at an offset, or -1.
func openingMark(text string, end int) int {
	from := max(0, end-longestKey)
	if at := strings.LastIndexByte(text[from:end], '"'); at >= 0 {
		return from + at
	}
	return -1
}

// continues says whether text[at] continues a word, a URL or a character.
func continues(text string, at int) bool {
	if text[at] < utf8.RuneSelf && text[at-1] < utf8.RuneSelf {
		return isJoined(text[at-1]) && isJoined(text[at])
	}
	if !utf8.RuneStart(text[at]) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	joined := func(r rune) bool { return r < utf8.RuneSelf && isJoined(byte(r)) || r >= utf8.RuneSelf && isOfWord(r) }
	return joined(before) && joined(after)
}

// isJoined says whether a byte can stand in a word or a URL.
func isJoined(c byte) bool { return isRun(c) || strings.IndexByte(":?=&%#", c) >= 0 }

// part makes a line of text[start:end]. found are the names there.
func (c *Collector) part(text string, start, end int, found []occurrence, p Piece) {
	quote := strings.TrimSpace(text[start:end])
	if len(quote) < end-start {
		start += strings.Index(text[start:end], quote)
		end = start + len(quote)
	}
	if len(quote) > longestPart {
		return
	}
	isShown := func(o occurrence) bool { return o.id != known && o.start >= start && o.end <= end }
	if !slices.ContainsFunc(found, isShown) {
		return
	}
	hash := c.quoted.hash(quote)
	if _, again := c.quoted.findBy(hash, quote); again {
		return
	}
	from := len(c.shows)
	for _, o := range found {
		if isShown(o) {
			c.show(from, shown{o.id, inContext(text, o, start, end)})
		}
	}
	nature := c.nature
	if nature == plain && isFragment(quote) {
		nature = fragment
	}
	var at place
	if len(quote) < len(text) {
		at = place{c.cuts, int32(start), int32(end)}
	}
	c.addLine(line{p.Message, strings.Clone(quote), int32(from), int32(len(c.shows)), nature, p.Voice, p.ByTool, at}, hash)
}

// show adds a name to those from c.shows[from] on.
func (c *Collector) show(from int, s shown) {
	for i := range c.shows[from:] {
		if same := &c.shows[from+i]; same.id == s.id {
			same.inContext = same.inContext || s.inContext
			return
		}
	}
	c.shows = append(c.shows, s)
}

// contextShare is how much of the surroundings of a name must be shown, and contextWords how many words they must have,
// for the name to be in context.
const (
	contextShare = 0.65
	contextWords = 3
)

// inContext says whether text[start:end] shows most of what stands around a name.
func inContext(text string, o occurrence, start, end int) bool {
	from, to := max(0, o.start-surroundings), min(len(text), o.end+surroundings)
	shown := min(end, to) - max(start, from)
	if float64(shown) < contextShare*float64(to-from) {
		return false
	}
	words := countWords(text[from:o.start], contextWords)
	return words+countWords(text[o.end:to], contextWords-words) >= contextWords
}

// countWords counts words, up to most. What has no white space in it is one word, such as a path. In scripts without
// spaces, each character is one.
func countWords(s string, most int) int {
	n, within := 0, false
	for i := 0; i < len(s) && n < most; i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			i += size - 1
			switch {
			case isOfWord(r):
				if !within {
					n++
				}
				within = true
			case unicode.In(r, scriptsWithoutSpaces...):
				n++
				within = false
			default:
				within = false
			}
		case isWordByte(c):
			if !within {
				n++
			}
			within = true
		case c != '.' && c != '/' && c != '-':
			within = false
		}
	}
	return n
}

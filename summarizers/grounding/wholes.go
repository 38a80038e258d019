package grounding

import (
	"sort"
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// whole is a piece of Markdown that a mark within would break: a block of code between fences, a heading, code between
// backquotes, a link, or a tag.
type whole struct {
	start, end int
	// code says that it is code, and block that it is a block of lines.
	code, block bool
	// indent is what stands before the last line of a block.
	indent string
}

// wholesOf returns the outermost wholes of a text, in order.
func wholesOf(text string) (all []whole) {
	lines := strings.SplitAfter(text, "\n")
	code := codeLines(lines)
	for i, at := 0, 0; i < len(lines); i++ {
		last, block := endOfBlock(lines, code, i)
		if !block {
			all = appendInline(all, text, at, at+len(lines[i]))
			at += len(lines[i])
			continue
		}
		w := whole{start: at, block: true, code: last > i && code[i+1]}
		for ; i < last; i++ {
			at += len(lines[i])
		}
		line := strings.TrimRight(lines[last], "\r\n")
		w.end, w.indent = at+len(line), line[:len(line)-len(strings.TrimLeft(line, indents))]
		all = append(all, w)
		at += len(lines[last])
	}
	return all
}

// endOfBlock returns the last line of the code or the heading that begins with line i, if one does.
func endOfBlock(lines []string, code []bool, i int) (last int, ok bool) {
	switch more := i+1 < len(lines); {
	case more && code[i+1]:
		for last = i + 1; code[last]; {
			last++
		}
		return last, true
	case isHeading(lines[i]):
		return i, true
	case more && isUnderline(lines[i], lines[i+1]):
		return i + 1, true
	default:
		return i, false
	}
}

// indents are what can stand before the first sign of a line: spaces, and the signs of a quoted line.
const indents = " \t>"

// codeLines says of each line whether it is code between two fences, which may be quoted lines.
func codeLines(lines []string) []bool {
	unquoted := make([]string, len(lines))
	for i, line := range lines {
		unquoted[i] = strings.TrimLeft(line, indents)
	}
	return summarizers.CodeLines(unquoted)
}

func isHeading(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, indents), "#") }

// isUnderline says whether a line makes a heading of the line before it.
func isUnderline(title, line string) bool {
	line = strings.TrimSpace(line)
	return strings.TrimSpace(title) != "" && len(line) >= 2 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// maxInline is how long code, a link or a tag in a line can be. It bounds the search for their ends.
const maxInline = 500

// appendInline appends the wholes within a line.
func appendInline(all []whole, text string, at, end int) []whole {
	for at < end {
		size, code := 0, false
		switch rest := text[at:min(end, at+maxInline)]; rest[0] {
		case '\\':
			at++
		case '`':
			size, code = codeSpan(rest), true
			if size == 0 {
				at += runOf(rest, '`') - 1
			}
		case '[':
			size = linkSize(rest)
		case '<':
			size = tagSize(rest)
		}
		if size > 0 {
			all = append(all, whole{start: at, end: at + size, code: code})
		}
		at += max(size, 1)
	}
	return all
}

func runOf(text string, sign byte) int {
	return len(text) - len(strings.TrimLeft(text, string(sign)))
}

// codeSpan returns the size of the code between backquotes that a text begins with, or 0. As many backquotes end it as
// begin it.
func codeSpan(text string) int {
	ticks := runOf(text, '`')
	for at := ticks; at < len(text); {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			break
		}
		at += next
		run := runOf(text[at:], '`')
		at += run
		if run == ticks {
			return at
		}
	}
	return 0
}

// linkSize returns the size of the link that a text begins with, or 0.
func linkSize(text string) int {
	title := closedBy(text, '[', ']')
	if title == 0 || title == len(text) || text[title] != '(' {
		return 0
	}
	target := closedBy(text[title:], '(', ')')
	if target == 0 {
		return 0
	}
	return title + target
}

// closedBy returns the size of what stands between the brackets that a text begins with, with them, or 0.
func closedBy(text string, opening, closing byte) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case opening:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// tagSize returns the size of the tag or the URL between < and > that a text begins with, or 0.
func tagSize(text string) int {
	if len(text) < 2 || text[1] != '/' && (text[1]|0x20 < 'a' || text[1]|0x20 > 'z') {
		return 0
	}
	end := 1 + strings.IndexAny(text[1:], "<>")
	if end == 0 || text[end] != '>' {
		return 0
	}
	if strings.Contains(text[:end], " ") && !strings.Contains(text[:end], "=") {
		// It compares, as in a < b and c > d.
		return 0
	}
	return end + 1
}

// around returns the whole that a place of the text is in.
func around(wholes []whole, at int) (whole, bool) {
	i := sort.Search(len(wholes), func(i int) bool { return wholes[i].end > at })
	if i < len(wholes) && wholes[i].start <= at {
		return wholes[i], true
	}
	return whole{}, false
}

// isOnly says whether a whole is the name from start to end, and nothing else but signs.
func (w whole) isOnly(text string, start, end int) bool {
	return start >= w.start && end <= w.end &&
		strings.Trim(text[w.start:start], "`</. ") == "" && strings.Trim(text[end:w.end], "`> ") == ""
}

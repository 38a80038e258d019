package prompts

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// span is a part of a text that is kept.
type span struct{ from, to int }

// cutting says how to shorten a text.
type cutting struct {
	// notable says whether a line between head and tail is worth keeping. nil means that none is.
	notable func(line string) bool
	// of names the whole in the mark, where the mark needs that.
	of string
	// inline keeps the marks on the same line.
	inline bool
}

// The shares of a shortened text: of its head, and of notable lines, if it has any. The tail gets the rest.
const (
	headPercent  = 60
	linesPercent = 30
)

const (
	// Between head and tail at most minNotableLines are kept, or one for each unitsPerLine of the limit if that is
	// more. Each has a mark beside it.
	minNotableLines = 12
	unitsPerLine    = 200
	// maxNotableUnits is how much of such a line is kept.
	maxNotableUnits = 300
	// fewUnits is the limit below which no notable lines are kept.
	fewUnits = 400
)

// to shortens a text to at most limit UTF-16 code units, without the marks. It keeps the head, the tail and notable
// lines in between. Each mark says how much is left out there. No character is cut in two.
func (c *cutting) to(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	total := units(text)
	if total <= limit {
		return text
	}
	kept := c.keep(text, limit)
	var b strings.Builder
	at := 0
	for _, s := range kept {
		c.mark(&b, text[at:s.from])
		b.WriteString(text[s.from:s.to])
		at = s.to
	}
	c.mark(&b, text[at:])
	return b.String()
}

// keep returns the parts of a text that are kept, in order.
func (c *cutting) keep(text string, limit int) []span {
	head := len(prefix(text, limit*headPercent/100))
	tail := len(text) - len(suffix(text, limit-units(text[:head])))
	if c.notable == nil || limit < fewUnits {
		return []span{{0, head}, {tail, len(text)}}
	}
	budget := limit * linesPercent / 100
	lines := c.notableLines(text, span{head, tail}, budget, max(minNotableLines, limit/unitsPerLine))
	if len(lines) == 0 {
		return []span{{0, head}, {tail, len(text)}}
	}
	used := 0
	for _, l := range lines {
		used += units(text[l.from:l.to])
	}
	// The space for the lines comes in equal parts from head and tail.
	head = len(prefix(text, limit*headPercent/100-used/2))
	tail = len(text) - len(suffix(text, limit-used-units(text[:head])))
	return append(append([]span{{0, head}}, lines...), span{tail, len(text)})
}

// notableLines returns the first notable lines between head and tail that fit into the budget.
func (c *cutting) notableLines(text string, within span, budget, most int) []span {
	var lines []span
	for at := within.from; at < within.to && len(lines) < most; {
		end := within.to
		if i := strings.IndexByte(text[at:within.to], '\n'); i >= 0 {
			end = at + i
		}
		line := text[at:end]
		// A line that begins in the head or ends in the tail is already shown in part.
		if at > within.from && end < within.to && c.notable(line) {
			line = prefix(text[at:end+1], maxNotableUnits)
			if size := units(line); size <= budget {
				budget -= size
				lines = append(lines, span{at, at + len(line)})
			}
		}
		at = end + 1
	}
	return lines
}

func (c *cutting) mark(b *strings.Builder, left string) {
	if left == "" {
		return
	}
	mark := marked(units(left), c.of)
	if c.inline {
		b.WriteString(" " + mark + " ")
		return
	}
	b.WriteString("\n" + mark + "\n")
}

// marked returns the mark for n UTF-16 code units that are left out.
func marked(n int, of string) string {
	characters := "characters"
	if n == 1 {
		characters = "character"
	}
	return fmt.Sprintf("[... %d %s%s left out ...]", n, characters, of)
}

// fit returns the text cut to at most budget tokens. It returns "" and false if even a mark is too long.
func (c *cutting) fit(text string, budget uint32, count func(string) uint32) (string, bool) {
	tokens := count(text)
	if tokens <= budget {
		return text, true
	}
	for limit := nextLimit(units(text), tokens, budget); ; {
		shorter := c.to(text, limit)
		tokens = count(shorter)
		if tokens <= budget {
			return shorter, true
		}
		if limit == 0 {
			return "", false
		}
		limit = nextLimit(limit, tokens, budget)
	}
}

// nextLimit returns a lower limit to try, after a text cut to this limit had too many tokens.
func nextLimit(limit int, tokens, budget uint32) int {
	return max(0, min(limit-1, int(float64(limit)*0.97*float64(budget)/float64(max(tokens, 1)))))
}

// units returns the length of a text in UTF-16 code units.
func units(text string) int {
	n := 0
	for i := 0; i < len(text); i++ {
		// Each character counts at its first byte. A character of four bytes is a pair in UTF-16.
		switch b := text[i]; {
		case b >= 0xF0:
			n += 2
		case b < 0x80 || b >= 0xC0:
			n++
		}
	}
	return n
}

// prefix returns the longest prefix of a text with at most limit units. It does not cut a character.
func prefix(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for at, r := range text {
		if limit -= width(r); limit < 0 {
			return text[:at]
		}
	}
	return text
}

// suffix returns the longest suffix of a text with at most limit units. It does not cut a character.
func suffix(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	at := len(text)
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if limit -= width(r); limit < 0 {
			break
		}
		at -= size
	}
	return text[at:]
}

func width(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// isErrorLine says whether a line of a tool's output reports an error.
func isErrorLine(line string) bool {
	if strings.HasPrefix(line, "E  ") {
		return true
	}
	lower := strings.ToLower(prefix(line, maxNotableUnits))
	for _, none := range []string{"0 error", "no error", "0 failed", "0 failures", "error: null", `"error":null`, `"error": null`} {
		if strings.Contains(lower, none) {
			return false
		}
	}
	return holdsAny(lower, errorWords)
}

var errorWords = []string{
	"error", "fail", "exception", "panic", "fatal", "traceback", "denied", "not found", "no such", "cannot", "undefined",
	"timed out", "refused", "segmentation", "错误", "失败", "异常", "无法",
}

// isRuleLine says whether a line of instructions sets a constraint.
func isRuleLine(line string) bool {
	return holdsAny(strings.ToLower(prefix(line, maxNotableUnits)), ruleWords)
}

var ruleWords = []string{
	"must", "never", "always", "do not", "don't", "don’t", "only ", "required", "forbidden", "prohibit", "not allowed", "important",
	"critical", "必须", "不要", "禁止", "不得", "务必", "只能", "不能",
}

func holdsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

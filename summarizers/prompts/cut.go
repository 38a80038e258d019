package prompts

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// span is a part of a text that is kept.
type span struct{ from, to int }

// cutting says how a text is made shorter.
type cutting struct {
	// tells says whether a line is worth keeping from between head and tail; nil where none is.
	tells func(line string) bool
	// of names the whole in the mark, where it has to.
	of string
	// inline keeps the marks on the line.
	inline bool
}

// What of a text that is cut goes to its head and, where it has lines that tell something, to those; the tail has the rest.
const (
	headPercent  = 60
	linesPercent = 30
)

const (
	// minTellingLines, or a line for each unitsPerLine of the limit, are kept from between head and tail, each with a mark
	// beside it.
	minTellingLines = 12
	unitsPerLine    = 200
	// maxTellingUnits is how much of such a line is kept.
	maxTellingUnits = 300
	// fewUnits is the limit below which no lines are picked out.
	fewUnits = 400
)

// to returns the text in at most so many UTF-16 code units, keeping head, tail and the lines in between that tell
// something. A mark stands where something is left out and says how much. It is never cut within a character.
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

// keep returns what is kept of a text, in order.
func (c *cutting) keep(text string, limit int) []span {
	head := len(prefix(text, limit*headPercent/100))
	tail := len(text) - len(suffix(text, limit-units(text[:head])))
	if c.tells == nil || limit < fewUnits {
		return []span{{0, head}, {tail, len(text)}}
	}
	budget := limit * linesPercent / 100
	lines := c.tellingLines(text, span{head, tail}, budget, max(minTellingLines, limit/unitsPerLine))
	if len(lines) == 0 {
		return []span{{0, head}, {tail, len(text)}}
	}
	used := 0
	for _, l := range lines {
		used += units(text[l.from:l.to])
	}
	// What the lines take comes from head and tail alike.
	head = len(prefix(text, limit*headPercent/100-used/2))
	tail = len(text) - len(suffix(text, limit-used-units(text[:head])))
	return append(append([]span{{0, head}}, lines...), span{tail, len(text)})
}

// tellingLines returns the lines between head and tail that tell something and fit into the budget, the first of them first.
func (c *cutting) tellingLines(text string, within span, budget, most int) []span {
	var lines []span
	for at := within.from; at < within.to && len(lines) < most; {
		end := within.to
		if i := strings.IndexByte(text[at:within.to], '\n'); i >= 0 {
			end = at + i
		}
		line := text[at:end]
		// What begins or ends within head or tail is there in part.
		if at > within.from && end < within.to && c.tells(line) {
			line = prefix(text[at:end+1], maxTellingUnits)
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

// marked stands where so many UTF-16 code units are left out.
func marked(n int, of string) string {
	characters := "characters"
	if n == 1 {
		characters = "character"
	}
	return fmt.Sprintf("[... %d %s%s left out ...]", n, characters, of)
}

// fit returns the text cut to at most so many tokens; empty and false where not even a mark fits.
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

// nextLimit is the limit to try after one at which a text had too many tokens.
func nextLimit(limit int, tokens, budget uint32) int {
	return max(0, min(limit-1, int(float64(limit)*0.97*float64(budget)/float64(max(tokens, 1)))))
}

// units is the length of a text in UTF-16 code units.
func units(text string) int {
	n := 0
	for i := 0; i < len(text); i++ {
		// Each character counts at its first byte; those of four bytes are the pairs of UTF-16.
		switch b := text[i]; {
		case b >= 0xF0:
			n += 2
		case b < 0x80 || b >= 0xC0:
			n++
		}
	}
	return n
}

// prefix is the longest beginning of a text that has at most so many units and ends between two characters.
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

// suffix is the longest end of a text that has at most so many units and begins between two characters.
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

// tellsError says whether a line of a tool's output tells of an error.
func tellsError(line string) bool {
	if strings.HasPrefix(line, "E  ") {
		return true
	}
	lower := strings.ToLower(prefix(line, maxTellingUnits))
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

// tellsRule says whether a line of instructions sets a constraint.
func tellsRule(line string) bool {
	return holdsAny(strings.ToLower(prefix(line, maxTellingUnits)), ruleWords)
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

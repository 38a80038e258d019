package dialecttest

import (
	"strings"

	"pgregory.net/rapid"
)

// The texts that are drawn: empty and blank ones, and characters that JSON, HTML or a terminal treat specially.
var (
	plainTexts = []string{
		"Fix the parser.", "ok", "Read `main.go`, then run the tests.", "Two lines,\nof which one is the second.",
		"It ends with a space ", "It ends with lines\n\n", " It begins with one", `{"looks":"like JSON"}`, `"quoted" \ back`,
		"<thinking>not thinking</thinking>", "[The tool failed]\nonly quoted", "</tool_result><script>&amp;</script>",
	}
	blankTexts   = []string{" ", "\n", "\t \r\n", "\u00a0", "\u3000\n", "\u200b", "\ufeff", "\u2028", "\v\f"}
	controlTexts = []string{"\x00", "a\x00b", "\x1b[31mred\x1b[0m", "\x7f\x01\x1f", "line\u2028separator\u2029", "\b\a"}
	worldTexts   = []string{
		"läuft über", "修复解析器", "\u05e9\u05dc\u05d5\u05dd \u202eabc\u202c", "مرحبا", "👩‍👩‍👧‍👦🏳️‍🌈", "cut off: \ufffd\ufffd", "e\u0301\u0301\u0301",
		"\U0001d54f\U0010ffff", "\ue000\ufdd0\uffff", "ﷺ", "\ufeffmark",
	}
)

// text draws a text, mostly not an empty one.
func (g *Generator) text(t *rapid.T) string {
	switch dice(t, 12) {
	case 6:
		g.count(EmptyText, true)
		return ""
	case 7:
		g.count(BlankText, true)
		return oneOf(t, blankTexts)
	case 8:
		g.count(ControlCharacters, true)
		return oneOf(t, controlTexts)
	case 9:
		g.count(BeyondASCII, true)
		return oneOf(t, worldTexts) + oneOf(t, worldTexts)
	case 10:
		return rapid.String().Draw(t, "any text")
	case 11:
		return strings.Repeat(oneOf(t, plainTexts)+" ", 1+dice(t, 40))
	default:
		return oneOf(t, plainTexts)
	}
}

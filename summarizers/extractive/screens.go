package extractive

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// withoutPasted removes lines that nobody wrote into the message: copies of a terminal's screen, the demonstrations and
// examples in instructions, and quotations beside words of its writer, unless these say that rules follow.
func withoutPasted(text string) string {
	if !strings.Contains(text, "<") && !strings.Contains(text, ">") && !strings.Contains(text, "---") && !strings.Contains(text, " \n") && !drawn(text) {
		return text
	}
	padded, quotes := screenWidth(text), quotesBeside(text)
	var b strings.Builder
	b.Grow(len(text))
	end, own := "", ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		isQuote := strings.HasPrefix(trimmed, ">")
		if !isQuote && trimmed != "" {
			own = trimmed
		}
		switch {
		case end != "":
			if containsAnyCase(trimmed, end) {
				end = ""
			}
		case drawn(line), quotes && isQuote && !hasAny(own, ruling), padded > 0 && widthOf(line) == padded && strings.HasSuffix(line, " \n"):
		default:
			if end = shownUntil(trimmed); end == "" {
				b.WriteString(line)
			}
		}
	}
	if end != "" {
		// The end of the demonstration is missing.
		return text
	}
	return b.String()
}

// showing are words in the names of blocks that show what somebody else said or did.
var showing = wordSet("demonstration demo example examples transcript trajectory conversation log logs output stdout stderr sample samples")

// exampleWords are those of blocks that show how something could be done. What they name is of no conversation.
var exampleWords = wordSet("demonstration demo example examples sample samples")

// withoutExamples removes the blocks of examples and demonstrations from instructions.
func withoutExamples(text string) string {
	if !containsAnyCase(text, "example") && !containsAnyCase(text, "demo") && !containsAnyCase(text, "sample") {
		return text
	}
	var b strings.Builder
	end := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case end != "":
			if containsAnyCase(trimmed, end) {
				end = ""
			}
		case shownBy(trimmed, exampleWords) != "":
			end = shownBy(trimmed, exampleWords)
		default:
			b.WriteString(line)
		}
	}
	if end != "" {
		return text
	}
	return b.String()
}

// shownUntil returns what the last line of a block holds, in lower case, if a line begins a block that shows something, in
// tags or between lines such as "--- DEMONSTRATION ---" and "--- END OF DEMONSTRATION ---".
func shownUntil(line string) string { return shownBy(line, showing) }

// shownBy does so for blocks whose names have one of some words.
func shownBy(line string, words map[string]bool) string {
	shows := func(name string) bool { return nameHas(name, words) }
	if name := tagAt(line); name != "" && shows(name) && !closesTag(line, name) {
		return "</" + strings.ToLower(name) + ">"
	}
	name := strings.Trim(line, "-=*# ")
	if len(name) < len(line)-4 && line[0] == line[len(line)-1] && !isLetter(line[0]) && len(name) < 48 && shows(name) && !hasOpening(name, "end ") {
		return "end of " + strings.ToLower(name)
	}
	return ""
}

// nameHas says whether a name has one of some words.
func nameHas(name string, words map[string]bool) bool {
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == ':' || r == ' ' }) {
		if words[word] {
			return true
		}
	}
	return false
}

// drawings are characters that programs draw on a screen.
var drawings = []string{"│", "║", "╭", "╰", "⎿", "⏺", "❯", "✻"}

// drawn says whether a text has a character that a program drew.
func drawn(text string) bool {
	return !isASCII(text) && slices.ContainsFunc(drawings, func(d string) bool { return strings.Contains(text, d) })
}

// quotesBeside says whether a text has quoted lines, and words of its own beside them.
func quotesBeside(text string) bool {
	quoted, own := false, false
	for line := range strings.Lines(text) {
		isQuote := strings.HasPrefix(strings.TrimSpace(line), ">")
		quoted = quoted || isQuote
		own = own || !isQuote && contentUpTo(line, goalWords) >= goalWords
	}
	return quoted && own
}

// A screen has at least minScreen columns. At least screenLines lines of a copy of it end in spaces at the same column.
const (
	minScreen   = 60
	screenLines = 3
)

// screenWidth returns the column at which most of the lines that end in spaces end, if a text is a copy of a screen.
func screenWidth(text string) int {
	if strings.Count(text, " \n") < screenLines {
		return 0
	}
	widths, width := map[int]int{}, 0
	for line := range strings.Lines(text) {
		if n := widthOf(line); n >= minScreen && strings.HasSuffix(line, " \n") {
			widths[n]++
			if widths[n] >= screenLines && widths[n] >= widths[width] {
				width = n
			}
		}
	}
	return width
}

// widthOf returns how many characters a line has.
func widthOf(line string) int { return utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) }

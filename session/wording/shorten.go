package wording

import (
	"fmt"
	"strings"
	"unicode"
)

// OneLine is the beginning of a text on one line: white space is a blank, control characters are left out. What is longer
// than so many characters (code points) ends in an ellipsis.
func OneLine(text string, characters int) string {
	var b strings.Builder
	blank := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			blank = true
			continue
		case unicode.IsControl(r):
			continue
		}
		if blank && b.Len() > 0 {
			if characters--; characters > 0 {
				b.WriteByte(' ')
			}
		}
		blank = false
		if characters--; characters < 0 {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Shorten cuts a text to at most n code points, keeping head and tail around a mark that tells how many are left out.
func Shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	head := n * 2 / 3
	tail := n - head
	return fmt.Sprintf("%s\n[... %d characters left out ...]\n%s",
		string(runes[:head]), len(runes)-n, string(runes[len(runes)-tail:]))
}

// Blank says whether a text shows nothing to anybody: all of it is white space, control and format characters.
func Blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r)
	})
}

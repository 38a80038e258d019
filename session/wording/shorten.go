package wording

import (
	"fmt"
	"strings"
	"unicode"
)

// OneLine returns the beginning of a text on one line. White space becomes one blank, and control characters are left
// out. A text longer than this many characters (code points) ends in an ellipsis.
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

// Shorten shortens a text to n code points, and says between its first two thirds and its last third how many
// characters are left out. A text of at most n code points is returned as it is.
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

// Blank reports whether a text has no visible content: only white space, control and format characters.
func Blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r)
	})
}

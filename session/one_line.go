package session

import (
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

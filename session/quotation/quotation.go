// Package quotation writes words of tools, of fetched pages and of files in a form that they cannot imitate: a model that
// reads a summary can tell them from what the user, the agent and the daemon say.
//
// There are two forms. Within a line, the words stand between « and ». Lines of their own begin with `>`. In both the
// words are encoded: they stay on their line, every mark in them has a backslash, and so has whatever looks like a
// citation, a role or a tag of an agent's program. Decoding gives exactly the words back.
package quotation

import "strings"

// Open and Close are the marks around words within a line, and Mark begins a line of them.
const (
	Open  = "«"
	Close = "»"
	Mark  = "> "
)

// LeftOut stands in place of a quotation that is not shown.
const LeftOut = "[not shown]"

// Quote returns the words as a quotation within a line.
func Quote(words string) string { return Open + Encode(words) + Close }

// Read reads the quotation that a text begins with. length is its length in bytes.
func Read(text string) (words string, length int, ok bool) {
	inner, found := strings.CutPrefix(text, Open)
	if !found {
		return "", 0, false
	}
	end := closing(inner)
	if end < 0 {
		return "", 0, false
	}
	words, ok = Decode(inner[:end])
	return words, len(Open) + end + len(Close), ok
}

// CutLast divides a text that ends in a quotation.
func CutLast(text string) (before, words string, ok bool) {
	if !strings.HasSuffix(text, Close) {
		return text, "", false
	}
	// The words have no bare mark in them, so the last one begins the quotation.
	at := lastBare(text)
	if at < 0 {
		return text, "", false
	}
	words, length, ok := Read(text[at:])
	if !ok || at+length != len(text) {
		return text, "", false
	}
	return text[:at], words, true
}

// lastBare returns the place of the last opening mark without a backslash, or -1.
func lastBare(text string) int {
	for at := len(text); ; {
		if at = strings.LastIndex(text[:at], Open); at < 0 || backslashes(text[:at])%2 == 0 {
			return at
		}
	}
}

// closing returns the place of the first closing mark without a backslash, or -1.
func closing(text string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], Close)
		if at < 0 {
			return -1
		}
		if at += from; backslashes(text[:at])%2 == 0 {
			return at
		}
		from = at + len(Close)
	}
}

// backslashes counts those at the end of a text.
func backslashes(text string) int { return len(text) - len(strings.TrimRight(text, `\`)) }

// Line returns the words as a line of their own.
func Line(words string) string { return Mark + Encode(words) }

// ReadLine reads such a line.
func ReadLine(line string) (words string, ok bool) {
	inner, ok := strings.CutPrefix(line, Mark)
	if !ok {
		return "", false
	}
	return Decode(inner)
}

// Each yields the words of the quotations in a text.
func Each(text string, yield func(words string)) {
	for line := range strings.SplitSeq(text, "\n") {
		if words, ok := ReadLine(line); ok {
			yield(words)
			continue
		}
		for {
			end := closing(line)
			if end < 0 {
				break
			}
			end += len(Close)
			if words, ok := last(line[:end]); ok {
				yield(words)
			}
			line = line[end:]
		}
	}
}

// last returns the words of the quotation that a text ends in. A backslash of what comes before can stand in front of it.
func last(text string) (words string, ok bool) {
	if lastBare(text) < 0 {
		text = text[max(strings.Index(text, Open), 0):]
		words, _, ok = Read(text)
		return words, ok
	}
	_, words, ok = CutLast(text)
	return words, ok
}

// Without returns a text without the words that are quoted in it, for a place where they would speak with another's
// voice. Lines of quotations are left out, and LeftOut stands in place of quotations within a line.
func Without(text string) string {
	if !strings.Contains(text, Open) && !strings.HasPrefix(text, Mark) && !strings.Contains(text, "\n"+Mark) {
		return text
	}
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, Mark) {
			kept = append(kept, withoutInline(line))
		}
	}
	return strings.Join(kept, "\n")
}

// withoutInline takes the quotations out of a line. One that nothing closes goes on to the line's end.
func withoutInline(line string) string {
	var b strings.Builder
	for {
		at := strings.Index(line, Open)
		if at < 0 {
			break
		}
		b.WriteString(line[:at] + LeftOut)
		inner := line[at+len(Open):]
		end := closing(inner)
		if end < 0 {
			return b.String()
		}
		line = inner[end+len(Close):]
	}
	return b.String() + line
}

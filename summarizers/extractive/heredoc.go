package extractive

import "strings"

// withoutHeredocs removes the bodies of here-documents from a script, so that its commands are left.
func withoutHeredocs(script string) string {
	if !strings.Contains(script, "<<") {
		return script
	}
	var b strings.Builder
	for script != "" {
		line, rest, _ := strings.Cut(script, "\n")
		script = rest
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
		if end := delimiter(line); end != "" {
			script = afterLine(script, end)
		}
	}
	return b.String()
}

// delimiter returns the word that ends the here-document which a line opens.
func delimiter(line string) string {
	_, after, ok := strings.Cut(line, "<<")
	if !ok || strings.HasPrefix(after, "<") {
		return ""
	}
	after = strings.TrimLeft(strings.TrimPrefix(after, "-"), " \\")
	if after != "" && (after[0] == '\'' || after[0] == '"') {
		word, _, _ := strings.Cut(after[1:], after[:1])
		return word
	}
	end := 0
	for end < len(after) && (isLetter(after[end]) || isDigit(after[end]) || after[end] == '_') {
		end++
	}
	if end > 0 && isDigit(after[0]) {
		// A shift, and no here-document.
		return ""
	}
	return after[:end]
}

// afterLine returns the text after the first line that equals `end`, or nothing if there is no such line.
func afterLine(text, end string) string {
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		if strings.TrimSpace(line) == end {
			return text
		}
	}
	return ""
}

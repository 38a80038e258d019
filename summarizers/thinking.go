package summarizers

import (
	"strings"
	"unicode"
)

var thinkingTags = []string{"think", "thinking", "reasoning", "thought", "analysis"}

// WithoutThinking returns the text without the blocks of thinking that some models write, and trims white space at both
// ends. A block begins at the beginning of a line: a tag within a line is a quotation. A block that is never closed
// ends with the text.
func WithoutThinking(text string) string { return withoutThinking(text, true) }

// WithoutClosedThinking is WithoutThinking for texts that no model wrote just now: it keeps a block that is never
// closed.
func WithoutClosedThinking(text string) string { return withoutThinking(text, false) }

func withoutThinking(text string, toEnd bool) string {
	var kept strings.Builder
	// A byte order mark before the first heading or tag would hide it.
	text = strings.TrimPrefix(text, "\ufeff")
	// never holds the tags that have no closing tag in the rest of the text.
	never := map[string]bool{}
	for text != "" {
		line, rest := text, ""
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, rest = text[:i+1], text[i+1:]
		}
		tag := openingTag(line)
		if tag == "" || never[tag] {
			kept.WriteString(line)
			text = rest
			continue
		}
		switch end := strings.Index(text, "</"+tag+">"); {
		case end >= 0:
			text = text[end+len(tag)+len("</>"):]
		case toEnd:
			text = ""
		default:
			never[tag] = true
		}
	}
	return strings.TrimSpace(kept.String())
}

// QuoteThinking puts a backslash before the tags at which WithoutThinking would remove something. In quoted text such a
// tag does not mark thinking.
func QuoteThinking(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var quoted strings.Builder
	for line := range strings.Lines(text) {
		if openingTag(line) != "" {
			at := strings.IndexByte(line, '<')
			quoted.WriteString(line[:at] + `\`)
			line = line[at:]
		}
		quoted.WriteString(line)
	}
	return quoted.String()
}

// openingTag returns the name of the thinking tag that the line begins with, or "".
func openingTag(line string) string {
	line = strings.TrimLeft(line, " \t")
	if !strings.HasPrefix(line, "<") {
		return ""
	}
	for _, tag := range thinkingTags {
		if strings.HasPrefix(line[1:], tag+">") {
			return tag
		}
	}
	return ""
}

// Spoken filters a text that arrives in pieces: it passes on what WithoutThinking would keep. It holds back white space
// at the end, and text that may become a tag, until it knows more.
type Spoken struct {
	to func(delta string)
	// rest is text that may become a tag. space is the white space after what was passed on.
	rest, space string
	// thinking is the tag of the open block.
	thinking string
	// inLine says that rest does not begin a line. begun says that some text was passed on.
	inLine, begun bool
}

// NewSpoken returns a Spoken that passes its text to a function.
func NewSpoken(to func(delta string)) *Spoken { return &Spoken{to: to} }

// Add adds a piece of the text.
func (s *Spoken) Add(delta string) {
	s.rest += delta
	more := true
	for more && s.rest != "" {
		more = s.step()
	}
}

// End ends the text: what was held back is not a tag, so it is passed on.
func (s *Spoken) End() {
	if s.thinking == "" {
		s.say(s.rest)
	}
	s.rest = ""
}

// step reads a part of the rest. It returns false if it needs more text first.
func (s *Spoken) step() bool {
	if s.thinking != "" {
		return s.skip()
	}
	if !s.inLine {
		line := strings.TrimLeft(s.rest, " \t")
		if tag := openingTag(line); tag != "" {
			s.thinking, s.rest = tag, line
			return true
		}
		if mayOpen(line) {
			return false
		}
	}
	end := strings.IndexByte(s.rest, '\n') + 1
	if s.inLine = end == 0; s.inLine {
		end = len(s.rest)
	}
	s.say(s.rest[:end])
	s.rest = s.rest[end:]
	return true
}

// skip drops thinking up to its closing tag.
func (s *Spoken) skip() bool {
	closing := "</" + s.thinking + ">"
	if end := strings.Index(s.rest, closing); end >= 0 {
		s.rest, s.thinking, s.inLine = s.rest[end+len(closing):], "", false
		return true
	}
	s.rest = s.rest[max(0, len(s.rest)-len(closing)+1):]
	return false
}

// mayOpen says whether the beginning of a line may become an opening tag.
func mayOpen(line string) bool {
	for _, tag := range thinkingTags {
		if strings.HasPrefix("<"+tag+">", line) {
			return true
		}
	}
	return false
}

func (s *Spoken) say(text string) {
	text = s.space + text
	if !s.begun {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	said := strings.TrimRightFunc(text, unicode.IsSpace)
	s.space = text[len(said):]
	if said != "" {
		s.begun = true
		s.to(said)
	}
}

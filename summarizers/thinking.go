package summarizers

import (
	"strings"
	"unicode"
)

var thinkingTags = []string{"think", "thinking", "reasoning", "thought", "analysis"}

// WithoutThinking returns the text without the blocks in which some models think aloud before or between what they
// write, and without the white space around it. A block begins at the beginning of a line: a tag within a line is
// quoted, and not the model's own. A block that is not closed runs to the end.
func WithoutThinking(text string) string { return withoutThinking(text, true) }

// WithoutClosedThinking is WithoutThinking of a text that no model wrote just now: a block that is not closed stays.
func WithoutClosedThinking(text string) string { return withoutThinking(text, false) }

func withoutThinking(text string, toEnd bool) string {
	var kept strings.Builder
	// A mark of the byte order before the first heading or tag would hide it.
	text = strings.TrimPrefix(text, "\ufeff")
	// never are the tags that nothing closes any more.
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

// QuoteThinking puts a backslash before the tags by which WithoutThinking would take something of a text for thinking: in
// what is quoted they are nobody's.
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

// Spoken hands on what WithoutThinking leaves of a text that comes in pieces. What may become a tag, and the white space
// at the end, is held back until it is known.
type Spoken struct {
	to func(delta string)
	// rest is what may become a tag, and space what ends the text or stands within it.
	rest, space string
	// thinking is the tag of the block that is open.
	thinking string
	// inLine says that rest does not begin a line, begun that something was handed on.
	inLine, begun bool
}

// NewSpoken returns a Spoken that hands on to a function.
func NewSpoken(to func(delta string)) *Spoken { return &Spoken{to: to} }

// Add takes in a piece of the text.
func (s *Spoken) Add(delta string) {
	s.rest += delta
	more := true
	for more && s.rest != "" {
		more = s.step()
	}
}

// End says that the text is whole: what was held back for a tag is none.
func (s *Spoken) End() {
	if s.thinking == "" {
		s.say(s.rest)
	}
	s.rest = ""
}

// step takes something of the rest; it is false where more must come first.
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

// skip leaves out what is thought.
func (s *Spoken) skip() bool {
	closing := "</" + s.thinking + ">"
	if end := strings.Index(s.rest, closing); end >= 0 {
		s.rest, s.thinking, s.inLine = s.rest[end+len(closing):], "", false
		return true
	}
	s.rest = s.rest[max(0, len(s.rest)-len(closing)+1):]
	return false
}

// mayOpen says whether a line that has only begun may become one with an opening tag.
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

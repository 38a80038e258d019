package extractive

import (
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// ownText returns the user's own text of a message, and documents that a program put beside it.
func ownText(m *compactordv1.Message) (own, beside string) {
	if said, documents := apart(m); documents != "" {
		return clip(said, maxProse), clip(documents, maxProse)
	}
	return clip(textOf(m), maxProse), ""
}

// apart splits the text parts of a message into documents and others. Without both it returns no documents.
func apart(m *compactordv1.Message) (said, documents string) {
	if len(m.GetParts()) < 2 {
		return "", ""
	}
	var others, inserted []string
	for _, p := range m.GetParts() {
		text := p.GetText().GetText()
		switch own, _ := summarizers.Said(text); {
		case text == "":
		case isDocument(own):
			inserted = append(inserted, text)
		default:
			others = append(others, text)
		}
	}
	said = strings.Join(others, "\n")
	if own, _ := summarizers.Said(said); contentUpTo(own, goalWords) < goalWords {
		return "", ""
	}
	return said, strings.Join(inserted, "\n")
}

// instructing are words in the names of tags around texts that tell an agent how to work, or where, and not what to do.
var instructing = wordSet(`instructions instruction rules guidelines guideline environment env context info system reminder reminders skills skill memory
	memories example examples format tools tool layout settings config configuration persona role policy policies`)

// withoutInstructions removes blocks in tags that instruct an agent from a text, and the headings right before them. If
// nothing else is there, it returns the text.
func withoutInstructions(text string) string {
	rest, _ := cutInstructions(text)
	if contentUpTo(rest, 1) == 0 {
		return text
	}
	return rest
}

// cutInstructions splits a text into what is outside of blocks that instruct an agent, and these blocks.
func cutInstructions(text string) (rest, blocks string) {
	if !strings.Contains(text, "<") {
		return text, ""
	}
	var outside, inside strings.Builder
	heading, tag := "", ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case tag != "":
			inside.WriteString(line)
			if closesTag(trimmed, tag) {
				tag = ""
			}
			continue
		case trimmed == "" && heading != "", heading == "" && isHeading(trimmed):
			heading += line
			continue
		}
		if name := tagAt(trimmed); name != "" && instructs(name) {
			inside.WriteString(heading + line)
			heading = ""
			if !closesTag(trimmed, name) {
				tag = name
			}
			continue
		}
		outside.WriteString(heading + line)
		heading = ""
	}
	outside.WriteString(heading)
	return strings.TrimSpace(outside.String()), inside.String()
}

// untagged returns the inside of a text that is one block in tags of their own lines.
func untagged(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	name := tagAt(first)
	if name == "" || first != "<"+name+">" {
		return text
	}
	inner, ok := strings.CutSuffix(rest, "\n</"+name+">")
	if !ok || strings.Contains(inner, "</"+name+">") || strings.TrimSpace(inner) == "" {
		return text
	}
	return strings.TrimSpace(inner)
}

// tagAt returns the name of the tag that a line begins with, or "".
func tagAt(line string) string {
	if !strings.HasPrefix(line, "<") {
		return ""
	}
	name, _, ok := strings.Cut(line[1:], ">")
	name, _, _ = strings.Cut(name, " ")
	if !ok || name == "" || len(name) > 48 || !isLetter(name[0]) {
		return ""
	}
	return name
}

// closesTag says whether a line ends the block of a tag.
func closesTag(line, name string) bool {
	return containsAnyCase(line, "</"+strings.ToLower(name)+">")
}

// instructs says whether the name of a tag says that its block instructs an agent.
func instructs(name string) bool {
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == ':' }) {
		if instructing[word] {
			return true
		}
	}
	return false
}

// adding are words that begin a request beside another one.
var adding = []string{
	"also ", "and also ", "additionally", "besides", "by the way", "btw", "oh and", "while you're at it", "außerdem", "übrigens", "nebenbei", "zusätzlich",
	"además", "también", "por cierto", "aussi", "de plus", "au passage", "également", "além disso", "também", "aliás", "также", "ещё", "кроме того", "кстати",
	"另外", "还有", "顺便", "此外", "また、", "あと、", "それと", "ついでに", "또한", "그리고", "추가로", "그런데",
}

// addsToATask says whether a text begins with a request beside another one.
func addsToATask(text string) bool {
	lower := strings.ToLower(clip(text, 256))
	for _, word := range adding {
		if strings.HasPrefix(lower, word) {
			return true
		}
	}
	return false
}

// withoutTags removes tags in angle brackets from both ends of a statement. Those around a part of it stay.
func withoutTags(s string) string {
	for strings.HasPrefix(s, "<") {
		i := strings.IndexByte(s, '>')
		if i < 0 || i > 64 {
			break
		}
		closing := "</" + tagAt(s) + ">"
		if at := strings.Index(s, closing); at >= 0 && at+len(closing) < len(s) {
			break
		}
		s = strings.TrimSpace(s[i+1:])
	}
	for strings.HasSuffix(s, ">") {
		i := strings.LastIndex(s, "</")
		if i < 0 || i < len(s)-64 || strings.Contains(s[:i], "<"+s[i+2:]) {
			break
		}
		s = strings.TrimSpace(s[:i])
	}
	return s
}

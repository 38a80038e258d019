package prompts

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// WithoutInstructions returns an answer without what a model copied of the instructions or of the words that views put
// around a summary, and without tags or fences around the whole of it. A section that is empty by that says `(none)`. It
// leaves thinking as it is.
func WithoutInstructions(text string) string {
	text = unwrapped(text)
	lines := strings.Split(text, "\n")
	kept, gone := make([]string, 0, len(lines)), 0
	for i, line := range lines {
		rest, leaks := withoutLeak(line)
		if leaks && rest == "" {
			gone++
			if endsSection(lines[i+1:]) && isHeading(lastShown(kept)) {
				kept = append(kept, summarizers.NothingBelow)
			}
			continue
		}
		kept = append(kept, rest)
	}
	if gone == 0 && slices.Equal(kept, lines) {
		return text
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// withoutLeak returns a line without what it has of ours, empty where nothing else is in it, and whether there was any.
func withoutLeak(line string) (rest string, leaks bool) {
	if isHeading(line) {
		return line, false
	}
	if ourTag.MatchString(line) {
		return "", true
	}
	key := keyOf(line)
	if len(key) < minLeak {
		return line, false
	}
	if copied()[key] {
		return "", true
	}
	for _, sentence := range sentencesOf(line) {
		if key := keyOf(sentence); len(key) >= minLeak && copied()[key] {
			line, leaks = strings.Replace(line, sentence, "", 1), true
		}
	}
	if !leaks {
		return line, false
	}
	line = strings.TrimRight(line, " \t")
	if keyOf(line) == "" {
		return "", true
	}
	return line, true
}

// minLeak is how many letters a line or sentence must have to be known for one of ours. Shorter ones may be anyone's.
const minLeak = 16

// copied are the keys of the lines and sentences that a model can have copied.
var copied = sync.OnceValue(func() map[string]bool {
	keys := map[string]bool{}
	add := func(text string) {
		for line := range strings.Lines(text) {
			if isHeading(line) {
				continue
			}
			for _, s := range append(sentencesOf(line), line) {
				if key := keyOf(s); len(key) >= minLeak {
					keys[key] = true
				}
			}
		}
	}
	files, _ := texts.ReadDir("texts")
	for _, file := range files {
		add(budgets.Replace(told(strings.TrimSuffix(file.Name(), ".txt"))))
	}
	add(session.SummaryFrame())
	add(session.SummaryReply())
	return keys
})

// budgets takes out what stands for figures, since keyOf takes out the figures.
var budgets = strings.NewReplacer("{tokens}", "", "{words}", "", "{fault}", "")

// keyOf is what two texts have in common that differ in marks, figures, spaces, citations and case.
func keyOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// sentencesOf returns the sentences of a line, as they stand in it.
func sentencesOf(line string) []string {
	var list []string
	start := 0
	for i := 0; i < len(line); i++ {
		ends := strings.IndexByte(".?!:", line[i]) >= 0 && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\n')
		if ends || i+1 == len(line) {
			list = append(list, line[start:i+1])
			start = i + 1
		}
	}
	return list
}

var ourTag = func() *regexp.Regexp {
	names := []string{
		tagConversation, tagRules, tagPrevious, tagContext, tagInstructions, tagTask, tagGuidelines, tagResult, "summary",
	}
	return regexp.MustCompile(`(?i)^\s*</?\s*(?:` + strings.Join(names, "|") + `)\s*>\s*$`)
}()

func isHeading(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

func lastShown(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if strings.TrimSpace(line) != "" {
			return line
		}
	}
	return ""
}

// endsSection says whether nothing more follows in a section but what is not shown.
func endsSection(lines []string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if rest, leaks := withoutLeak(line); leaks && rest == "" {
			continue
		}
		return isHeading(line)
	}
	return true
}

// opened is the line with which models introduce what they were asked for.
var opened = regexp.MustCompile(`(?i)^(?:(?:sure|certainly|of course|okay|ok|understood)[,.!]?\s*)?(?:here(?:'s|’s| is)|below is|this is)\b.{0,80}\bsummary\b.{0,80}[:.]$`)

// unwrapped takes off what stands around the whole of an answer: fences, tags, and a line that introduces it.
func unwrapped(text string) string {
	text = strings.TrimSpace(text)
	for {
		inner := strings.TrimSpace(withoutIntroduction(withoutFence(withoutTag(text))))
		if inner == text || inner == "" {
			return text
		}
		text = inner
	}
}

func withoutIntroduction(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if more && opened.MatchString(strings.TrimSpace(first)) {
		return rest
	}
	return text
}

// withoutTag takes off a tag of ours at the beginning, and its counterpart at the end.
func withoutTag(text string) string {
	if first, rest, more := strings.Cut(text, "\n"); more && ourTag.MatchString(first) {
		text = rest
	}
	for _, tag := range []string{"summary", tagPrevious} {
		text = strings.TrimSpace(strings.TrimPrefix(text, "<"+tag+">"))
		text = strings.TrimSpace(strings.TrimSuffix(text, "</"+tag+">"))
	}
	return text
}

// withoutFence takes off a fence around all of the text. Fences within it stay.
func withoutFence(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if !more || !strings.HasPrefix(first, "```") || strings.Contains(first[3:], "`") {
		return text
	}
	body, closed := strings.CutSuffix(rest, "```")
	if !closed || body != "" && !strings.HasSuffix(body, "\n") {
		return text
	}
	fences := 0
	for line := range strings.Lines(body) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fences++
		}
	}
	if fences%2 != 0 {
		return text
	}
	return body
}

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
	for {
		rest := withoutLeaks(unwrapped(text))
		if rest == text {
			return text
		}
		text = rest
	}
}

func withoutLeaks(text string) string {
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
	for _, ends := range []string{sentenceEnds, clauseEnds} {
		for _, piece := range piecesOf(line, ends) {
			if key := keyOf(piece); len(key) >= minLeak && copied()[key] {
				line, leaks = strings.Replace(line, piece, "", 1), true
			}
		}
	}
	if !leaks {
		return line, false
	}
	for _, piece := range piecesOf(line, clauseEnds) {
		if key := keyOf(piece); key != "" && !copied()[key] {
			return strings.TrimRight(line, " \t"), true
		}
	}
	return "", true
}

// minLeak is how many bytes of letters a line or sentence must have to be known for one of ours. Shorter ones may be
// anyone's, but for those beside one of ours.
const minLeak = 16

// copied are the keys of the lines and sentences that a model can have copied.
var copied = sync.OnceValue(func() map[string]bool {
	keys := map[string]bool{}
	add := func(text string) {
		for line := range strings.Lines(text) {
			if isHeading(line) {
				continue
			}
			for _, piece := range slices.Concat(piecesOf(line, sentenceEnds), piecesOf(line, clauseEnds), []string{line}) {
				keys[keyOf(piece)] = true
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

// What ends a sentence, and a part of one that can be copied alone.
const (
	sentenceEnds = ".?!"
	clauseEnds   = ".?!:"
)

// piecesOf returns the pieces of a line that end in one of these signs, as they stand in it.
func piecesOf(line, ends string) []string {
	var list []string
	start := 0
	for i := 0; i < len(line); i++ {
		last := i+1 == len(line)
		if last || strings.IndexByte(ends, line[i]) >= 0 && (line[i+1] == ' ' || line[i+1] == '\n') {
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
	// Thinking before it stays where it is.
	if said := summarizers.WithoutThinking(text); said != text && said != "" && strings.HasSuffix(text, said) {
		return strings.TrimSuffix(text, said) + unwrapped(said)
	}
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
	inside := false
	for line := range strings.Lines(body) {
		fence, ok := strings.CutPrefix(strings.TrimSpace(line), "```")
		if !ok {
			continue
		}
		// One that names no language ends a block: where none is open within, it is the end of the outer one.
		if fence == "" && !inside {
			return text
		}
		inside = fence != ""
	}
	if inside {
		return text
	}
	return body
}

package prompts

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// maxCleanings is how often an answer is cleaned at most: what one cleaning removes can reveal more to remove.
const maxCleanings = 8

// WithoutInstructions removes from an answer what a model copied from the instructions or from the text that views put
// around a summary. It also removes tags or fences around the whole answer. A section that is empty after that gets
// `(none)`. Thinking stays. Its running time is proportional to the length of the text.
func WithoutInstructions(text string) string {
	for range maxCleanings {
		rest := withoutLeaks(unwrapped(text))
		if rest == text {
			break
		}
		text = rest
	}
	return text
}

// An answer is refused at once if it has more than farOver times its budget, plus maxCopied tokens for copied text.
const (
	farOver   = 4
	maxCopied = 4096
)

// Cleaned returns an answer without copied instructions, ready for the checks. It refuses an answer that is far over
// its budget, since no cleaning can make it a summary. The error is a *summarizers.CheckError.
func Cleaned(req *summarizers.Request, answer string) (string, error) {
	most := req.MaxTokens
	if req.Kind == summarizers.Observation {
		most = req.TextTokens()
	}
	if tokens := req.Count(summarizers.WithoutThinking(answer)); uint64(tokens) > farOver*uint64(most)+maxCopied {
		return "", &summarizers.CheckError{
			Check:  summarizers.CheckBudget,
			Detail: fmt.Sprintf("The answer has %d tokens; at most %d are allowed.", tokens, most),
		}
	}
	return WithoutInstructions(answer), nil
}

func withoutLeaks(text string) string {
	lines := strings.Split(text, "\n")
	cleaned := make([]string, len(lines))
	// gone are the lines with nothing but our own text. last are the lines after which their section has no other text.
	gone, last := make([]bool, len(lines)), make([]bool, len(lines))
	ends, changed := true, false
	for i, line := range slices.Backward(lines) {
		rest, leaks := withoutLeak(line)
		cleaned[i], gone[i], last[i] = rest, leaks && rest == "", ends
		changed = changed || leaks
		if !gone[i] && strings.TrimSpace(line) != "" {
			ends = isHeading(line)
		}
	}
	if !changed {
		return text
	}
	kept := make([]string, 0, len(lines))
	belowHeading := false
	for i, line := range cleaned {
		if gone[i] {
			if !last[i] || !belowHeading {
				continue
			}
			line = summarizers.NothingBelow
		}
		kept = append(kept, line)
		if strings.TrimSpace(line) != "" {
			belowHeading = isHeading(line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// withoutLeak returns a line without copied text, and whether it had any. The result is empty if nothing else is on the
// line.
func withoutLeak(line string) (rest string, leaks bool) {
	if isHeading(line) {
		return line, false
	}
	if ourTag().MatchString(line) {
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
		var gone bool
		line, gone = withoutPieces(line, ends)
		leaks = leaks || gone
	}
	if !leaks {
		return line, false
	}
	for piece := range piecesOf(line, clauseEnds) {
		if key := keyOf(piece); key != "" && !copied()[key] {
			return strings.TrimRight(line, " \t"), true
		}
	}
	return "", true
}

// withoutPieces returns a line without its copied pieces, and whether it had any.
func withoutPieces(line, ends string) (rest string, gone bool) {
	var kept strings.Builder
	done, at := 0, 0
	for piece := range piecesOf(line, ends) {
		if key := keyOf(piece); len(key) >= minLeak && copied()[key] {
			kept.WriteString(line[done:at])
			done = at + len(piece)
		}
		at += len(piece)
	}
	if done == 0 {
		return line, false
	}
	kept.WriteString(line[done:])
	return kept.String(), true
}

// minLeak is how many bytes of letters a line or sentence needs to be recognized as copied. Shorter text may be
// anyone's, unless all text beside it is copied.
const minLeak = 16

// copied are the keys of all lines and sentences that a model may have copied.
var copied = sync.OnceValue(func() map[string]bool {
	keys := map[string]bool{}
	add := func(text string) {
		for line := range strings.Lines(text) {
			if isHeading(line) {
				continue
			}
			for _, ends := range []string{sentenceEnds, clauseEnds} {
				for piece := range piecesOf(line, ends) {
					keys[keyOf(piece)] = true
				}
			}
			keys[keyOf(line)] = true
		}
	}
	files, _ := texts.ReadDir("texts")
	for _, file := range files {
		add(placeholders.Replace(textOf(strings.TrimSuffix(file.Name(), ".txt"))))
	}
	add(wording.SummaryFrame)
	add(wording.SummaryReply)
	return keys
})

// placeholders removes the placeholders of the texts: what replaces them is a figure, which keyOf removes, or is not ours.
var placeholders = strings.NewReplacer("{tokens}", "", "{words}", "", "{refusal}", "")

// keyOf returns the lower-case letters of a text. Texts that differ only in punctuation, figures, spaces, citations or
// case have the same key.
func keyOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// The characters that end a sentence, or a part of one that can be copied alone.
const (
	sentenceEnds = ".?!"
	clauseEnds   = ".?!:"
)

// piecesOf returns the pieces of a line that end in one of these characters. Joined, they are the line.
func piecesOf(line, ends string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i < len(line); i++ {
			last := i+1 == len(line)
			if last || strings.IndexByte(ends, line[i]) >= 0 && (line[i+1] == ' ' || line[i+1] == '\n') {
				if !yield(line[start : i+1]) {
					return
				}
				start = i + 1
			}
		}
	}
}

var ourTag = sync.OnceValue(func() *regexp.Regexp {
	names := []string{
		tagConversation, tagRules, tagPrevious, tagContext, tagInstructions, tagTask, tagGuidelines, tagResult, "summary",
	}
	return regexp.MustCompile(`(?i)^\s*</?\s*(?:` + strings.Join(names, "|") + `)\s*>\s*$`)
})

func isHeading(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

// opened matches a line with which models introduce their answer.
var opened = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:sure|certainly|of course|okay|ok|understood)[,.!]?\s*)?(?:here(?:'s|’s| is)|below is|this is)\b.{0,80}\bsummary\b.{0,80}[:.]$`)
})

// maxFences is how many fences may surround an answer.
const maxFences = 4

// unwrapped removes what surrounds the whole of an answer: fences, tags, and a line that introduces it.
func unwrapped(text string) string {
	text = strings.TrimSpace(text)
	// Thinking before the answer stays.
	if said := summarizers.WithoutThinking(text); said != text && said != "" && strings.HasSuffix(text, said) {
		return strings.TrimSuffix(text, said) + bare(said)
	}
	return bare(text)
}

func bare(text string) string {
	for range maxFences + 1 {
		text = withoutTags(text)
		inner := withoutFence(text)
		if inner == text || strings.TrimSpace(inner) == "" {
			break
		}
		text = strings.TrimSpace(inner)
	}
	return text
}

// maxOpening is how many bytes at the beginning are searched for such a line.
const maxOpening = 1024

// withoutTags removes our tags at the beginning and their counterparts at the end, and lines that introduce the answer.
// It removes nothing if no other text would be left.
func withoutTags(text string) string {
	for {
		inner := text
		for _, tag := range []string{"summary", tagPrevious} {
			inner = withoutAll(inner, "<"+tag+">", strings.CutPrefix)
			inner = withoutAll(inner, "</"+tag+">", strings.CutSuffix)
		}
		first, _, more := strings.Cut(inner[:min(len(inner), maxOpening)], "\n")
		if more && (ourTag().MatchString(first) || opened().MatchString(strings.TrimSpace(first))) {
			inner = strings.TrimSpace(inner[len(first)+1:])
		}
		if inner == text || inner == "" {
			return text
		}
		text = inner
	}
}

func withoutAll(text, tag string, cut func(text, tag string) (string, bool)) string {
	for {
		rest, found := cut(text, tag)
		if !found {
			return text
		}
		text = strings.TrimSpace(rest)
	}
}

// withoutFence removes a fence around the whole text. Fences within the text stay.
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
		// A fence without a language closes a block. If none is open within, it closes the outer one.
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

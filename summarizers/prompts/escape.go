package prompts

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/compactord/compactord/summarizers"
)

// The tags of the user message. Nothing else in it can open or close one.
const (
	tagConversation = "conversation"
	tagRules        = "standing-rules"
	tagPrevious     = "previous-summary"
	tagContext      = "extra-context"
	tagInstructions = "instructions"
	tagTask         = "current-task"
	tagGuidelines   = "guidelines"
	tagResult       = "tool-result"
)

// escape makes a text safe to stand within our tags. What can be taken for one of them, or for the header of a message,
// gets a backslash behind its bracket, however it is written. With cites, citations stay as they are.
func escape(text string, cites bool) string {
	return escapeTags(text, cites, func(string) bool { return true })
}

// escapeInstructions makes instructions safe that the policy gives: they may name our other tags.
func escapeInstructions(text string) string {
	return escapeTags(text, true, func(name string) bool { return name == plain(tagInstructions) })
}

func escapeTags(text string, cites bool, ours func(name string) bool) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	var b strings.Builder
	done := 0
	for at := 0; at < len(text); {
		what, size := openingAt(text[at:])
		rest := text[at+size:]
		if what == opensTag && isTag(rest, ours) || what == opensHeader && isHeader(text[at:], rest, cites) {
			b.WriteString(text[done : at+size])
			b.WriteByte('\\')
			done = at + size
		}
		at += size
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// opening is what a sign may open.
type opening uint8

const (
	opensNothing opening = iota
	opensTag
	opensHeader
)

// openingAt returns what the text begins with, and its length in bytes.
func openingAt(text string) (opening, int) {
	r, size := signAt(text)
	switch {
	case r == '<':
		return opensTag, size
	case r == '[':
		return opensHeader, size
	case r < utf8.RuneSelf:
		return opensNothing, size
	}
	switch r {
	case '＜', '﹤', '‹', '«', '\u2329', '\u3008', '《', '⟨', '⟪', '❬', '❮', '˂', '≺', '≪', '≮', 'ᐸ', '⦑', '⧼':
		return opensTag, size
	case '［', '【', '〔', '﹝', '〖', '〚', '⟦', '❲', '⁅', '⦋', '⦍', '⦏':
		return opensHeader, size
	}
	return opensNothing, size
}

// isTag says whether what follows an opening bracket names a tag of ours: in any case, with any slash before it, with
// white space and signs that show nothing in between, and in letters that only look like its own.
func isTag(rest string, ours func(name string) bool) bool {
	var name [longestTag]byte
	n := 0
	for at := 0; at < len(rest); {
		r, size := signAt(rest[at:])
		at += size
		if !shown(r) || n == 0 && isSlash(r) || n > 0 && isHyphen(r) {
			continue
		}
		for _, part := range parts(r) {
			letter := latin(part)
			if letter == 0 || n == len(name) {
				return false
			}
			name[n] = letter
			n++
		}
		if tags[string(name[:n])] && ours(string(name[:n])) && !goesOn(rest[at:]) {
			return true
		}
	}
	return false
}

// tags are the names of our tags as isTag reads them.
var tags = func() map[string]bool {
	names := map[string]bool{}
	for _, tag := range []string{
		tagConversation, tagRules, tagPrevious, tagContext, tagInstructions, tagTask, tagGuidelines, tagResult,
	} {
		names[plain(tag)] = true
	}
	return names
}()

const longestTag = 16

func plain(tag string) string { return strings.ReplaceAll(tag, "-", "") }

// goesOn says whether a name goes on, so that it is another one.
func goesOn(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.:(", r))
}

// isHeader says whether what an opening bracket begins can be taken for the header of a message, or for a citation: a
// number sign and a digit follow, whatever shows nothing in between.
func isHeader(text, rest string, cites bool) bool {
	numbered := false
	for at := 0; at < len(rest); {
		r, size := signAt(rest[at:])
		at += size
		switch {
		case !shown(r) || r == '\\':
		case !numbered && strings.ContainsRune("#＃﹟♯", r):
			numbered = true
		case numbered && unicode.IsNumber(r):
			_, length := summarizers.CitationAt(text)
			return !cites || length == 0
		default:
			return false
		}
	}
	return false
}

// shown says whether a character shows anything of its own.
func shown(r rune) bool {
	switch r {
	case '\u115F', '\u1160', '\u3164', '\uFFA0', '\u2800', '\uFFFD':
		return false
	}
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me)
}

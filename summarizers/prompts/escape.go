package prompts

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/compactord/compactord/session/lookalike"
	"github.com/compactord/compactord/summarizers"
)

// The tags of the user message. Escaping keeps other text from opening or closing one.
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

// escape makes a text safe between our tags. It puts a backslash after the bracket of everything that could be read as
// one of our tags or as the header of a message, in any spelling. With cites set, it leaves citations unchanged.
func escape(text string, cites bool) string {
	return escapeTags(text, cites, func(string) bool { return true })
}

// escapeInstructions makes the policy's own instructions safe. They may name our tags, apart from the tag around them.
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

// opening says what a character may open.
type opening uint8

const (
	opensNothing opening = iota
	opensTag
	opensHeader
)

// openingAt returns what the first character of the text may open, and its length in bytes.
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

// isTag says whether the text after an opening bracket names one of our tags. It ignores case, slashes before the name,
// white space and invisible characters, and it accepts letters that look like Latin ones.
func isTag(rest string, ours func(name string) bool) bool {
	var name [longestTag]byte
	n := 0
	for at := 0; at < len(rest); {
		r, size := signAt(rest[at:])
		at += size
		if !lookalike.Shown(r) || n == 0 && isSlash(r) || n > 0 && isHyphen(r) {
			continue
		}
		for _, part := range lookalike.Parts(r) {
			letter := lookalike.Latin(part)
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

// tags are the names of our tags in the form that isTag reads.
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

// goesOn says whether the name continues, so that it is another name.
func goesOn(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.:(", r))
}

// isHeader says whether an opening bracket can be read as the beginning of a message's header or of a citation: it is
// followed by a number sign and a digit, perhaps with invisible characters in between.
func isHeader(text, rest string, cites bool) bool {
	numbered := false
	for at := 0; at < len(rest); {
		r, size := signAt(rest[at:])
		at += size
		switch {
		case !lookalike.Shown(r) || r == '\\':
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

func isSlash(r rune) bool { return strings.ContainsRune("/\\／∕⁄╱＼", r) }

func isHyphen(r rune) bool { return r == '_' || r == '＿' || unicode.Is(unicode.Pd, r) || r == '−' }

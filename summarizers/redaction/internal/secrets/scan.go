package secrets

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"
)

// Texts are searched in blocks. A rule then only reads text near its keywords, and the size of a block limits the time
// that an expression can take.
const (
	blockBytes = 8 << 10
	// overlapBytes is how far a block extends into its neighbours. A secret and its context are not longer.
	overlapBytes = 1 << 10
	// wordBytes is how far the ends of a block are moved at most, so as not to cut a word.
	wordBytes = 16 << 10
)

// span is a place where a rule found a secret.
type span struct {
	start, end int
	rule       int
}

// scan returns the secrets that the rules up to a rank find in a text. If the context ends, some may be missing.
func (s *ruleset) scan(ctx context.Context, text string, worst int) []span {
	var found []span
	near, wide := make([]bool, len(s.rules)), make([]bool, len(s.rules))
	for at := 0; at < len(text) && ctx.Err() == nil; at += blockBytes {
		start := wordStart(text, max(at-overlapBytes, 0))
		end := wordEnd(text, min(at+blockBytes+overlapBytes, len(text)))
		clear(near)
		s.words.each(text[start:end], func(word int) bool {
			for _, i := range s.of[word] {
				near[i] = true
			}
			return true
		})
		for i := range s.rules {
			switch {
			case s.rules[i].rank > worst:
			case near[i] && s.rules[i].wide:
				wide[i] = true
			case near[i]:
				found = s.match(found, text[start:end], start, i)
			}
		}
	}
	for i := range s.rules {
		if wide[i] && ctx.Err() == nil {
			found = s.match(found, text, 0, i)
		}
	}
	return found
}

// match appends the secrets that a rule finds in a block.
func (s *ruleset) match(found []span, block string, offset, i int) []span {
	r := &s.rules[i]
	e := r.expression()
	for _, groups := range e.FindAllStringSubmatchIndex(block, -1) {
		start, end := secretOf(groups, e.group)
		start, end = bareOf(block, start, end)
		if start < end && s.secret(r, block[start:end], block, groups[0], groups[1]) {
			found = append(found, span{offset + start, offset + end, i})
		}
		// An expression that matches up to the last secret of a line may have skipped others.
		if start-groups[0] > longContext {
			found = s.match(found, block[groups[0]:start], offset+groups[0], i)
		}
	}
	return found
}

// longContext is a longer context than most expressions match before a secret.
const longContext = 256

// bareOf shrinks a range to exclude quotes around the secret, and backslashes before the closing quote.
func bareOf(block string, start, end int) (int, int) {
	end = start + len(strings.TrimRight(block[start:end], `\`))
	if end-start >= 2 && (block[start] == '"' || block[start] == '\'') && block[start] == block[end-1] {
		return start + 1, end - 1
	}
	return start, end
}

// secretOf returns the range of the secret in a match: its group, or the first group that is not empty.
func secretOf(groups []int, group int) (start, end int) {
	start, end = groups[0], groups[1]
	switch {
	case group == wholeMatch:
		return start, end
	case group > 0:
		return max(groups[2*group], 0), max(groups[2*group+1], 0)
	}
	for g := 2; g < len(groups); g += 2 {
		if groups[g] >= 0 && groups[g+1] > groups[g] {
			return groups[g], groups[g+1]
		}
	}
	return start, end
}

// secret says whether a match of a rule's expression is a secret.
func (s *ruleset) secret(r *rule, secret, block string, start, end int) bool {
	if r.Entropy > 0 && entropy(secret) <= r.Entropy {
		return false
	}
	match := strings.Trim(block[start:end], "\n")
	lineStart := strings.LastIndexByte(block[:start], '\n') + 1
	lineEnd := len(block)
	if i := strings.IndexByte(block[end:], '\n'); i >= 0 {
		lineEnd = end + i
	}
	line := block[lineStart:lineEnd]
	return !allows(s.allow(), secret, match, line) && !allows(r.allow(), secret, match, line)
}

// entropy returns the Shannon entropy in bits per character, computed like gitleaks does, over the length in bytes.
func entropy(text string) float64 {
	var ascii [utf8.RuneSelf]int
	var others map[rune]int
	for _, c := range text {
		if c < utf8.RuneSelf {
			ascii[c]++
			continue
		}
		if others == nil {
			others = make(map[rune]int)
		}
		others[c]++
	}
	var bits float64
	add := func(n int) {
		if n > 0 {
			share := float64(n) / float64(len(text))
			bits -= share * math.Log2(share)
		}
	}
	for _, n := range ascii {
		add(n)
	}
	for _, n := range others {
		add(n)
	}
	return bits
}

// wordStart moves an index back to the character after a blank, if there is one within wordBytes, or else to the start
// of a character.
func wordStart(text string, at int) int {
	for i := at; i > max(at-wordBytes, 0); i-- {
		if blank(text[i-1]) {
			return i
		}
	}
	if at <= wordBytes {
		return 0
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// wordEnd moves an index forward to the next blank, if there is one within wordBytes, or else to the start of a
// character.
func wordEnd(text string, at int) int {
	for i := at; i < min(at+wordBytes, len(text)); i++ {
		if blank(text[i]) {
			return i
		}
	}
	if len(text)-at <= wordBytes {
		return len(text)
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

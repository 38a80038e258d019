package extractive

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// eachSentence calls yield for each sentence of a paragraph. It does not split text in backquotes.
func eachSentence(s string, yield func(sentence string, last bool)) {
	start, quoted := 0, -1
	for i := 0; i < len(s); {
		b := s[i]
		if isWithinSentence[b] {
			i++
			continue
		}
		end := 0
		switch {
		case b == '`':
			if quoted >= 0 {
				quoted = -1
			} else if strings.IndexByte(s[i+1:], '`') >= 0 {
				quoted = i
			}
			i++
			continue
		case b < utf8.RuneSelf:
			if quoted < 0 && (b == '.' || b == '!' || b == '?') {
				end = sentenceEnd(s, start, i)
			}
			i = max(i+1, end)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			i += size
			if quoted < 0 && (r == '。' || r == '！' || r == '？' || r == '；') {
				end = i
				// A closing quotation mark belongs to the sentence.
				if next, n := utf8.DecodeRuneInString(s[i:]); next == '”' || next == '」' || next == '）' {
					end += n
					i += n
				}
			}
		}
		if end > 0 {
			sentence := strings.TrimSpace(s[start:end])
			start = end
			rest := strings.TrimSpace(s[end:])
			if sentence != "" {
				yield(sentence, rest == "")
			}
		}
	}
	if sentence := strings.TrimSpace(s[start:]); sentence != "" {
		yield(sentence, true)
	}
}

// isWithinSentence are the ASCII characters that neither end a sentence nor quote anything.
var isWithinSentence = func() (within [256]bool) {
	for b := range utf8.RuneSelf {
		within[b] = strings.IndexByte("`.!?", byte(b)) < 0
	}
	return within
}()

// sentenceEnd returns the end of the sentence that began at start, if the character at i ends it, and otherwise 0.
func sentenceEnd(s string, start, i int) int {
	end := i + 1
	for end < len(s) && strings.IndexByte(`"')]*`, s[end]) >= 0 {
		end++
	}
	if end == len(s) {
		return end
	}
	if s[end] >= utf8.RuneSelf && s[i] != '.' {
		return end
	}
	if s[end] != ' ' && s[end] != '\t' {
		return 0
	}
	next := byte('A')
	if end+1 < len(s) {
		next = s[end+1]
	}
	small := next >= 'a' && next <= 'z'
	if end > i+1 && small {
		// The quotation ended, but not the sentence around it.
		return 0
	}
	if s[i] != '.' {
		return end
	}
	word := s[start:i]
	if j := strings.LastIndexAny(word, " (\t"); j >= 0 {
		word = word[j+1:]
	}
	word = strings.TrimLeft(word, "*_(\"")
	switch {
	case next == '(':
		// What stands in parentheses belongs to the sentence before.
		return 0
	case isDigits(word) && len(word) < 4:
		return 0
	case isDate(word), isRangeOfDays(word), isAbbreviation(word, next):
		return 0
	case small && i-start <= 12:
		// A small letter continues the sentence, unless the sentence so far is longer than a few words.
		return 0
	default:
		return end
	}
}

// abbreviations are words that end in a full stop within a sentence.
var abbreviations = wordSet(`eg ie vs cf approx ca mr mrs ms dr prof st fig incl excl resp bzw zzgl evtl ggf nr kl tel vgl sr sra srta ud uds avda pág núm aprox
	mme mlle г гг см ул тел`)

// midSentence are words that end a sentence before a capital letter about as often as not.
var midSentence = wordSet("no etc inc ltd co corp jr")

// isAbbreviation says whether the full stop after a word belongs to it. next is the first byte of what follows.
func isAbbreviation(word string, next byte) bool {
	small, digit := next >= 'a' && next <= 'z', next >= '0' && next <= '9'
	dots := strings.Contains(word, ".")
	switch {
	case utf8.RuneCountInString(word) <= 1:
		return true
	case dots && !strings.ContainsAny(word, "0123456789/_") && shortParts(word):
		// "S.A.", "z.B.", "a.m."
		return small || digit || next >= utf8.RuneSelf || !isTime(word)
	}
	word = strings.ToLower(word)
	return abbreviations[word] || midSentence[word] && (small || digit)
}

// isTime says whether a word is "a.m" or "p.m", after which a sentence often ends.
func isTime(word string) bool {
	return strings.EqualFold(word, "a.m") || strings.EqualFold(word, "p.m")
}

// shortParts says whether a word has only parts of one or two letters between its full stops.
func shortParts(word string) bool {
	for part := range strings.SplitSeq(word, ".") {
		if utf8.RuneCountInString(part) > 2 {
			return false
		}
	}
	return true
}

// isDate says whether a word is the beginning of a date such as "9.4." or "15.04.".
func isDate(word string) bool {
	day, month, ok := strings.Cut(word, ".")
	return ok && len(day) > 0 && len(day) <= 2 && len(month) > 0 && len(month) <= 2 && isDigits(day) && isDigits(month)
}

// isRangeOfDays says whether a word is several days of a month, without the last full stop: "14./15", "1.–21".
func isRangeOfDays(word string) bool {
	days := strings.FieldsFunc(word, func(r rune) bool { return r == '/' || r == '-' || r == '–' })
	return len(days) > 1 && !slices.ContainsFunc(days, func(day string) bool {
		day = strings.TrimSuffix(day, ".")
		return day == "" || len(day) > 2 || !isDigits(day)
	})
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

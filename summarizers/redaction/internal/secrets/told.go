package secrets

import (
	"strings"
	"unicode/utf8"
)

// toldBytes is how far behind its name a password may be told, and toldWords behind how many words.
const (
	toldBytes = 96
	toldWords = 6
)

// toldLength is how long a word of a sentence may be.
const toldLength = 160

// links are words between a name and what is told, in the languages that have the same letters.
var links = wordMap("is was are be = to ist lautet war est c'est es será e' è é on je este är er adalah to: jest is: became becomes type enter use try sei sono")

// afterNames are words that may follow a name before a link.
var afterNames = wordMap("for of on in at from to the my our your a an der die das den dem für von del de la le los el do da di per il voor do changed will has been " +
	"het que account user admin root wifi db database")

// findTold finds passwords that a person tells behind a word for passwords that is none of a program.
func findTold(r *reading, rule, start, end int) {
	text := r.text
	ascii := text[start] < 0x80
	if ascii && (start > 0 && wordByte(text[start-1]) || end < len(text) && wordByte(text[end]) && text[end-1] < 0x80 && !inflected(text, end)) {
		return
	}
	r.told(rule, start, end, passwordNoun, false)
}

// inflected says whether the rest of a word is short, as an ending is.
func inflected(text string, at int) bool {
	end := at
	for end < len(text) && end-at < 8 && (letterByte(text[end]) || text[end] >= 0x80) {
		end++
	}
	return end-at < 5 && (end == len(text) || !wordByte(text[end]))
}

// told adds what a sentence says that a password is. english says that the name is also an English word, which
// sentences use in other ways too.
func (r *reading) told(rule, start, end int, kind noun, english bool) {
	text := r.text
	if r.toldBefore(rule, start) {
		return
	}
	limit := min(end+toldBytes, len(text))
	linked, words, lines, sinceLink, quoted := false, 0, 0, 0, false
	for at := end; at < limit; {
		c := text[at]
		switch {
		case c == '\n':
			lines++
			if lines > 3 || !linked && !english || words > 3 {
				return
			}
			at++
		case c == ' ' || c == '\t' || c == '\r' || c == '*' || c == '(' || c == '>':
			at++
		case c == '"' || c == '\'' || c == '`':
			quoted = true
			if v := valueAt(text, at); v.quoted && (linked || words == 0) && (assignable(text[v.start:v.end], false) || kind == phraseNoun && phraseLike(text[v.start:v.end])) {
				r.add(rule, v.start, v.end)
				return
			}
			at++
		case c == ':' || c == '=':
			linked, sinceLink = true, 0
			at++
		case c == ',' && words == 0 && at == end:
			at++
		case c == '-' && at+1 < len(text) && text[at+1] == ' ':
			linked, sinceLink = true, 0
			at++
		case c >= 0x80:
			word, size := utf8.DecodeRuneInString(text[at:])
			if word == '。' || word == '!' || word == '?' || word == '；' {
				return
			}
			linked = linked || !english || word == '—' || word == '–' || word == '→' || word == '«' || word == ':'
			at += size
		default:
			stop := at
			for stop < len(text) && stop-at < toldLength && text[stop] > ' ' && text[stop] < 0x80 && strings.IndexByte("\"`<>,;)]}", text[stop]) < 0 {
				stop++
			}
			if stop == at {
				return
			}
			if stop-at == toldLength {
				return
			}
			stop = restOfWord(text, stop)
			word := strings.TrimRight(text[at:stop], ".:?'")
			if kind == phraseNoun && linked {
				if v := phraseAt(text, at); phraseLike(text[v.start:v.end]) {
					r.add(rule, v.start, v.end)
					return
				}
			}
			if (linked || !english || words == 0 || quoted) && r.tell(rule, at, word, kind, lines) {
				return
			}
			lower := strings.ToLower(word)
			m := mixtureOf(word)
			if words++; words > toldWords || m.letters()+m.others+strings.Count(word, "'") != len(word) || lines > 0 {
				return
			}
			switch {
			case links[lower]:
				linked, sinceLink = true, 0
			case linked:
				if sinceLink++; sinceLink > 3 {
					return
				}
			case english && words == 1 && !afterNames[lower]:
				return
			}
			at += max(len(word), 1)
			if at < len(text) && (text[at] == '.' || text[at] == '?') {
				return
			}
		}
	}
}

// restOfWord returns where a word ends that has other letters than ASCII's, in an alphabet.
func restOfWord(text string, at int) int {
	for limit := at + nameLimit; at < len(text) && at < limit; {
		c, size := utf8.DecodeRuneInString(text[at:])
		if (c < 0xC0 || c > 0x52F) && (c >= utf8.RuneSelf || !letterByte(text[at])) {
			break
		}
		at += size
	}
	return at
}

// tell adds a word of a sentence if it can only be a secret.
func (r *reading) tell(rule, at int, word string, kind noun, lines int) bool {
	word = strings.TrimRight(word, "'")
	if strings.HasSuffix(word, "!") && !strings.HasSuffix(word, "!!") && !tellable(word) {
		word = strings.TrimSuffix(word, "!")
	}
	drawn := kind >= tokenNoun && (randomLike(word) || hexLike(strings.TrimPrefix(word, "0x")) && len(word) >= 32)
	if !tellable(word) && !drawn {
		return false
	}
	if lines > 0 {
		// A value below its name stands alone.
		end := at + len(word)
		if rest := r.text[end:min(end+2, len(r.text))]; strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, ":") {
			return false
		}
	}
	r.add(rule, at, at+len(word))
	return true
}

// toldBefore adds a password that stands before its name: "use X as the password".
func (r *reading) toldBefore(rule, start int) bool {
	text := r.text
	at := start
	for range 3 {
		word, from := wordBefore(text, at)
		if word == "as" {
			end := len(strings.TrimRight(text[max(from-valueBytes, 0):from], " \t\"'`*")) + max(from-valueBytes, 0)
			begin := end
			for begin > 0 && end-begin < 128 && text[begin-1] > ' ' && text[begin-1] < 0x80 && strings.IndexByte("\"'`*", text[begin-1]) < 0 {
				begin--
			}
			if tellable(text[begin:end]) {
				r.add(rule, begin, end)
				return true
			}
			return false
		}
		if word != "the" && word != "my" && word != "your" && word != "a" && word != "new" && word != "our" {
			return false
		}
		at = from
	}
	return false
}

// loginBytes is how far from a word for a login its name and password may stand.
const loginBytes = 96

// findLogin finds the password of a login: "admin / X", "admin:X", "admin and X".
func findLogin(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && wordByte(text[start-1]) {
		return
	}
	limit := min(end+loginBytes, len(text))
	if i := strings.IndexByte(text[end:limit], '\n'); i >= 0 {
		limit = end + i
	}
	// A word for a login in the same word need not be looked at again.
	for stop := end; stop < limit && text[stop] > ' '; stop++ {
		r.until[rule] = stop
	}
	previous, joined := "", false
	for at := end; at < limit; {
		if text[at] <= ' ' || strings.IndexByte(":=(\"'`,", text[at]) >= 0 {
			at++
			continue
		}
		stop := at
		for stop < len(text) && text[stop] > ' ' && strings.IndexByte("\"'`()", text[stop]) < 0 && stop-at < toldLength {
			stop++
		}
		if stop-at >= toldLength {
			return
		}
		word := strings.TrimRight(text[at:stop], ".,;:?")
		if i := strings.IndexAny(word, "/:"); i > 1 && i < len(word)-1 && !strings.ContainsAny(word[i+1:], "/:") && accountName(word[:i]) && tellable(word[i+1:]) {
			r.add(rule, at+i+1, at+len(word))
			r.until[rule] = at + len(word)
			return
		}
		if joined && accountName(previous) && tellable(word) {
			r.add(rule, at, at+len(word))
			r.until[rule] = at + len(word)
			return
		}
		switch strings.ToLower(word) {
		case "/", "and", "und", "et", "y", "e", "с", "и", "|":
			joined = previous != ""
		default:
			previous, joined = word, false
		}
		at = max(stop, at+1)
	}
}

func accountName(text string) bool {
	for i := range len(text) {
		if c := text[i]; !nameByte(c) && c != '@' && c != '+' && c < 0x80 {
			return false
		}
	}
	return len(text) > 1 && text[0] != '-' && text[0] != '.'
}

// findPair finds the second of two texts in quotes, a name and a password, that are given to a function.
func findPair(r *reading, rule, _, end int) {
	name := valueAt(r.text, end)
	if !name.quoted {
		return
	}
	at := name.end + 1
	for n := 0; n < 4 && at < len(r.text) && (r.text[at] == ',' || r.text[at] == ' '); n++ {
		at++
	}
	if v := valueAt(r.text, at); v.quoted && assignable(r.text[v.start:v.end], true) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

package secrets

import "strings"

var base32Bytes = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

// findSeed finds the seed of one-time codes behind a word for it.
func findSeed(r *reading, rule, _, end int) {
	text := r.text
	for at := end; at < min(end+80, len(text)) && text[at] != '\n'; at++ {
		if !base32Bytes.has(text[at]) || at > 0 && wordByte(text[at-1]) {
			continue
		}
		stop := seedEnd(text, at)
		if stop < len(text) && wordByte(text[stop]) {
			continue
		}
		if m := mixtureOf(text[at:stop]); stop-at >= 16 && m.digits > 0 && (m.upper > 4 || m.blanks > 2) {
			r.add(rule, at, stop)
			r.until[rule] = stop
			return
		}
	}
}

// seedEnd returns where a seed ends that begins at a place, also in groups of four.
func seedEnd(text string, at int) int {
	end := runOf(text, at, &base32Bytes, 128)
	for end-at >= 4 && end+4 < len(text)+1 && end < len(text) && (text[end] == ' ' || text[end] == '-') {
		next := runOf(text, end+1, &base32Bytes, 128)
		if next-end-1 != 4 {
			break
		}
		end = next
	}
	return end
}

// codeLinks are what may stand between a word for a code and the code.
var codeLinks = wordMap("is was code lautet ist est es è é to your der le la il o a für the")

// codeBytes is how far from its name a one-time code may stand.
const codeBytes = 48

// findCode finds a one-time code behind a word for it, or before "is your".
func findCode(r *reading, rule, start, end int) {
	text := r.text
	if r.codeBefore(rule, start) {
		return
	}
	if start > 0 && wordByte(text[start-1]) && text[start-1] != '_' || end < len(text) && letterByte(text[end]) && text[end-1] < 0x80 {
		return
	}
	pin := strings.EqualFold(text[start:end], "pin")
	linked, words := false, 0
	for at := end; at < min(end+codeBytes, len(text)); {
		c := text[at]
		switch {
		case c >= '0' && c <= '9':
			stop := runOf(text, at, &digitBytes, 12)
			if n := stop - at; n >= 4 && n <= 8 && (linked || !pin && end == at-1 || text[end-1] >= 0x80) && !continued(text, stop) {
				r.add(rule, at, stop)
				r.until[rule] = stop
			}
			return
		case c == ':' || c == '=' || c >= 0x80:
			linked = linked || c < 0x80 || text[end-1] >= 0x80
			at++
		case c == ' ' || c == '\t' || c == '"' || c == '\'' || c == '`' || c == '*':
			at++
		case letterByte(c):
			stop := at
			for stop < len(text) && letterByte(text[stop]) {
				stop++
			}
			word := strings.ToLower(text[at:stop])
			if linked && !codeLinks[word] {
				return
			}
			if words++; words > 4 || !codeLinks[word] && !strings.HasPrefix(text[end:], " for ") && !strings.HasPrefix(text[end:], " of ") && !strings.HasPrefix(text[end:], " to ") {
				return
			}
			linked, at = linked || codeLinks[word] && word != "the" && word != "for", stop
		default:
			return
		}
	}
}

// codeBefore adds the code before "is your" and a word for it.
func (r *reading) codeBefore(rule, start int) bool {
	before := r.text[max(start-codeBytes, 0):start]
	i := strings.LastIndex(before, " is your ")
	if i < 0 {
		return false
	}
	end := start - len(before) + i
	from := runBefore(r.text, end, &digitBytes, 12)
	if n := end - from; n < 4 || n > 8 {
		return false
	}
	r.add(rule, from, end)
	return true
}

// continued says whether digits are the beginning of something else than a code.
func continued(text string, at int) bool {
	if at >= len(text) {
		return false
	}
	c := text[at]
	return letterByte(c) || (c == '.' || c == '-' || c == ':' || c == '/' || c == ',') && at+1 < len(text) && text[at+1] >= '0' && text[at+1] <= '9' || c == '%'
}

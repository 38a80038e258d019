package secrets

import "strings"

// dumpBytes is how much of a dump is read behind the names of its columns.
const dumpBytes = 4 * commandBytes

// findCopied finds the secrets in rows that PostgreSQL copies: `COPY users (id, token) FROM stdin;`, then lines with tabs.
func findCopied(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && wordByte(text[start-1]) || !r.again(rule, start, end+dumpBytes) {
		return
	}
	line := lineBreak(text, end)
	_, names, found := strings.Cut(text[end:line], "(")
	names, rest, closed := strings.Cut(names, ")")
	if !found || !closed || !holdsFold(rest, "from stdin") {
		return
	}
	kinds := columnKinds(names)
	for at := line + 1; at < min(line+dumpBytes, len(text)); {
		stop := lineBreak(text, at)
		row := text[at:stop]
		if strings.HasPrefix(row, `\.`) || row == "" {
			break
		}
		column := 0
		for field := range strings.SplitSeq(row, "\t") {
			if column < len(kinds) && storedSecret(field, kinds[column]) {
				r.add(rule, at, at+len(field))
			}
			column++
			at += len(field) + len("\t")
		}
		at = stop + 1
		r.until[rule] = stop
	}
}

// columnKinds returns what the names of columns call their values.
func columnKinds(names string) (kinds []noun) {
	for name := range strings.SplitSeq(names, ",") {
		name = strings.Trim(name, " \t\r\n`\"'[]")
		kind := nounOf(name)
		if kind == noNoun {
			kind = qualifiedNoun(name)
		}
		if kind == tokenNoun && drawnNames.any(name) {
			kind = noNoun
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// storedSecret says whether a field of a row is a secret of a kind.
func storedSecret(text string, kind noun) bool {
	switch kind {
	case noNoun:
		return false
	case passwordNoun, phraseNoun:
		return fits(text, given)
	default:
		return randomLike(text) || hexLike(text) && len(text) >= 32 || drawnWord(text)
	}
}

// findAccountToken finds the token of Twilio beside the number of the account, which begins with AC.
func findAccountToken(r *reading, rule, start, end int) {
	text := r.text
	stop := runOf(text, end, &hexBytes, 33)
	if text[start+1] != 'A' || stop-end != 32 {
		return
	}
	r.until[rule] = stop
	if v := valueAt(text, behindComma(text, min(stop+1, len(text)))); v.quoted && v.end-v.start == 32 && hexLike(text[v.start:v.end]) {
		r.add(rule, v.start, v.end)
	}
}

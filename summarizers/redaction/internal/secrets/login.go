package secrets

import "strings"

// readings counts how often the same part of a text is read.
type readings struct{ until, n int }

// again says whether a rule may read once more what is near one of its keywords.
func (r *reading) again(rule, from, to int) bool { return r.limits[rule].another(from, to) }

// maxNames is how many names are read in nameWindow bytes. No settings have as many.
const (
	nameWindow = 512
	maxNames   = 40
)

// maxReadings is how often the same part of a text is read from different words on.
const maxReadings = 6

// within says whether one more of at most n readings may begin in a part of a text.
func (r *readings) within(from, length, n int) bool {
	if from >= r.until {
		*r = readings{until: from + length}
	}
	r.n++
	return r.n <= n
}

// another says whether a part of a text may be read once more.
func (r *readings) another(from, to int) bool {
	if from >= r.until {
		*r = readings{until: to}
	}
	r.n++
	return r.n <= maxReadings
}

// loginBytes is how far from a word for a login its name and password may stand.
const loginBytes = 96

// findLogin finds the password of a login: "admin / X", "admin:X", "admin and X".
func findLogin(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && wordByte(text[start-1]) || !r.limits[rule].within(start, 2*loginBytes, maxReadings) {
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
	previous, joined, slashed := "", false, false
	with := strings.HasPrefix(text[end:], " with ")
	as := strings.HasPrefix(text[end:], " as ") || strings.HasSuffix(text[:end], "in as ")
	network := text[start]|0x20 == 'w'
	at := end
	if strings.HasPrefix(text[end:], " as ") {
		at += len(" as ")
	}
	for at < limit {
		if text[at] <= ' ' || splitsLogin.has(text[at]) {
			at++
			continue
		}
		stop := at
		for stop < len(text) && text[stop] > ' ' && !marksLogin.has(text[stop]) && stop-at < toldLength {
			stop++
		}
		if stop-at >= toldLength {
			return
		}
		word := trimRight(text[at:stop], &endsLogin)
		if i := splitsPair.index(word); i > 1 && i < len(word)-1 && splitsPair.index(word[i+1:]) < 0 && accountName(word[:i]) &&
			(tellable(word[i+1:]) || (as || with || strings.HasPrefix(text[end:], ": ")) && previous == "" && stated(word[i+1:], true)) {
			r.add(rule, at+i+1, at+len(word))
			r.until[rule] = at + len(word)
			return
		}
		if joined && accountName(previous) && (network || !typeName(previous)) && (tellable(word) || slashed && mixtureOf(word).signedName(word) || stated(word, with && slashed && mixtureOf(word).upper > 0 || lastWordAt(text, at+len(word))) && !numberedPair(previous, word)) {
			r.add(rule, at, at+len(word))
			r.until[rule] = at + len(word)
			return
		}
		link := ""
		if len(word) <= len("with ") {
			link = strings.ToLower(word)
		}
		switch link {
		case "/", "and", "und", "et", "y", "e", "с", "и", "|", "with", "mit", "con", "avec", "com":
			joined, slashed = previous != "", word == "/"
		default:
			previous, joined = word, false
		}
		at = max(stop, at+1)
	}
}

// numberedPair says whether two words both end in a number: "between cp2 and prompt3".
func numberedPair(first, second string) bool {
	a, b := mixtureOf(first), mixtureOf(second)
	return a.digits > 0 && b.digits > 0 && a.wordsAndDigits() && b.wordsAndDigits()
}

func accountName(text string) bool {
	for i := range len(text) {
		if c := text[i]; !nameByte(c) && c != '@' && c != '+' && c < 0x80 {
			return false
		}
	}
	return len(text) > 1 && text[0] != '-' && text[0] != '.'
}

// typeName says whether a word is a name of a program that several words with capitals make, such as Http2Server.
func typeName(word string) bool {
	m := mixtureOf(word)
	return m.upper > 1 && m.lower > 1 && m.letters()+m.digits == len(word) && word[0] >= 'A' && word[0] <= 'Z'
}

// findPair finds the second of two texts in quotes, a name and a password, that are given to a function.
func findPair(r *reading, rule, _, end int) {
	name := valueAt(r.text, end)
	if name.quoted {
		// The realm and the place of the login may stand before the name.
		if second := r.argumentEnd(name.end + 1); second < len(r.text) {
			if third := r.argumentEnd(second); third < len(r.text) && r.text[third] == ',' {
				name = valueAt(r.text, behindComma(r.text, second))
			}
		}
		r.nextArgument(rule, name.end+1)
		return
	}
	// A context may stand before them.
	if name.end < len(r.text) && r.text[name.end] == ',' && r.text[name.start:name.end] == "ctx" {
		if name = valueAt(r.text, behindComma(r.text, name.end)); name.quoted {
			r.nextArgument(rule, name.end+1)
		}
	}
}

// findConnection finds the third of three texts in quotes that are given to a function: an address, a name, a password.
func findConnection(r *reading, rule, _, end int) {
	address := valueAt(r.text, end)
	if !address.quoted {
		if address.end++; address.end > len(r.text) || r.text[address.end-1] != ',' {
			return
		}
		address.end--
	}
	name := valueAt(r.text, behindComma(r.text, min(address.end+1, len(r.text))))
	if !name.quoted {
		return
	}
	if v := valueAt(r.text, behindComma(r.text, name.end+1)); v.quoted && address.quoted && fits(r.text[v.start:v.end], given) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
		return
	}
	r.nextArgument(rule, name.end+1)
}

// argumentEnd returns where the argument behind a comma ends, with its quote: the same place without one in quotes.
func (r *reading) argumentEnd(at int) int {
	v := valueAt(r.text, behindComma(r.text, at))
	if !v.quoted || at >= len(r.text) || r.text[at] != ',' {
		return len(r.text)
	}
	return v.end + 1
}

func behindComma(text string, at int) int {
	for n := 0; n < 4 && at < len(text) && (text[at] == ',' || text[at] == ' '); n++ {
		at++
	}
	return at
}

// nextArgument adds the argument behind another one if it may be a password.
func (r *reading) nextArgument(rule, at int) {
	v := valueAt(r.text, behindComma(r.text, at))
	if text := r.text[v.start:v.end]; v.quoted && (assignable(text, true) || twoWords(text) || fits(text, given) && mixtureOf(text).upper+mixtureOf(text).digits > 0) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

// findLoginBefore finds the password of a login before the word for it: "root/X でログイン".
func findLoginBefore(r *reading, rule, start, _ int) {
	text, from := r.text[:start], max(start-loginBytes, r.until[rule])
	r.until[rule] = start
	for at := start; at > from && text[at-1] != '\n'; at-- {
		if c := text[at-1]; c != '/' && c != ':' {
			continue
		}
		name := at - 1
		for name > 0 && text[name-1] == ' ' && at-name < 4 {
			name--
		}
		from := runBefore(text, name, &accountBytes, 32)
		v := valueAt(text, at)
		if word := text[v.start:v.end]; from < name && v.end <= start && (tellable(word) || stated(word, true)) {
			r.add(rule, v.start, v.end)
			return
		}
	}
}

var accountBytes = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-@")

package secrets

import "strings"

// alone says whether a word is all that a line has behind a name and a colon, as behind a prompt, or the end of a
// sentence that says what the password is.
func (t *telling) alone(at, end int, word string) bool {
	if t.kind > phraseNoun || t.lines > 0 || !t.linked || t.sinceLink > 0 || t.quoted {
		return false
	}
	before := trimRight(t.text[t.end:at], &besideValue)
	colon := strings.HasSuffix(before, ":") || strings.HasSuffix(before, "：") || strings.HasSuffix(before, "→")
	rest := trimLeft(t.text[end:min(end+8, len(t.text))], &blanks)
	last := rest == "" || rest[0] == '\n' || rest[0] == '\r'
	switch {
	case colon && last && !t.english:
		return fits(word, inQuotes)
	case colon && last:
		return fits(word, onLine)
	case colon || !t.english:
		m := mixtureOf(word)
		return (m.digits > 0 && m.letters() > 2 && !m.wordsAndDigits() || m.upper > 1 && m.lower > 2) && lastWordAt(t.text, end) && fits(word, onLine)
	default:
		// Words that only somebody who makes passwords joins.
		m := mixtureOf(word)
		if m.lower != len(word) || len(word) < 8 {
			return false
		}
		before, _ := wordBefore(t.text, t.name)
		return (lastWordAt(t.text, end) || before == "my" && asideWords[wordAt(t.text, end)]) && (len(word) >= 13 || before == "my") && !adjectival(word) && fits(word, onLine)
	}
}

// asideWords are words that begin what people add to what they have told.
var asideWords = wordMap("btw fyi ok lol haha if but so thanks")

// wordAt returns the word behind a blank.
func wordAt(text string, at int) string {
	from := min(at+1, len(text))
	end := from
	for end < len(text) && end-from < 8 && letterByte(text[end]) {
		end++
	}
	return text[from:end]
}

// adjectival says whether a word has an ending of words that say how or where something is.
func adjectival(word string) bool {
	for _, ending := range []string{"ic", "ory", "ary", "ful", "ous", "ive", "less", "ent", "ant", "ete", "ier", "where", "wise"} {
		if strings.HasSuffix(word, ending) {
			return true
		}
	}
	return false
}

// pairWords are words before the name of a password that is told behind the name of a user.
var pairWords = wordMap("and with und mit y con et avec e com c use using usa utilise utilisez verwende nutze benutze")

// paired says whether a word directly follows a name in a sentence such as "user X and password Y".
func (t *telling) paired(end int, word string) bool {
	if t.words > 0 || t.linked || t.quoted || !t.english {
		return false
	}
	last := lastWordAt(t.text, end)
	if name := t.text[t.name:t.end]; (name == "pw" || name == "psk" || name == "pwd") && last && t.name > 0 && inSentence.has(t.text[t.name-1]) {
		// No other word than these is only the name of what follows.
		return stated(word, true) || chosenWord(word) && len(word) >= 8
	}
	if m := mixtureOf(word); !last && (m.upper == 0 || m.digits == 0 || m.lower < 4) {
		return false
	}
	if last && t.kind == passwordNoun && mixtureOf(word).upper > 0 && chosenText(word) {
		// A user was named before.
		if line := t.text[max(t.name-sideBytes, 0):t.name]; userWords.any(line[strings.LastIndexByte(line, '\n')+1:]) {
			return stated(word, true) || twoWords(word)
		}
	}
	before, from := wordBefore(t.text, t.name)
	if before == "the" || before == "das" || before == "dem" || before == "la" || before == "le" {
		before, _ = wordBefore(t.text, from)
	}
	return pairWords[before] && (from == 0 || t.text[from-1] != '-') && stated(word, true)
}

// toldBefore adds a password that stands before its name: "use X as the password", "X is the password".
func (r *reading) toldBefore(rule, start int) bool {
	text := r.text
	at := start
	var b [beforeBytes]byte
	for range 5 {
		from, end := wordEndingAt(text, at)
		word := smallLetters(&b, text[from:end])
		switch {
		case string(word) == "s" && strings.HasSuffix(text[:from], "that'"):
			from = len(strings.TrimRight(text[:from-len("that'")], " -–—,."))
			return r.wordTold(rule, from, false)
		default:
			switch rolesBefore[string(word)] {
			case linkBefore:
				return r.wordTold(rule, from, string(word) == "is")
			case noneBefore:
				return false
			case nameBefore:
			}
		}
		at = from
	}
	return false
}

// roleBefore is what a word does before the name of a password.
type roleBefore int

const (
	noneBefore roleBefore = iota
	// linkBefore is a word between a password and its name, and nameBefore one between a link and the name, or one for
	// what a password may be for.
	linkBefore
	nameBefore
)

var rolesBefore = func() map[string]roleBefore {
	roles := make(map[string]roleBefore)
	for word := range strings.FieldsSeq("the its his her their my your a an our new das dein mein unser el la le il tu mi o " +
		"root admin sudo master database db wifi user login temporary default initial staging production server account router vpn mysql postgres redis ssh ftp smtp") {
		roles[word] = nameBefore
	}
	for word := range strings.FieldsSeq("as als como comme is ist es est") {
		roles[word] = linkBefore
	}
	return roles
}()

// wordTold adds the word before a place if it can only be a password.
func (r *reading) wordTold(rule, from int, question bool) bool {
	text := r.text
	limit := max(from-valueBytes, 0)
	end := len(strings.TrimRight(text[limit:from], " \t\"'`*”“»«")) + limit
	quoted := strings.ContainsAny(strings.TrimSpace(text[end:from]), "\"'`”“»«")
	begin := end
	for begin > 0 && end-begin < 128 && text[begin-1] > ' ' && text[begin-1] < 0x80 && strings.IndexByte("\"'`*", text[begin-1]) < 0 {
		begin--
	}
	word := text[begin:end]
	if !tellable(word) && (!quoted || question || !fits(word, inQuotes)) && (!stated(word, false) || question && strings.IndexByte(word, '.') >= 0) {
		return false
	}
	r.add(rule, begin, end)
	return true
}

// folded returns a word with a letter of ASCII in the place of each other letter of an alphabet, for looking at its shape.
func folded(word string) string {
	plain := true
	for i := range len(word) {
		plain = plain && word[i] < 0x80
	}
	if plain || !alphabetic(word) {
		return word
	}
	letters := make([]byte, 0, toldLength)
	for _, c := range word {
		if c >= 0x80 {
			c = 'a'
		}
		letters = append(letters, byte(c))
	}
	return string(letters)
}

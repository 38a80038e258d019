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

// sentenceRole is what a word does in a sentence behind a name.
type sentenceRole uint8

const (
	linkRole sentenceRole = 1 << iota
	afterRole
	placeRole
	fillerRole
)

// sentenceRoles are the roles of all words that have one.
var sentenceRoles = func() map[string]sentenceRole {
	roles := make(map[string]sentenceRole)
	for role, words := range map[sentenceRole]string{linkRole: links, afterRole: afterNames, placeRole: placeWords, fillerRole: fillers} {
		for word := range strings.FieldsSeq(words) {
			roles[word] |= role
		}
	}
	return roles
}()

// links are words between a name and what is told, in the languages that have the same letters.
const links = "from is was are be = to ist lautet war est c'est es será e' è é là on je este är er adalah to: jest is: heißt heisst became becomes type enter use try sei sono"

// afterNames are words that may follow a name before a link.
const afterNames = "for of on in at from to the my our your a an der die das den dem für von del de la le los el do da di per il voor do changed will has been " +
	"het que i you we they he she account user admin root wifi db database got gets was is been"

// findTold finds passwords that a person tells behind a word for passwords that is none of a program.
func findTold(r *reading, rule, start, end int) {
	text := r.text
	ascii := text[start] < 0x80
	if ascii && (start > 0 && wordByte(text[start-1]) || end < len(text) && wordByte(text[end]) && text[end-1] < 0x80 && (end-start < 4 || !inflected(text, end))) {
		return
	}
	r.told(rule, start, end, passwordNoun, false)
}

// findToldKey finds keys and tokens that a person tells behind a word for them that is none of a program.
func findToldKey(r *reading, rule, start, end int) { r.told(rule, start, end, tokenNoun, false) }

// inflected says whether the rest of a word is short, as an ending is.
func inflected(text string, at int) bool {
	end := at
	for end < len(text) && end-at < 8 && (letterByte(text[end]) || text[end] >= 0x80) {
		end++
	}
	return end-at < 5 && (end == len(text) || !wordByte(text[end]))
}

// telling is the rest of a sentence behind a name for a secret, up to the secret.
type telling struct {
	*reading
	rule int
	kind noun
	// name and end are where the name begins and ends.
	name, end int
	// english says that the name is also an English word, which sentences use in other ways too.
	english bool
	// linked says that a link was read, and sinceLink how many words behind it.
	linked    bool
	sinceLink int
	// words, lines and quoted say what was read behind the name.
	words, lines int
	quoted       bool
	// placed says that a word was read behind which a place or an account is named.
	placed bool
}

// fillers are words between a link and what is told that change nothing.
const fillers = "still now currently just actually probably maintenant toujours jetzt noch immer nun ahora todavía agora ainda ora adesso"

// placeWords are words behind which a place or an account is named, in the middle of a sentence.
const placeWords = "for of in on at from to für vom von zum zur im am auf de pour para per do"

// told is a name for a secret in a sentence.
type told struct {
	rule, start, end int
	kind             noun
	// english says that the name is also an English word.
	english bool
}

// told adds what a sentence says that a secret is, when the next name is found or the text ends: only then it is known
// how far the sentence goes on about this one. So what stands between two names is read once.
func (r *reading) told(rule, start, end int, kind noun, english bool) {
	r.finish(start)
	if !r.toldBefore(rule, start) {
		r.sentence = told{rule, start, end, kind, english}
	}
}

// finish reads the sentence behind the last name, up to a place.
func (r *reading) finish(to int) {
	s := r.sentence
	r.sentence = told{}
	if s.end == 0 {
		return
	}
	t := telling{reading: r, rule: s.rule, kind: s.kind, name: s.start, end: s.end, english: s.english}
	for at, limit := s.end, min(s.end+toldBytes, to); at < limit; {
		next := t.after(at)
		if next <= at {
			return
		}
		at = next
	}
}

// after reads the character or the word at a place, and returns where the next one begins: 0 if the sentence tells no
// more.
func (t *telling) after(at int) int {
	c := t.text[at]
	switch {
	case c == '\n':
		t.lines++
		if t.lines > 3 || !t.linked && !t.english || t.words > 3 {
			return 0
		}
	case inSentence.has(c) || c == ',' && (t.words == 0 && at == t.end || !t.english && !t.linked):
	case c == '\'' && at == t.end && strings.HasPrefix(t.text[at:], "'s "):
		// Only the next word is told: "the password's length is 12" says nothing of the password.
		t.linked, t.sinceLink, t.words = true, 0, toldWords
		return at + len("'s ")
	case c == '"' || c == '\'' || c == '`':
		return t.afterQuote(at)
	case c == '.' && strings.HasPrefix(t.text[at:], "... "):
		t.linked, t.sinceLink = true, 0
		return at + len("... ")
	case c == ':' || c == '=' || c == '-' && at+1 < len(t.text) && strings.IndexByte(" >", t.text[at+1]) >= 0:
		t.linked, t.sinceLink = true, 0
	case c >= utf8.RuneSelf:
		return t.afterOther(at)
	default:
		return t.afterWord(at)
	}
	return at + 1
}

// afterQuote reads a quote, or all that is in quotes if that is the secret.
func (t *telling) afterQuote(at int) int {
	if t.inQuotes(at, valueAt(t.text, at)) {
		return 0
	}
	return at + 1
}

// inQuotes adds a value that begins at a quote if it is the secret, and says whether it is.
func (t *telling) inQuotes(at int, v value) bool {
	first := !t.quoted
	t.quoted = true
	if text := t.text[v.start:v.end]; v.quoted && (t.linked || t.words == 0) && (assignable(text, false) || stated(text, true) ||
		first && t.chosen(at, text) || t.kind == phraseNoun && (phraseLike(text) || t.linked && spokenPhrase(text)) ||
		first && t.isThat(at) && fourWords(text)) {
		t.add(t.rule, v.start, v.end)
		return true
	}
	return false
}

// chosen says whether a text in quotes behind a name for passwords is a word that somebody chose. Of English names "is"
// must say so: much else is passed to something in quotes.
func (t *telling) chosen(at int, text string) bool {
	if t.kind != passwordNoun || t.sinceLink > 0 || t.words > 0 && !t.linked {
		return false
	}
	if m := mixtureOf(text); m.others+m.blanks > 0 {
		return false
	}
	if t.english {
		if before, _ := wordBefore(t.text, at); !isWords[before] {
			return false
		}
	}
	return fits(text, inQuotes)
}

// isThat says whether a quote directly follows a word such as "is", behind a name for passwords.
func (t *telling) isThat(at int) bool {
	before, _ := wordBefore(t.text, at)
	return t.kind == passwordNoun && t.linked && t.sinceLink == 0 && isWords[before]
}

// isWords say what something is.
var isWords = wordMap("is was ist war lautet est es sera será")

// afterOther reads a letter or a sign that is not ASCII's.
func (t *telling) afterOther(at int) int {
	c, size := utf8.DecodeRuneInString(t.text[at:])
	if v, is := printedValue(t.text, at); is && t.inQuotes(at, v) {
		return 0
	}
	switch c {
	case '。', '！', '？', '；':
		return 0
	case '—', '–', '→', '«', '：':
		t.linked, t.sinceLink = true, 0
	case 'è', 'é', 'ä':
		t.linked = t.linked || !t.english || strings.IndexByte(" r", t.text[min(at+size, len(t.text)-1)]) >= 0
	default:
		t.linked = t.linked || !t.english
	}
	return at + size
}

var endsWord = setOf("\"`<>,)]}{")

// wordEnd returns where a word of a sentence ends: 0 if it is too long for one.
func wordEnd(text string, at int) int {
	end := at
	for end < len(text) && text[end] > ' ' && text[end] < utf8.RuneSelf && !endsWord.has(text[end]) {
		if text[end] == ';' && (end+1 == len(text) || !wordByte(text[end+1])) {
			break
		}
		if end++; end-at == toldLength {
			return 0
		}
	}
	if end == at {
		return 0
	}
	for first := end; end-first < restBytes; {
		next := restOfWord(text, end)
		if next == end {
			break
		}
		for end = next; end < len(text) && end-first < restBytes && strings.IndexByte("!#$%&*+-_@=.0123456789", text[end]) >= 0; {
			end++
		}
	}
	return end
}

// afterWord reads a word, which may be the secret.
func (t *telling) afterWord(at int) int {
	text := t.text
	end := wordEnd(text, at)
	if end == 0 {
		return 0
	}
	word := trimRight(text[at:end], &endsSentence)
	if t.kind == phraseNoun && t.linked {
		if v := phraseAt(text, at); phraseLike(text[v.start:v.end]) || t.line(v) {
			t.add(t.rule, v.start, v.end)
			return 0
		}
	}
	if t.kind == phraseNoun && t.linked && t.sinceLink == 0 && phraseLike(strings.ReplaceAll(word, "-", " ")) {
		t.add(t.rule, at, at+len(word))
		return 0
	}
	if v, is := t.labelled(at); is {
		t.add(t.rule, v.start, v.end)
		return 0
	}
	if stop, drawn := groupsAt(text, at); drawn && t.linked && t.sinceLink == 0 && t.kind == passwordNoun {
		t.add(t.rule, at, stop)
		return 0
	}
	if (t.linked || !t.english || t.words == 0 || t.quoted) && t.tell(at, word) {
		if t.changes(at, at+len(word)) {
			return at + len(word)
		}
		return 0
	}
	if !t.goesOn(word) {
		return 0
	}
	at += max(len(word), 1)
	if at < len(text) && (text[at] == '.' || text[at] == '?') {
		return 0
	}
	return at
}

// changes says whether a word is the old password in a sentence that also tells the new one: "from X to Y".
func (t *telling) changes(at, end int) bool {
	before, _ := wordBefore(t.text, at)
	to, known := changeWords[before]
	return known && strings.HasPrefix(t.text[end:], " "+to+" ")
}

// changeWords are words before an old password, with those before the new one.
var changeWords = map[string]string{"from": "to", "von": "auf", "de": "a", "da": "a"}

// groupsAt returns where four groups of four small letters end, as passwords for single programs are, or 0, and whether they were
// drawn: "qwrt sdfg ijkl mnop".
func groupsAt(text string, at int) (end int, drawn bool) {
	const groups, size = 4, 4
	end = at + groups*(size+1) - 1
	if end > len(text) || end < len(text) && text[end] > ' ' && wordByte(text[end]) {
		return 0, false
	}
	for from := at; from < end; from += size + 1 {
		if from > at && text[from-1] != ' ' && text[from-1] != '-' || mixtureOf(text[from:from+size]).lower != size {
			return 0, false
		}
		// Words have vowels.
		drawn = drawn || !strings.ContainsAny(text[from:from+size], "aeiouy")
	}
	return end, drawn
}

// line says whether words are a passphrase since they are all that a line has behind a colon.
func (t *telling) line(v value) bool {
	before := trimRight(t.text[t.end:v.start], &besideValue)
	return strings.HasSuffix(before, ":") && t.sinceLink == 0 && lineBreak(t.text, v.end) == v.end && saidLine(t.text[v.start:v.end])
}

// labelled returns the words behind a name and a colon if they are all of the rest of a line, and a passphrase: "restic
// password: lazy brown kettle sings".
func (t *telling) labelled(at int) (value, bool) {
	text := t.text
	if t.kind > phraseNoun || t.lines > 0 || !t.linked || t.sinceLink > 0 || t.quoted || !endsInColon(text[t.end:at]) {
		return value{}, false
	}
	return restOfLine(text, at)
}

// restOfLine returns the words up to the end of a line if they are a passphrase.
func restOfLine(text string, at int) (value, bool) {
	end := at
	for end < len(text) && end-at <= rowBytes && phraseBytes.has(text[end]) {
		end++
	}
	if end < len(text) && text[end] != '\n' {
		return value{}, false
	}
	v := value{at, at + len(strings.TrimRight(text[at:end], " \t\r")), false}
	return v, fourWords(text[v.start:v.end])
}

func endsInColon(text string) bool {
	text = strings.TrimRight(text, " ")
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// fourWords says whether words are at least four that say nothing about passwords, at most one of them a common one.
func fourWords(text string) bool {
	words, common := 0, 0
	for word := range strings.FieldsSeq(text) {
		m := mixtureOf(word)
		if m.letters()+m.others != len(word) || m.upper > 1 {
			return false
		}
		word = strings.ToLower(word)
		if saidWords[word] || idleWords[word] && !commonWords[word] || nouned(word) {
			return false
		}
		words++
		if commonWords[word] {
			common++
		}
	}
	return words >= 4 && common <= 1
}

// goesOn counts a word that is no secret, and says whether one may follow.
func (t *telling) goesOn(word string) bool {
	if t.words++; t.words > toldWords || t.lines > 0 {
		return false
	}
	if m := mixtureOf(word); !t.placed && m.letters()+m.others+strings.Count(word, "'") != len(word) {
		return false
	}
	lower := strings.ToLower(word)
	roles := sentenceRoles[lower]
	t.placed = roles&placeRole != 0
	switch {
	case roles&linkRole != 0:
		t.linked, t.sinceLink = true, 0
	case t.linked && roles&fillerRole != 0:
	case t.linked:
		t.sinceLink++
		return t.sinceLink <= 3
	case t.english && t.words == 1:
		return roles&afterRole != 0
	}
	return true
}

// restBytes is how much of the rest of a word is read.
const restBytes = 24

// restOfWord returns where a word ends that has other letters than ASCII's, in an alphabet.
func restOfWord(text string, at int) int {
	for limit := at + restBytes; at < len(text) && at < limit; {
		c, size := utf8.DecodeRuneInString(text[at:])
		if (c < 0xC0 || c > 0x52F && c < 0x1E00 || c > 0x1EFF) && (c >= utf8.RuneSelf || !letterByte(text[at])) {
			break
		}
		at += size
	}
	return at
}

// leastTold is how long a word of a sentence must be to be a secret.
const leastTold = 6

// tell adds a word of a sentence if it can only be a secret.
func (t *telling) tell(at int, word string) bool {
	if len(word) < leastTold || word[0] == '!' && mixtureOf(word).letters() == len(word)-1 {
		return false
	}
	word = strings.TrimRight(word, "'")
	if strings.HasSuffix(word, "!") && !strings.HasSuffix(word, "!!") && !tellable(word) {
		word = strings.TrimSuffix(word, "!")
	}
	end := at + len(word)
	word = folded(word)
	m := mixtureOf(word)
	drawn := t.linked && hexLike(word) && len(word) >= 32 || t.kind >= tokenNoun && (randomLike(word) || hexLike(strings.TrimPrefix(word, "0x")) && len(word) >= 32)
	digits := t.linked && t.kind == passwordNoun && len(word) >= 6 && runOf(word, 0, &digitBytes, 12) == len(word) && lastWordAt(t.text, end)
	foreign := !t.english && t.kind == passwordNoun && (t.linked && t.sinceLink == 0 && lastWordAt(t.text, end) && m.chosenName(word) ||
		(t.linked && t.sinceLink == 0 || t.words == 0) && m.signedName(word))
	foreign = foreign || t.linked && t.sinceLink == 0 && t.kind == passwordNoun && m.signedName(word) && !standIn(word)
	if t.kind == keyNoun && nouned(word) {
		// The type of another key.
		return false
	}
	likely := m.tellable(word) && (t.kind != keyNoun || t.linked && strings.IndexByte(word, '.') < 0)
	if !drawn && !likely && !foreign && !digits && !t.tellsDirectly(at, end, word, m) {
		return false
	}
	if t.lines > 0 {
		// A value below its name stands alone.
		if rest := t.text[end:min(end+2, len(t.text))]; strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, ":") {
			return false
		}
	}
	t.add(t.rule, at, end)
	return true
}

// signedName says whether a word is two words with a sign between them, as in Pulpo!azul, which in a sentence of another language
// is no name of a program.
func (m mixture) signedName(word string) bool {
	if m.symbols != 1 || m.upper == 0 || m.lower < 5 || m.letters()+m.digits+1 != len(word) {
		return false
	}
	at := strings.IndexAny(word, "!#$*")
	return at > 1 && at < len(word)-2
}

// besideUser says whether a word directly behind a name for passwords of another language is the password of a user who is
// named before it: "usuario admin y clave tortuga_verde7".
func (t *telling) besideUser(word string) bool {
	if t.english || t.kind != passwordNoun || t.words > 0 || !mixtureOf(word).chosenName(word) {
		return false
	}
	before := t.text[max(t.name-sideBytes, 0):t.name]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	return userWords.any(before)
}

// userWords are words for users in languages whose words for passwords no program has among its names.
var userWords = newWordSet([]string{"usuari", "usuári", "user ", "utilisateur ", "utente ", "benutzer", "login ", "логин", "пользовател", "admin "})

// tellsDirectly says whether the sentence says that a word is the secret, by what is around it.
func (t *telling) tellsDirectly(at, end int, word string, m mixture) bool {
	return t.besideUser(word) || t.paired(end, word) || t.alone(at, end, word) ||
		t.kind <= phraseNoun && (t.linked && t.sinceLink == 0 || !t.english && t.words == 0) &&
			m.stated(word, lastWordAt(t.text, end) || t.changes(at, end))
}

// chosenName says whether a word is two words with a digit and a joint, which in a sentence of another language is no name
// of a program.
func (m mixture) chosenName(word string) bool {
	return m.digits > 0 && m.joints == 1 && m.lower >= 6 && m.letters()+m.digits+m.joints == len(word) && !strings.Contains(word, ".") &&
		!technical(word) && !standIn(word)
}

// lastWordAt says whether a word that ends at a place is the last of its sentence, or of its part of one.
func lastWordAt(text string, end int) bool {
	if end == len(text) || text[end] >= utf8.RuneSelf || endsPart.has(text[end]) {
		return true
	}
	if strings.HasPrefix(text[end:], " (") {
		return true
	}
	return mayEndPart.has(text[end]) && (end+1 == len(text) || text[end+1] <= ' ' || text[end+1] >= utf8.RuneSelf) &&
		(text[end] != ' ' || end+1 < len(text) && text[end+1] >= utf8.RuneSelf)
}

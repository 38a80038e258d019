package secrets

import (
	"strings"
	"unicode/utf8"
)

// mixture counts the kinds of characters in a text.
type mixture struct {
	lower, upper, digits, symbols, joints, blanks, brackets, others int
	// endDigits is how many digits the text ends with.
	endDigits int
}

// signKind is the kind of a character.
type signKind uint8

const (
	symbolKind signKind = iota
	lowerKind
	upperKind
	digitKind
	jointKind
	blankKind
	bracketKind
	otherKind
	signKinds
)

// kindsOfSigns are the kinds of all characters.
var kindsOfSigns = func() (kinds [256]signKind) {
	for c := range kinds {
		switch c := byte(c); {
		case c >= 'a' && c <= 'z':
			kinds[c] = lowerKind
		case c >= 'A' && c <= 'Z':
			kinds[c] = upperKind
		case c >= '0' && c <= '9':
			kinds[c] = digitKind
		case c == ' ' || c == '\t':
			kinds[c] = blankKind
		case strings.IndexByte("-_./:,;=", c) >= 0:
			kinds[c] = jointKind
		case strings.IndexByte("()[]{}<>|\\\"'`", c) >= 0:
			kinds[c] = bracketKind
		case c >= 0x80:
			kinds[c] = otherKind
		}
	}
	return kinds
}()

// maxCounted is how many characters are counted at once: each kind has a byte of one number.
const maxCounted = 255

// countsOfSigns are what each character adds to this number.
var countsOfSigns = func() (counts [256]uint64) {
	for c, kind := range kindsOfSigns {
		counts[c] = 1 << (8 * kind)
	}
	return counts
}()

func mixtureOf(text string) mixture {
	var n [signKinds]int
	for rest := text; rest != ""; {
		part := rest[:min(len(rest), maxCounted)]
		rest = rest[len(part):]
		counts := uint64(0)
		for i := range len(part) {
			counts += countsOfSigns[part[i]]
		}
		for kind := range n {
			n[kind] += int(counts >> (8 * kind) & 0xff)
		}
	}
	end := len(text)
	for end > 0 && kindsOfSigns[text[end-1]] == digitKind {
		end--
	}
	return mixture{
		lower: n[lowerKind], upper: n[upperKind], digits: n[digitKind], symbols: n[symbolKind], joints: n[jointKind], blanks: n[blankKind],
		brackets: n[bracketKind], others: n[otherKind], endDigits: len(text) - end,
	}
}

func (m mixture) letters() int { return m.lower + m.upper }

func letterByte(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// notSecrets are parts of what stands in the place of a secret.
var notSecrets = newWordSet([]string{
	"example", "placeholder", "changeme", "change_me", "change-me", "changeit", "your", "redacted", "dummy", "sample", "foobar", "password",
	"passwd", "passwort", "filtered", "hidden", "masked", "insert", "undefined", "xxxx", "****", "....", "...", "${", "{{", "}}", "$(", "%(",
	"getenv", "environ", "process.env", "token_", "_token", "secret", "user_", "username", "config.", "settings.", "fixme", "replace",
})

// standIn says whether a text stands in the place of a secret: a variable, a name, dots.
func standIn(text string) bool {
	if len(text) < 4 || standsIn.has(text[0]) && (text[0] != '/' || !drawnPath(text)) || strings.HasPrefix(text, "--") || strings.HasPrefix(text, "./") {
		return true
	}
	if notSecrets.any(text) && !numbered(text) || sameOrWord(text) {
		return true
	}
	return false
}

// drawnPath says whether a text that begins like a path is base64 of random bytes.
func drawnPath(text string) bool {
	m := mixtureOf(text)
	return len(text) >= 24 && m.digits >= 2 && m.upper >= 4 && m.lower >= 4 && runOf(text, 0, &base64Bytes, valueBytes) == len(text) && entropy(text) > 4
}

// numbered says whether a word that stands for others in examples has been made a password by digits: foobar9974.
func numbered(text string) bool {
	m := mixtureOf(text)
	return m.digits >= 4 && m.endDigits < m.digits && m.letters()+m.digits == len(text) && (holdsFold(text, "foobar") || holdsFold(text, "dummy"))
}

func sameOrWord(text string) bool {
	for i := range len(text) {
		if text[i] != text[0] {
			return strings.EqualFold(text, "true") || strings.EqualFold(text, "false") || strings.EqualFold(text, "null")
		}
	}
	return true
}

// wordsAndDigits says whether a text is words, joined or not, with at most two digits at the end: a name and no secret.
func (m mixture) wordsAndDigits() bool {
	return m.symbols+m.brackets+m.others+m.blanks == 0 && (m.digits == 0 || m.digits == m.endDigits && m.digits <= 2)
}

// codeLike says whether a text is a part of a program, a path, a version or a number with a unit.
func codeLike(text string, m mixture) bool {
	if strings.Contains(text, "://") || m.brackets > 0 || strings.HasSuffix(text, ":") || uuidLike(text) {
		return true
	}
	if strings.Count(text, "/") >= 2 && m.upper == 0 {
		return true
	}
	// Numbers, versions, times, addresses.
	if m.letters() <= 2 && m.symbols == 0 {
		return true
	}
	return dotted(text)
}

// dotted says whether a text is names that are joined by dots, colons or slashes, each of words and few digits.
func dotted(text string) bool {
	parts := 0
	for at := 0; at < len(text); at++ {
		end := at
		for end < len(text) && !dots.has(text[end]) {
			end++
		}
		part := text[at:end]
		if at = end; part == "" {
			continue
		}
		parts++
		if m := mixtureOf(part); m.symbols > 0 || m.letters() > 0 && m.digits > 0 && !m.wordsAndDigits() && (len(part) > 4 || m.upper > 0 && m.lower > 0 || leet(part)) {
			return false
		}
	}
	return parts > 1
}

var dots = setOf(".:/-_=")

// uuidLike says whether a text is a UUID or ends with one.
func uuidLike(text string) bool {
	n := len(text) - 36
	return n >= 0 && text[n+8] == '-' && text[n+13] == '-' && text[n+18] == '-' && text[n+23] == '-' && hexLike(text[n+24:])
}

// assignable says whether a text that is assigned to a name of passwords is one. Quoted text may have other characters
// than words of a line.
func assignable(text string, quoted bool) bool {
	m := mixtureOf(text)
	if standIn(text) {
		return false
	}
	if m.blanks > 0 {
		return quoted && phraseOf(text, 3)
	}
	switch {
	case len(text) < 6 || m.others > 0 && m.digits == 0:
		return false
	case m.letters() == 0:
		return m.digits >= 6 && m.joints == 0 && m.brackets == 0
	case uuidLike(text):
		return false
	case m.upper > 0 && m.lower > 1 && m.digits > 0 && m.joints > 0 && m.joints == strings.Count(text, "-") && m.brackets+m.others == 0 &&
		!technical(text):
		return true
	case quoted && m.joints == 1 && m.upper > 0 && m.brackets == 0 && stated(text, true):
		return true
	case codeLike(text, m):
		return false
	case m.digits > 0:
		return !m.wordsAndDigits() || quoted && len(text) >= 8 && m.joints == 0 && !technical(text)
	default:
		return drawnLetters(text) || quoted && m.symbols > 0 && len(text) >= 8 && m.joints == 0 && (m.upper > 0 && m.lower > 0 || m.symbols > 1)
	}
}

// randomLike says whether a text looks as if a machine had drawn it.
func randomLike(text string) bool {
	m := mixtureOf(text)
	if m.joints > 1 && m.letters() <= 2 {
		// A time, such as 2006-01-02T15:04:05Z.
		return false
	}
	return len(text) >= 16 && m.digits >= 2 && m.letters() >= 2 && m.blanks+m.brackets+m.others == 0 && !standIn(text) &&
		!uuidLike(text) && !dotted(text) && !strings.Contains(text, "://") && entropy(text) > 2.8
}

// tellable says whether a word of a sentence can only be a password.
func tellable(text string) bool { return mixtureOf(text).tellable(text) }

func (m mixture) tellable(text string) bool {
	if m.digits == 0 {
		return false
	}
	if m.drawnWord(text) {
		return true
	}
	// What takes least time is asked first.
	return len(text) >= 7 && m.letters() >= 2 && m.blanks+m.others == 0 && !m.wordsAndDigits() && m.tells(text) && !strings.Contains(text, "/") &&
		!codeLike(text, m) && !standIn(text)
}

// tells says whether the characters of a word are mixed as in passwords.
func (m mixture) tells(text string) bool {
	if hexLike(text) {
		return len(text) >= 32
	}
	return m.upper > 0 && m.lower > 0 && (m.digits >= 2 || m.symbols > 0 || leet(text)) || m.symbols > 0 && m.digits > 1 || m.lower >= 4 && m.digits >= 3 && m.joints == 0 && len(text) >= 9
}

// leet says whether a digit stands within a word for a letter, as in "r3ad".
func leet(text string) bool {
	if len(text) > 4 && text[0] == '0' && mixtureOf(text[1:5]).lower == 4 && text[1] != 'x' && !hexLike(text) {
		return true
	}
	for i := 1; i+1 < len(text); i++ {
		if leetDigits.has(text[i]) && letterByte(text[i-1]) && text[i+1] >= 'a' && text[i+1] <= 'z' &&
			(i > 1 && letterByte(text[i-2]) || i+2 < len(text) && letterByte(text[i+2])) {
			return !technical(text)
		}
	}
	return false
}

// technicalWords are words with digits behind them that programs and their documents have.
var technicalWords = wordMap("argon oauth base sha md utf aes hmac http https ipv ed rsa pbkdf ssh tls ntlm fa log web mp sqlite python node java win windows test step " +
	"user field string level version scram gpt option item file page line column row part phase api app db host server client id")

// technical says whether a word with digits is one of programs and their documents.
func technical(text string) bool {
	if holdsFold(text, "2fa") || sizedType(firstPart(text)) {
		return true
	}
	for at := 0; at < len(text); {
		from := at
		for at < len(text) && letterByte(text[at]) {
			at++
		}
		if at > from && at < len(text) && text[at] >= '0' && text[at] <= '9' && technicalWords[strings.ToLower(text[from:at])] {
			return true
		}
		at = max(at, from+1)
	}
	return false
}

// stated says whether a word that directly follows "the password is" is the password. More words are than could be
// told apart elsewhere. last says that no other word follows.
func stated(text string, last bool) bool { return mixtureOf(text).stated(text, last) }

func (m mixture) stated(text string, last bool) bool {
	return len(text) >= 6 && m.letters() >= 2 && m.blanks+m.others+m.brackets == 0 && m.states(text, last) &&
		!strings.Contains(text, "/") && !uuidLike(text) && !hexLike(text) && !standIn(text)
}

// states says whether a word is mixed as passwords are that somebody tells.
func (m mixture) states(text string, last bool) bool {
	at := strings.IndexByte(text, '@')
	switch {
	case at >= 0 && strings.Contains(text[at:], "."):
		return false
	case m.symbols > 0:
		return (m.digits > 0 || m.symbols > 1 && m.upper > 0 && m.lower > 0) && m.letters() >= 3
	case m.joints > 0:
		return m.digits > 0 && m.lower >= 4 && (m.joints == 1 || m.joints == strings.Count(text, "-")) && (m.upper > 0 || m.digits > 1 || leet(text)) &&
			(last || m.upper > 0 && m.upper+m.digits > 2) && !technical(text) || last && namedTwice(text)
	case m.digits == 0:
		return last && m.drawnWord(text)
	case m.wordsAndDigits():
		return (last || m.upper == 1 && m.digits == 2) && m.lower >= 5 && !technical(text) || last && m.drawnWord(text)
	default:
		return m.lower >= 4 && m.digits > 0 && (m.upper > 0 || leet(text) || last || m.digits > 2) && !technical(text) || m.drawnWord(text)
	}
}

// namedTwice says whether a text is two words with capitals and a hyphen between them, neither of which says how
// something is: Harbour-Lights.
func namedTwice(text string) bool {
	first, second, found := strings.Cut(text, "-")
	for _, word := range []string{first, second} {
		m := mixtureOf(word)
		if !found || len(word) < 4 || m.upper != 1 || m.lower != len(word)-1 || !capital(word[0]) || idleWords[strings.ToLower(word)] || described(strings.ToLower(word), m) {
			return false
		}
	}
	return true
}

// saidWords are words of labels, of help and of what is said about passphrases.
var saidWords = wordMap("enter your must should please required password passphrase characters least use set leave empty confirm none forgot reset contain " +
	"field value string description optional wrong invalid key secret token")

// spokenPhrase says whether a text in quotes is a passphrase where nothing else can stand: three words that are no
// label.
func spokenPhrase(text string) bool {
	if len(text) > 256 {
		return false
	}
	words := 0
	for word := range strings.FieldsSeq(text) {
		m := mixtureOf(word)
		if m.lower+m.digits != len(word) || saidWords[word] {
			return false
		}
		words++
	}
	return words >= 3
}

// saidLine says whether the words of a line are a passphrase and no sentence about one: five or more, few of which
// sentences have.
func saidLine(text string) bool {
	words, common := 0, 0
	for word := range strings.FieldsSeq(text) {
		if mixtureOf(word).lower != len(word) || saidWords[word] || nouned(word) {
			return false
		}
		words++
		if commonWords[word] {
			common++
		}
	}
	return words >= 5 && common*5 <= words
}

// longPhrase says whether a text in quotes behind a name for passphrases is one: four or more words that say nothing about
// passphrases.
func longPhrase(text string) bool {
	words := 0
	for word := range strings.FieldsSeq(text) {
		if m := mixtureOf(word); m.lower+m.digits != len(word) || saidWords[word] || nouned(word) {
			return false
		}
		words++
	}
	return words >= 4 && len(text) <= 256
}

func hexLike(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return text != ""
}

// commonWords are words that sentences have and passphrases have not.
var commonWords = wordMap("a the of for to is are was and or your you this these that it not no must at least be in on with from more " +
	"than enter write use an as by can could will should has have than then them if when how what please set too only keep same new old " +
	"der die das und ist nicht le la les des est el los de que per il e o os um mindestens zeichen password passphrase key string value")

func wordMap(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// changesCase says whether letters change their case more often than those of joined words.
func changesCase(text string) bool {
	changes := 0
	for i := 1; i < len(text); i++ {
		if letterByte(text[i]) && letterByte(text[i-1]) && text[i]&0x20 != text[i-1]&0x20 {
			changes++
		}
	}
	return len(text) >= 10 && changes*5 >= len(text)*2
}

// drawnLetters says whether letters change their case too often for words.
func drawnLetters(text string) bool {
	changes := 0
	for i := range len(text) {
		if !letterByte(text[i]) {
			return false
		}
		if i > 0 && text[i]&0x20 != text[i-1]&0x20 {
			changes++
		}
	}
	return len(text) >= 14 && changes*5 >= len(text)*2
}

// phraseLike says whether a text is four or more words that were drawn and not said.
func phraseLike(text string) bool { return phraseOf(text, 4) }

func phraseOf(text string, least int) bool {
	if len(text) > 256 {
		return false
	}
	words := 0
	for word := range strings.FieldsSeq(text) {
		m := mixtureOf(word)
		if m.lower+m.digits != len(word) || m.lower == 0 || len(word) < 3 || commonWords[word] || opcodes[word] {
			return false
		}
		words++
	}
	return words >= least
}

// valueBytes is how long a secret that is assigned may be.
const valueBytes = 1024

// value is what is assigned to a name.
type value struct {
	start, end int
	quoted     bool
}

// valueAt reads the value at a place: a text in quotes, or up to what ends a word.
func valueAt(text string, at int) value {
	for n := 0; n < alignedBlanks && at < len(text) && (text[at] == ' ' || text[at] == '\t'); n++ {
		at++
	}
	if at+1 < len(text) && strings.IndexByte("brNu@", text[at]) >= 0 && (text[at+1] == '"' || text[at+1] == '\'') {
		at++
	}
	if at >= len(text) {
		return value{at, at, false}
	}
	if text[at] >= utf8.RuneSelf {
		if v, is := printedValue(text, at); is {
			return v
		}
	}
	if strings.HasPrefix(text[at:], "q{") {
		// A text in quotes of Perl.
		if end := strings.IndexByte(text[at:min(at+valueBytes, len(text))], '}'); end > 0 {
			return value{at + 2, at + end, true}
		}
	}
	if quote := text[at]; quote == '"' || quote == '\'' || quote == '`' {
		limit := text[at+1 : min(at+1+valueBytes, len(text))]
		if strings.HasPrefix(limit, `""`) && quote == '"' || strings.HasPrefix(limit, "''") && quote == '\'' {
			if end := strings.Index(limit[2:], text[at:at+3]); end > 0 && strings.IndexByte(limit[2:2+end], '\n') < 0 {
				return value{at + 3, at + 3 + end, true}
			}
		}
		end := strings.IndexByte(limit, quote)
		if quote == '\'' && end > 0 {
			end = behindDoubled(limit, end)
		}
		if end >= 0 && strings.IndexByte(limit[:end], '\n') < 0 {
			return value{at + 1, at + 1 + end, true}
		}
		at++
	}
	return bareValue(text, at)
}

// behindDoubled returns where a text in single quotes ends that has some of them doubled, as YAML and SQL write them:
// 'O”Hara'.
func behindDoubled(text string, end int) int {
	for n := 0; n < 4 && end+2 < len(text) && text[end+1] == '\'' && (wordByte(text[end+2]) || text[end+2] >= utf8.RuneSelf); n++ {
		next := strings.IndexByte(text[end+2:], '\'')
		if next < 0 {
			break
		}
		end += 2 + next
	}
	return end
}

var endsBare = setOf(" \t\r\n\f\v\"'`<>,;&|(){}[]\\")

// bareValue reads up to what ends a word.
func bareValue(text string, at int) value {
	end := at
	for end < len(text) && end-at < valueBytes && !endsBare.has(text[end]) {
		if text[end] < 0x80 {
			end++
			continue
		}
		next := restOfWord(text, end)
		if next == end {
			break
		}
		end = next
	}
	for end > at && strings.IndexByte(".:?", text[end-1]) >= 0 {
		end--
	}
	return value{at, end, false}
}

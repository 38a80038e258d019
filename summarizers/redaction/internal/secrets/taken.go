package secrets

import (
	"slices"
	"strings"
)

// take adds a value if it is a secret, and says whether the name has one.
func (a *assignment) take(v value, sentence bool) bool {
	text := a.text[v.start:v.end]
	if !v.quoted && v.end < len(a.text) && (a.text[v.end] == '(' || a.text[v.end] == '[') {
		if line := a.drawnLine(v); line.end > v.end {
			a.add(a.set.index["password-variable"], line.start, line.end)
			a.until[a.rule] = max(a.until[a.rule], line.end)
			return true
		}
		return a.call(text, v.end+1)
	}
	if words, is := a.words(v); is {
		a.add(a.set.index["password"], words.start, words.end)
		a.until[a.rule] = max(a.until[a.rule], words.end)
		return true
	}
	if !v.quoted && a.kind == passwordNoun {
		v.end = a.wholeField(v.end)
		if whole := (value{v.start, wholeValue(a.text, v.end), false}); whole.end > v.end && a.lastLine(whole) {
			v = whole
		}
		text = a.text[v.start:v.end]
	}
	if a.kind == phraseNoun && !v.quoted && !a.strong {
		v = phraseAt(a.text, v.start)
		text = a.text[v.start:v.end]
	}
	if !a.secret(text, v, sentence) {
		if !v.quoted && v.end-v.start > shortValue {
			a.until[a.rule] = max(a.until[a.rule], v.end)
		}
		return a.kind != passwordNoun || v.quoted
	}
	id := "password-variable"
	if v.quoted {
		id = "password"
	}
	if a.inAddress() {
		id = "url-parameter"
	}
	if !v.quoted && a.kind == passwordNoun {
		v.end = wholeValue(a.text, v.end)
	}
	if v.end-v.start >= valueBytes {
		// No more than this is looked at.
		v.end = runOf(a.text, v.end, &base64Bytes, keyBytes)
	}
	a.add(a.set.index[id], v.start, v.end)
	if !v.quoted {
		a.until[a.rule] = max(a.until[a.rule], v.end)
	} else if next, more := appended(a.text, v.end+1); more {
		a.add(a.set.index[id], next.start, next.end)
	} else if next, changed := strings.CutPrefix(a.text[min(v.end+1, len(a.text)):], " -> "); changed {
		// A change, as Terraform plans it.
		a.take(valueAt(a.text, len(a.text)-len(next)), false)
	}
	return true
}

// drawnLine returns the rest of a line of settings if it was drawn from all signs of a keyboard: a call has as many brackets that
// open as close.
func (a *assignment) drawnLine(v value) value {
	line := a.text[v.start:lineBreak(a.text, v.start)]
	line = strings.TrimRight(line, " \t\r")
	m := mixtureOf(line)
	if !capitals(a.name) || len(line) < 16 || m.blanks+m.others > 0 || m.digits < 2 || m.letters() < 6 || m.symbols == 0 ||
		strings.Count(line, "(") == strings.Count(line, ")") && strings.Count(line, "[") == strings.Count(line, "]") || entropy(line) < 3.5 || standIn(line) {
		return value{}
	}
	return value{v.start, v.start + len(line), false}
}

// appended returns the text in quotes that a program appends to the one that ends at a place: "a" + "b".
func appended(text string, at int) (value, bool) {
	if at >= len(text) {
		return value{}, false
	}
	rest := text[at:min(at+shortValue, len(text))]
	bare := strings.TrimLeft(rest, " \t\r\n")
	for _, sign := range []string{"+", ".", "&", ".."} {
		next, found := strings.CutPrefix(bare, sign)
		if quote := strings.TrimLeft(next, " \t\r\n"); found && quote != "" && quotes.has(quote[0]) {
			v := valueAt(text, at+len(rest)-len(quote))
			return v, v.quoted && v.end-v.start >= 3 && mixtureOf(text[v.start:v.end]).blanks == 0
		}
	}
	return value{}, false
}

// words returns a value of several words without quotes: four groups of small letters that were drawn or that a variable of the
// environment has, or a passphrase that is all of the rest of a line.
func (a *assignment) words(v value) (value, bool) {
	switch {
	case v.quoted:
	case a.kind == passwordNoun:
		stop, drawn := groupsAt(a.text, v.start)
		return value{v.start, stop, false}, drawn || stop > 0 && a.strong && a.lastLine(value{v.start, stop, false})
	case a.kind == phraseNoun && a.colon:
		return restOfLine(a.text, v.start)
	}
	return value{}, false
}

// wrappers are calls that only make another type of a text.
var wrappers = wordMap("String::from String Some Secret::new SecretString::new SecretString::from SecretBox::new Buffer.from str bytes string bcrypt Hash::make make_password password_hash generate_password_hash bcrypt.hashpw bcrypt.hash bcrypt.hashSync")

// call adds the argument of a call, or the element of a list, if it is a secret: what a call decodes only if it is drawn.
func (a *assignment) call(name string, at int) bool {
	arg := valueAt(a.text, at)
	if !arg.quoted {
		return true
	}
	if wrappers[name] {
		return a.take(arg, false)
	}
	if v, is := otherwise(a.text, arg.end+1); is {
		return a.take(v, false)
	}
	if a.kind >= tokenNoun && seeded(a.name, a.text[arg.start:arg.end]) {
		a.add(a.set.index["password"], arg.start, arg.end)
	}
	return true
}

// otherwise returns the text in quotes that stands for what a call does not find: `getenv("PW") or "X"`.
func otherwise(text string, at int) (value, bool) {
	if at >= len(text) || strings.IndexByte(")]", text[at]) < 0 {
		return value{}, false
	}
	for _, sign := range []string{" or ", " || ", " ?? ", " ?: "} {
		if strings.HasPrefix(text[at+1:], sign) {
			v := valueAt(text, at+1+len(sign))
			return v, v.quoted
		}
	}
	return value{}, false
}

// secret says whether a value is a secret. In a sentence another word may follow it.
func (a *assignment) secret(text string, v value, sentence bool) bool {
	prose := sentence && followed(a.text, v.end)
	if !v.quoted && !a.strong && strings.HasPrefix(text, "!") && mixtureOf(text).letters() == len(text)-1 {
		// What a program negates.
		return false
	}
	switch {
	case a.kind == phraseNoun && !v.quoted:
		return phraseLike(text) || assignable(text, false) && tellable(text) || a.fits(text, v) || a.colon && a.lastOnLine(v) && saidLine(text)
	case a.kind == passwordNoun && (a.colon || a.direct) && mixtureOf(text).signedName(text) && !standIn(text):
		return true
	case a.kind == phraseNoun && v.quoted && (a.colon || a.direct) && longPhrase(text):
		return true
	case a.kind == passwordNoun || a.kind == phraseNoun:
		return a.colon && uuidLike(text) && len(text) == 36 && a.lastOnLine(v) || assignable(text, v.quoted) && (!prose || tellable(text)) || a.fits(text, v) || v.quoted && (drawnSigns(text) || strings.HasSuffix(text, "==") && encoded(text)) ||
			a.direct && mixtureOf(text).upper > 0 && stated(text, true)
	case len(text) < 8:
		return false
	default:
		return randomLike(text) || (a.strong || a.keyed(v)) && a.kind == tokenNoun && uuidLike(text) && len(text) == 36 || !prose && (seeded(a.name, text) || tellable(text) && (a.strong || v.quoted && assignable(text, true))) ||
			a.chosen(text, v) || (a.direct || !a.colon) && a.kind == tokenNoun && tellable(text) && a.lastOnLine(v) || !prose && len(text) >= 20 && drawnWord(text) && entropy(text) > 3.5 ||
			v.quoted && (drawnSigns(text) || len(text) >= 16 && drawnLetters(text) && entropy(text) > 3.3)
	}
}

// uuidNames are names of tokens that are UUIDs: others may be numbers of what is no secret.
var uuidNames = prefixes{"secretid", "clientsecret", "apikey", "apitoken", "authtoken", "accesstoken", "apisecret", "appsecret", "bottoken", "refreshtoken"}

// keyed says whether a name is one of a token that may be a UUID.
func (a *assignment) keyed(v value) bool {
	name := plainName(a.name)
	return slices.ContainsFunc(uuidNames, func(end string) bool { return strings.HasSuffix(name, end) }) && (a.direct || a.colon || v.quoted)
}

// fits says whether a value stands where only passwords and few other words do.
func (a *assignment) fits(text string, v value) bool {
	if v.end >= len(a.text) && v.quoted {
		return false
	}
	switch {
	case a.colon && strings.HasPrefix(a.text[v.end:], "}") && strings.HasSuffix(a.text[:a.from], "${"):
		return fits(text, given)
	case a.strong:
		return fits(text, given)
	case a.colon && !v.quoted && pairAt(a.text, v.end):
		return chosenWord(text)
	case v.quoted:
		if a.text[v.end] == '`' {
			// A list in Markdown.
			end := value{v.start, v.end + 1, true}
			return a.colon && strings.Trim(a.lineBefore(), " \t-*") == "" && a.lastOnLine(end) && fits(text, onLine)
		}
		return fits(text, inQuotes)
	case a.besideAccount(v), a.amongFields(v), a.colon && promptVerb(a.lineBefore()) && a.lastLine(v):
		return fits(text, given)
	case a.direct && strings.IndexByte(a.name, '-') > 0 && twoNames(text):
		// No program has such a name.
		return fits(text, given)
	case a.direct:
		return !a.inCall(v) && fits(text, onLine)
	default:
		return a.lastOnLine(v) && (fits(text, onLine) || a.colon && (twoNames(text) || a.amongPairs(v)) && fits(text, inQuotes))
	}
}

// twoNames says whether a text is two words with a dot between them, one of them with a capital.
func twoNames(text string) bool {
	m := mixtureOf(text)
	return m.upper > 0 && m.letters() == len(text)-1 && m.joints == 1 && strings.IndexByte(text, '.') > 2
}

// sessions are calls that take a secret by the name "secret".
var sessions = newWordSet([]string{"session(", "cookiesession(", "cookieparser(", "jwt(", "passport", "csrf("})

// chosen says whether a value of a name such as JWT_SECRET is one that somebody has chosen.
func (a *assignment) chosen(text string, v value) bool {
	name := plainName(a.name)
	if name == "secret" && !v.quoted && !a.colon && !namedTwice(text) {
		return strings.TrimSpace(a.lineBefore()) == "" && a.lastLine(v) && stated(text, true)
	}
	if m := mixtureOf(text); name == "secret" && !a.colon && (namedTwice(text) || m.signedName(text) && !standIn(text)) {
		return true
	}
	if name == "secret" && v.quoted && a.colon && sessions.any(a.lineBefore()) {
		return chosenWord(text)
	}
	if !strings.HasSuffix(name, "secret") && !strings.HasSuffix(name, "auth") && !strings.HasSuffix(name, "secretkey") && !strings.HasSuffix(name, "signingkey") && !strings.HasSuffix(name, "jwtkey") || len(name) < 8 || len(text) < 8 || !v.quoted && !a.strong {
		return false
	}
	m := mixtureOf(text)
	return fits(text, inQuotes) && m.blanks == 0 && !identifier(text, m) && (m.digits+m.symbols > 0 || m.joints > 1)
}

// flag says whether the name is a flag of a command.
func (a *assignment) flag() bool {
	return strings.HasPrefix(a.name, "--") || strings.HasPrefix(a.name, "-") && a.from > 0 && a.text[a.from-1] == ' '
}

// flagged says whether the name and its value are the argument of a flag, in the same word or the next: `--set a.b=X`.
func (a *assignment) flagged() bool {
	before := a.lineBefore()
	if before == "" || strings.IndexByte(before, '-') < 0 {
		return false
	}
	last := before[lastBlank(before)+1:]
	switch {
	case last != "" && last[0] == '-':
		return strings.IndexByte("=,\"'", last[len(last)-1]) >= 0
	case len(last) > 1 || last != "" && !quotes.has(last[0]):
		return false
	}
	before = strings.TrimRight(before[:len(before)-len(last)], " \t")
	return flagWord(before[lastBlank(before)+1:])
}

func lastBlank(text string) int {
	return max(strings.LastIndexByte(text, ' '), strings.LastIndexByte(text, '\t'))
}

// flagWord says whether a word of a command is a flag whose argument follows.
func flagWord(word string) bool {
	return len(word) > 1 && word[0] == '-' && strings.IndexByte(word, '=') < 0 && (letterByte(word[1]) || strings.HasPrefix(word, "--") && len(word) > 2)
}

var quotes = setOf("\"'")

// inAddress says whether the name is a parameter of an address.
func (a *assignment) inAddress() bool {
	return a.from > 0 && a.name != "" && strings.IndexByte("?&;", a.text[a.from-1]) >= 0
}

// sideBytes is how much of a line is read beside a name or a value.
const sideBytes = 128

// lineBefore returns what stands before the name in its line.
func (a *assignment) lineBefore() string {
	if !a.looked {
		from := max(a.from-sideBytes, 0)
		if a.lineStart <= a.from && a.from <= a.reached {
			from = max(from, a.lineStart)
		} else {
			from += strings.LastIndexByte(a.text[from:a.from], '\n') + 1
		}
		a.before, a.looked = a.text[from:a.from], true
	}
	return a.before
}

// inCall says whether a value is an argument of a function.
func (a *assignment) inCall(v value) bool {
	before := a.lineBefore()
	if strings.Count(before, "(") > strings.Count(before, ")") {
		return true
	}
	rest := a.text[v.end:min(v.end+2, len(a.text))]
	return strings.HasPrefix(rest, ")") || rest == ", " || rest == ",\n" || rest == ","
}

// lastOnLine says whether a value ends the line of a setting or of a prompt.
func (a *assignment) lastOnLine(v value) bool {
	rest := a.text[v.end:min(v.end+sideBytes, len(a.text))]
	rest, _, _ = strings.Cut(rest, "\n")
	if rest = trimLeft(rest, &blanks); rest != "" && rest != "\r" && !strings.HasPrefix(rest, "#") {
		return false
	}
	before := a.lineBefore()
	if a.colon {
		return strings.IndexByte(before, '(') < 0 && strings.IndexByte(before, '=') < 0
	}
	return strings.Trim(before, " \t+-#>|*") == "" && a.amongSettings(v)
}

// amongSettings says whether the lines beside an assignment are no program.
func (a *assignment) amongSettings(v value) bool {
	from := a.from - len(a.lineBefore())
	before := strings.TrimRight(a.text[max(from-sideBytes, 0):from], "\n")
	after, _, _ := strings.Cut(strings.TrimLeft(a.text[v.end:min(v.end+sideBytes, len(a.text))], "\r\n"), "\n")
	return settingLike(before[strings.LastIndexByte(before, '\n')+1:]) && settingLike(after)
}

// amongPairs says whether a line beside an assignment is a pair of YAML at the same depth that no program has: its value
// is no type, and no comma or bracket ends it.
func (a *assignment) amongPairs(v value) bool {
	depth := a.lineBefore()
	if strings.Trim(depth, " ") != "" {
		return false
	}
	from := a.from - len(depth)
	before := strings.TrimSuffix(a.text[max(from-sideBytes, 0):from], "\n")
	_, after, _ := strings.Cut(a.text[v.end:min(v.end+2*sideBytes, len(a.text))], "\n")
	after, _, _ = strings.Cut(after, "\n")
	return plainPair(before[strings.LastIndexByte(before, '\n')+1:], depth) || plainPair(after, depth)
}

// amongFields says whether a pair stands among others with blanks between them, one of which names the account or the place that
// the password is for: "user=kim password=X sslmode=disable".
func (a *assignment) amongFields(v value) bool {
	if !a.direct || a.kind != passwordNoun {
		return false
	}
	field := ""
	if before, found := strings.CutSuffix(a.lineBefore(), " "); found {
		field = before[lastBlank(before)+1:]
	}
	after := ""
	if next, found := strings.CutPrefix(a.text[v.end:min(v.end+sideBytes, len(a.text))], " "); found {
		after = next[:min(runOf(next, 0, &accountBytes, nameLimit)+1, len(next))]
	}
	return accountField(strings.TrimLeft(field, "\"'`(")) || accountField(after)
}

// accountField says whether a text is the name of an account or a place, an equals sign, and perhaps its value.
func accountField(text string) bool {
	name, of, found := strings.Cut(text, "=")
	return found && !strings.HasPrefix(of, "=") && accountNames[strings.ToLower(lastWord(name))]
}

// promptVerbs are what stands before a name in the prompt of a program.
var promptVerbs = wordMap("enter new retype old current")

func promptVerb(before string) bool {
	word := strings.TrimSpace(before)
	return len(word) <= len("current") && promptVerbs[strings.ToLower(word)]
}

// lastLine says whether nothing follows a value in its line.
func (a *assignment) lastLine(v value) bool {
	return strings.TrimSpace(a.text[v.end:lineBreak(a.text, v.end)]) == ""
}

// accountNames are the last words of names of settings that stand beside a password.
var accountNames = wordMap("user username login host hostname port database dbname db ssid url server adapter mgmt email mail account broker")

// besideAccount says whether a line beside an assignment sets the account or the place that the password is for, in the
// same notation: `user: X` or `user=X`, and no program.
func (a *assignment) besideAccount(v value) bool {
	depth := a.lineBefore()
	if strings.Trim(depth, " ") != "" || !a.colon && !a.direct || a.kind != passwordNoun && a.kind != phraseNoun {
		return false
	}
	if !a.lastLine(v) {
		return false
	}
	sign := "="
	if a.colon {
		sign = ": "
	}
	from := a.from - len(depth)
	before := strings.TrimSuffix(a.text[max(from-sideBytes, 0):from], "\n")
	_, after, _ := strings.Cut(a.text[v.end:min(v.end+2*sideBytes, len(a.text))], "\n")
	after, _, _ = strings.Cut(after, "\n")
	return accountPair(before[strings.LastIndexByte(before, '\n')+1:], depth, sign) || accountPair(after, depth, sign)
}

func accountPair(line, depth, sign string) bool {
	pair, same := strings.CutPrefix(strings.TrimRight(line, " \r"), depth)
	name, of, found := strings.Cut(pair, sign)
	return same && found && of != "" && runOf(name, 0, &accountBytes, nameLimit) == len(name) && accountNames[strings.ToLower(lastWord(name))] &&
		strings.IndexByte(" $({[<", of[0]) < 0 && strings.IndexByte(",;{}()[]", of[len(of)-1]) < 0 && !idleWords[strings.ToLower(of)]
}

func plainPair(line, depth string) bool {
	pair, same := strings.CutPrefix(strings.TrimRight(line, " \r"), depth)
	name, of, found := strings.Cut(pair, ": ")
	return same && found && name != "" && runOf(name, 0, &accountBytes, nameLimit) == len(name) && of != "" &&
		strings.IndexByte(",;{}()[]=", of[len(of)-1]) < 0 && strings.IndexByte("[({", of[0]) < 0 && !idleWords[strings.ToLower(of)] && mixtureOf(of).blanks == 0 &&
		(of[0] < 'A' || of[0] > 'Z')
}

func settingLike(line string) bool {
	line = strings.TrimSpace(line)
	if name, _, found := strings.Cut(line, ":"); found && name != "" && mixtureOf(name).blanks+mixtureOf(name).brackets == 0 {
		return true
	}
	return line == "" || strings.IndexByte("[#;", line[0]) >= 0 || strings.IndexByte(line, '=') > 0 && !strings.ContainsAny(line, "(){}")
}

// fieldBytes is how long a value with blanks in a connection string may be.
const fieldBytes = 64

// wholeField returns where a value ends that goes on behind a blank, up to the semicolon of a connection string:
// `User=a;Password=X Y;Port=1`.
func (a *assignment) wholeField(end int) int {
	if a.from == 0 || a.text[a.from-1] != ';' || end >= len(a.text) || a.text[end] != ' ' {
		return end
	}
	rest := a.text[end:min(end+fieldBytes, len(a.text))]
	if i := strings.IndexAny(rest, ";\n\"'=<"); i > 0 && rest[i] == ';' {
		return end + i
	}
	return end
}

// wholeValue returns where a value ends that goes on behind a character that ends others, as in a&b.
func wholeValue(text string, end int) int {
	for end+1 < len(text) && strings.IndexByte("&;,|$%{}", text[end]) >= 0 {
		next := end + 1
		stop := next
		for stop < len(text) && stop-next < nameLimit && nameByte(text[stop]) {
			stop++
		}
		if stop == next || stop < len(text) && strings.IndexByte("=:%", text[stop]) >= 0 || stop-next >= nameLimit {
			return end
		}
		end = bareValue(text, next).end
	}
	return end
}

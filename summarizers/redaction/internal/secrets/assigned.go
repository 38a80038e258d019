package secrets

import "strings"

// findAssigned finds what is assigned to a name for passwords, tokens and keys: in settings, programs, data and flags.
// What stands in a sentence is left to told.
func findAssigned(r *reading, rule, start, end int) {
	from, to := nameAround(r.text, start, end)
	r.until[rule] = max(r.until[rule], end)
	if !r.names.within(start, nameWindow, maxNames) {
		return
	}
	if start-from == nameLimit || to-end == nameLimit {
		r.until[rule] = max(r.until[rule], to)
		return
	}
	name := r.text[from:to]
	if i := strings.Index(name, "...."); i > 0 && start < from+i {
		to = from + i
		name = name[:i]
	}
	kind := nounOf(name)
	if kind == noNoun {
		kind = qualifiedNoun(name)
	}
	if kind == tokenNoun && drawnNames.any(name) {
		return
	}
	if kind == noNoun && from > 0 && strings.IndexByte("?&;", r.text[from-1]) >= 0 {
		r.parameter(name, to)
		return
	}
	if testResult(name, r.text, to) {
		return
	}
	if kind == noNoun && strings.EqualFold(lastWord(name), "key") {
		switch word, _ := wordBefore(strings.TrimSuffix(r.text[:from], "$"), len(strings.TrimSuffix(r.text[:from], "$"))); {
		case qualifiers[word] || lastQualified(name) || word == "set" && from > 0 && r.text[from-1] == '$':
			kind = keyNoun
		case networks[word] || word == "option" && networkSettings.any(r.text[max(start-2*sideBytes, 0):start]),
			strings.HasPrefix(r.text[to:], " \"") && networkWords.any(r.text[max(start-sideBytes/2, 0):start]):
			kind = passwordNoun
		}
	}
	if kind == phraseNoun && strings.EqualFold(name, "phrase") && strings.IndexByte(":=", r.text[min(to, len(r.text)-1)]) < 0 {
		// Much is called a phrase.
		if word, _ := wordBefore(r.text, from); !phraseOwners[word] {
			return
		}
	}
	if kind == tokenNoun && strings.EqualFold(name, "secret") {
		if word, _ := wordBefore(r.text, from); word == "shared" || word == "preshared" {
			kind = passwordNoun
		}
	}
	if kind == noNoun && capitals(name) && strings.HasSuffix(name, "_SESSION") {
		// What a program keeps in the environment to go on with a session.
		kind = tokenNoun
	}
	if kind == noNoun && plurals[strings.ToLower(name)] {
		a := assignment{reading: r, from: from, to: to, kind: tokenNoun, name: name, rule: rule}
		if a.elements() || a.section() {
			return
		}
		if strings.HasPrefix(r.text[to:], ":") {
			a.children(to + 1)
			return
		}
	}
	if kind == noNoun {
		if r.drawnBeside(name, from, to) {
			r.until[rule] = max(r.until[rule], to)
		}
		return
	}
	if strings.IndexByte(name, '.') > 0 && from > 0 && r.text[from-1] == '(' && strings.HasPrefix(r.text[to:], ") = ") {
		// A checksum of a file with such a name.
		return
	}
	// Keywords in the same name need not be looked at again.
	r.until[rule] = max(r.until[rule], to)
	a := assignment{reading: r, from: from, to: to, kind: kind, name: name, rule: rule}
	if !a.column() && !a.section() && !a.find() && !a.prompted(to) {
		r.told(r.set.told, from, to, kind, true)
	}
}

// phraseOwners are words that make "phrase" a word for a secret.
var phraseOwners = wordMap("seed recovery backup pass secret mnemonic wallet security")

// lastQualified says whether the word before "key" in a name makes it a word for a secret.
func lastQualified(name string) bool {
	head := strings.TrimRight(name[:len(name)-len("key")], "_-.")
	return qualifiers[strings.ToLower(lastWord(head))]
}

// assignment is a name with what may be assigned to it.
type assignment struct {
	*reading
	from, to int
	kind     noun
	name     string
	// rule is the rule that reads the name.
	rule int
	// direct says that the value follows an equals sign without a blank, colon that it follows a colon, and strong that
	// only values are written in this way.
	direct, colon, strong bool
	// before is what stands before the name in its line, once it was looked for.
	before string
	looked bool
}

var leaders = setOf(". ")

var beforeMaterial = setOf(" \"'")

// alignedBlanks is how many blanks may stand between a name and an operator, where values stand below each other.
const alignedBlanks = 40

// find adds the value of the name, and says whether it has one.
func (a *assignment) find() bool {
	text := a.text
	at := a.to
	quotes := 0
	for n := 0; n < 3 && at < len(text) && strings.IndexByte("\"'`])", text[at]) >= 0; n++ {
		at++
		quotes++
	}
	spaces := 0
	for spaces < alignedBlanks && at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
		spaces++
	}
	if strings.HasPrefix(text[at:], "...") {
		// What is printed in columns.
		end := runOf(text, at, &leaders, alignedBlanks)
		if end < len(text) && text[end] == ':' {
			at = end
		} else if v := valueAt(text, end); end-at >= 8 && chosenText(text[v.start:v.end]) {
			a.add(a.set.index["password"], v.start, v.end)
			return true
		}
	}
	if quotes > 1 && text[min(at, len(text)-1)] == '[' && at+1 < len(text) {
		// Another index may follow: ['password']['root'].
		if v := valueAt(text, at+1); v.quoted && v.end-v.start < shortValue && strings.HasPrefix(text[v.end+1:], "]") {
			at = v.end + 2
			at = runOf(text, at, &blanks, 8)
		}
	}
	if at >= len(text) {
		v, is := reversed(text, a.from)
		return is && a.take(v, false)
	}
	if spaces > 0 && a.from > 0 && text[a.from-1] == '<' {
		// An element with attributes.
		if i := strings.IndexByte(text[at:min(at+sideBytes, len(text))], '>'); i > 0 && text[at+i-1] == '"' && a.content(at+i+1) {
			return true
		}
	}
	if text[at] == '|' && spaces > 0 && !strings.HasPrefix(text[at:], "||") && a.besideBar(at+1) {
		return true
	}
	if text[at] == '[' {
		// The prompt of a program with its default.
		if i := strings.Index(text[at:min(at+24, len(text))], "]:"); i > 0 {
			at += i + 1
		}
	}
	switch c := text[at]; {
	case c == '{' && quotes > 0:
		return a.defaulted(at)
	case c == '=' || c == ':' || c == '|' && strings.HasPrefix(text[at:], "||="):
		return a.behind(at)
	case c == '?' && strings.HasPrefix(text[at:], "?= "):
		// As make assigns defaults.
		return a.behind(at + 1)
	case c == '-' && strings.HasPrefix(text[at:], "-> \""):
		return a.argument(at + len("-> "))
	case quotes == 1 && (c == '\n' || c == '\r') && a.formField(a.to):
		return true
	case c == '<' && strings.HasPrefix(text[at:], "<- "):
		return a.argument(at + len("<- "))
	case c == '!' && strings.HasPrefix(text[at:], "!= "):
		v := valueAt(text, at+len("!= "))
		return v.quoted && (randomLike(text[v.start:v.end]) || drawnWord(text[v.start:v.end])) && a.take(v, false)
	case quotes > 0 && strings.HasPrefix(text[at:], "to \""):
		return a.argument(at + len("to "))
	case (c == '|' || c == '?') && at+1 < len(text) && text[at+1] == c:
		return a.argument(at + 2)
	case c == '(' && spaces > 0:
		return false
	case c == '(' || c == ',' && (quotes > 0 && !keyed(text, at+1) || strings.HasSuffix(a.name, "_USERPWD")):
		return a.argument(at + 1)
	case c == '>' || c == '<' || c == '/' || quotes > 0 || namedValue(text[at:min(at+6, len(text))]) || c == '\n' || c == '\r' || c == ',':
		return a.element(at)
	case spaces > 0:
		if v, is := typedValue(text, at); is {
			return a.take(v, false)
		}
		return a.word(at)
	}
	return false
}

// namedValue says whether a text begins with the name of a value or of a type, in an element.
func namedValue(text string) bool {
	return len(text) > 5 && (strings.EqualFold(text[:5], "value") || strings.EqualFold(text[:4], "type")) && !letterByte(text[len(text)-1]) || strings.HasPrefix(text, "Type")
}

// behind adds the value behind an operator.
func (a *assignment) behind(at int) bool {
	text := a.text
	colon := text[at] == ':'
	for n := 0; n < 3 && at < len(text) && strings.IndexByte(":=>|", text[at]) >= 0; n++ {
		at++
	}
	if colon && at < len(text) && (text[at] == '?' || text[at] == '+') && strings.HasSuffix(text[:a.from], "${") {
		// What is said or used in place of the variable.
		return true
	}
	if a.material(runOf(text, at, &beforeMaterial, 4)) {
		return true
	}
	if colon {
		at = behindTag(text, behindType(text, at))
		if strings.HasPrefix(text[at:], " (string) ") {
			// As Go prints differences.
			at += len(" (string) ")
		}
	} else if text[at-1] == '>' {
		at = behindDump(text, at)
	}
	v := valueAt(text, at)
	if v.start == v.end {
		if strings.HasPrefix(text[v.start:], "[]byte(") {
			return a.argument(v.start + len("[]byte("))
		}
		if colon && strings.HasPrefix(text[v.start:], "{") && a.within(v.start) {
			return true
		}
		if braced, is := a.braced(v.start); is && !colon {
			a.add(a.set.index["password"], braced.start, braced.end)
			return true
		}
		if !colon || !a.block(v.start) && !a.children(v.start) {
			a.below(v.start)
		}
		return true
	}
	if phrase, is := a.phraseLine(at); is && !v.quoted && (a.kind == passwordNoun || a.kind == phraseNoun) {
		a.add(a.set.index["password"], phrase.start, phrase.end)
		return true
	}
	direct := v.start == at || v.quoted && v.start == at+1
	a.direct = direct && text[at-1] == '='
	a.strong = a.direct && (capitals(a.name) || a.flag() || a.flagged() || a.inAddress() || a.listed(v))
	a.colon = colon
	a.strong = a.strong || colon && a.kind == passwordNoun && !v.quoted && capitals(a.name) && strings.Contains(a.name, "_") && a.line(v)
	if colon && direct && a.from > 1 && text[a.from-1] == '/' && text[a.from-2] == ' ' {
		// A flag of a command of Windows.
		a.strong, a.direct = true, true
		return a.take(v, false)
	}
	return a.take(v, colon && !v.quoted)
}

// braced returns the value that a connection string has in braces, as it must if there are semicolons in it: `;Pwd={a;b};`.
func (a *assignment) braced(at int) (value, bool) {
	rest := a.text[at:min(at+sideBytes, len(a.text))]
	if a.from == 0 || a.text[a.from-1] != ';' || a.kind != passwordNoun || rest == "" || rest[0] != '{' {
		return value{}, false
	}
	end := strings.IndexByte(rest, '}')
	if end < 4 || strings.IndexByte(rest[:end], '\n') >= 0 || end+1 < len(rest) && strings.IndexByte(";\"'\n", rest[end+1]) < 0 || identifier(rest[1:end], mixtureOf(rest[1:end])) || nouned(rest[1:end]) {
		return value{}, false
	}
	return value{at + 1, at + end, true}, true
}

// line says whether the name and the value are all that their line has, as in YAML.
func (a *assignment) line(v value) bool {
	return strings.Trim(a.lineBefore(), " \t-") == "" && strings.Trim(a.text[v.end:lineBreak(a.text, v.end)], " \t\r") == ""
}

// defaulted adds the default of a variable of Terraform.
func (a *assignment) defaulted(at int) bool {
	block, _, _ := strings.Cut(a.text[at:min(at+256, len(a.text))], "}")
	i := strings.Index(block, "default")
	if i < 0 {
		return true
	}
	i += len("default")
	blanks := len(block[i:]) - len(strings.TrimLeft(block[i:], " \t"))
	if i += blanks; i < len(block) && block[i] == '=' {
		return a.take(valueAt(a.text, at+i+1), false)
	}
	return true
}

// within adds the value of an object that has one beside what is said about it, as Terraform prints its results.
func (a *assignment) within(at int) bool {
	object, _, _ := strings.Cut(a.text[at:min(at+256, len(a.text))], "}")
	i := strings.Index(object, `"value":`)
	if i < 0 || a.kind > phraseNoun && !strings.Contains(object, `"sensitive"`) {
		return false
	}
	v := valueAt(a.text, at+i+len(`"value":`))
	a.strong = true
	return v.quoted && a.take(v, false)
}

// behindType returns where the value begins behind a type, as in `password: string = "x"`.
func behindType(text string, at int) int {
	end := at
	for end < len(text) && end-at < 32 && (letterByte(text[end]) || strings.IndexByte(" ?&<>[]'*", text[end]) >= 0) {
		end++
	}
	if end < len(text)-1 && end > at+1 && text[end] == '=' && text[end+1] != '=' {
		return end + 1
	}
	return at
}

// below adds the value on a line below the name.
func (a *assignment) below(at int) {
	text := a.text
	lines := 0
	for n := 0; n < 24 && at < len(text) && strings.IndexByte(" \t\r\n\\`>|-", text[at]) >= 0; n++ {
		if text[at] == '\n' {
			lines++
		}
		at++
	}
	if lines == 0 || lines > 3 {
		return
	}
	v := valueAt(text, at)
	if !v.quoted && v.end < len(text) && strings.IndexByte(" \t:=(", text[v.end]) >= 0 {
		return
	}
	if word := text[v.start:v.end]; tellable(word) || a.kind >= tokenNoun && randomLike(word) || v.quoted && assignable(word, true) {
		a.add(a.set.index["password"], v.start, v.end)
	}
}

// keyed says whether a text in quotes is followed by a colon, and so a name itself.
func keyed(text string, at int) bool {
	v := valueAt(text, at)
	return v.quoted && v.end+1 < len(text) && text[v.end+1] == ':'
}

// argument adds a text in quotes that is given with the name to a function.
func (a *assignment) argument(at int) bool {
	v := valueAt(a.text, at)
	if word := a.text[v.start:v.end]; !v.quoted && (strings.HasPrefix(word, "default=") || strings.HasPrefix(word, "fallback=")) {
		v = valueAt(a.text, v.start+len(before(word, "="))+1)
	}
	if !v.quoted {
		return true
	}
	if strings.HasSuffix(plainName(a.name), "userpwd") && accountName(before(a.text[v.start:v.end], ":")) {
		// The option of libcurl for both.
		a.userAndPassword(a.set.index["password"], a.text[v.start:v.end], v)
		return true
	}
	return a.take(v, false)
}

// element adds a value that has a name of its own, "value", or that is the content of an element.
func (a *assignment) element(at int) bool {
	text := a.text
	if v, is := reversed(text, a.from); is {
		return a.take(v, false)
	}
	if text[at] == '>' && !strings.HasPrefix(strings.TrimLeft(text[at+1:min(at+16, len(text))], " \t\r\n"), "<") {
		return a.content(at + 1)
	}
	i := at
	for n := 0; n < 24 && i < len(text) && (strings.IndexByte(" \t\r\n,\"'<>/", text[i]) >= 0 || text[i] == '+' && text[i-1] == '\n'); n++ {
		if text[i] == '>' && strings.IndexByte(" \t\r\n<", text[min(i+1, len(text)-1)]) < 0 {
			return a.content(i + 1)
		}
		i++
	}
	for _, word := range []string{"value", "string", "key", "type", "serializeas"} {
		if i+len(word) >= len(text) || !strings.EqualFold(text[i:i+len(word)], word) {
			continue
		}
		i += len(word)
		if word == "key" {
			return a.element(i)
		}
		if word == "type" || word == "serializeas" {
			n := strings.IndexByte(text[i:min(i+64, len(text))], '>')
			return n >= 0 && a.content(behindOpening(text, i+n+1))
		}
		for n := 0; n < 4 && i < len(text) && strings.IndexByte("\"' \t", text[i]) >= 0; n++ {
			i++
		}
		switch {
		case i >= len(text):
			return false
		case text[i] == '>':
			return a.content(i + 1)
		case text[i] == ':' || text[i] == '=':
			// A variable of the environment, in the settings of a container.
			a.strong = a.strong || capitals(a.name) && text[i] == ':'
			return a.take(valueAt(text, i+1), false)
		}
	}
	return false
}

// behindOpening returns where the content of an element with a value begins, if one follows.
func behindOpening(text string, at int) int {
	i := at
	for n := 0; n < 24 && i < len(text) && text[i] <= ' '; n++ {
		i++
	}
	if strings.HasPrefix(text[i:], "<value>") {
		return i + len("<value>")
	}
	return at
}

// wordInside is all but blanks.
var wordInside = func() bytes {
	set := bytes{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	for _, c := range []byte(" \n\t") {
		set[c>>6] &^= 1 << (c & 63)
	}
	return set
}()

// content adds the content of an element.
func (a *assignment) content(at int) bool {
	limit := a.text[at:min(at+valueBytes, len(a.text))]
	end := strings.IndexByte(limit, '<')
	if end < 0 {
		limit = limit[:min(len(limit), 4*nameLimit)]
		if end = runOf(limit, 0, &wordInside, valueBytes); end == len(limit) {
			return false
		}
	}
	trimmed := strings.TrimSpace(limit[:end])
	at += strings.Index(limit[:end], trimmed)
	if inner, found := strings.CutPrefix(trimmed, "{"); found && strings.HasSuffix(inner, "}") && encoded(inner[:len(inner)-1]) {
		// Maven and Jenkins write secrets that are encrypted with a key beside them so.
		a.add(a.set.index["password"], at, at+len(trimmed))
		return true
	}
	return a.take(value{at, at + len(trimmed), true}, false)
}

// encoded says whether a text is base64 of what a cipher wrote.
func encoded(text string) bool {
	m := mixtureOf(text)
	return randomLike(text) || strings.HasSuffix(text, "=") && len(text) >= 12 && m.digits > 0 && m.upper > 0 && m.lower > 0 &&
		runOf(text, 0, &base64Bytes, valueBytes) == len(text)
}

// beforeWords are words before a name which say that its value follows a blank.
var beforeWords = wordMap("env setx set setenv encrypted with define")

// behindWord says whether one of them stands before the name.
func (a *assignment) behindWord() bool {
	before, _ := wordBefore(a.text, a.from)
	return beforeWords[before]
}

// word adds the word behind a name and a blank, where such a word is a value: of a flag, a setting, netrc.
func (a *assignment) word(at int) bool {
	text := a.text
	flag := a.flag()
	if strings.HasPrefix(text[at:], "--body ") {
		at += len("--body ")
		flag = true
	}
	if strings.HasPrefix(text[at:], "\\\n") && flag {
		at += 2
	}
	for n := 0; n < 8 && at < len(text) && (text[at] == ' ' || text[at] == '\t'); n++ {
		at++
	}
	v := valueAt(text, at)
	lower := strings.ToLower(a.name)
	switch {
	case v.start == v.end || text[v.start] == '-':
		return false
	case strings.HasPrefix(text[v.start:], "ENC ") && a.behindWord():
		// Firewalls write so how a value is encrypted.
		a.strong = true
		return a.take(valueAt(text, v.start+len("ENC ")), false)
	case flag, (capitals(a.name) || v.quoted && (a.kind == passwordNoun || randomLike(text[v.start:v.end]))) && a.behindWord(), lower == "requirepass" || lower == "masterauth" || lower == "insecure-password":
		a.strong = true
		return a.take(v, false)
	case v.quoted && a.kind <= phraseNoun && text[v.start-1] != '`':
		return a.take(v, false)
	case strings.HasPrefix(text[a.to:], "  ") && a.kind <= phraseNoun && strings.Trim(a.lineBefore(), " \t") == "" &&
		(capitals(a.name) || strings.HasPrefix(text[a.to:], "    ") && stated(text[v.start:v.end], true)):
		// A table of variables.
		return strings.Trim(text[v.end:lineBreak(text, v.end)], " \t\r") == "" && fits(text[v.start:v.end], onLine) && a.take(value{v.start, v.end, true}, false)
	case a.kind == passwordNoun && (loginBefore(text, a.from) || accountBefore(text, a.from) && mixtureOf(text[v.start:v.end]).digits > 0):
		a.strong = true
		return a.take(v, false)
	case a.name == "PASS" && a.typedUser():
		a.strong = true
		return a.take(v, false)
	case a.kind == passwordNoun && a.behindWord():
		return assignable(text[v.start:v.end], v.quoted) && a.take(v, false)
	case a.kind == passwordNoun && a.configured(v), a.setByCommand(v):
		a.strong = true
		return a.take(v, false)
	}
	return false
}

// shortValue is the length up to which names are looked for in a value that is no secret.
const shortValue = 32

// twoWords says whether a text in quotes is two names with a dot between them, as people write passwords and hardly
// any program names: "Winter.Wald".
func twoWords(text string) bool {
	first, second, found := strings.Cut(text, ".")
	m := mixtureOf(text)
	return found && len(first) >= 3 && len(second) >= 4 && m.upper > 0 && m.upper <= 2 && m.letters() == len(text)-1 &&
		second[0] >= 'A' && second[0] <= 'Z' && !standIn(text)
}

func seeded(name, text string) bool {
	return hexLike(text) && len(text) >= 32 || strings.HasPrefix(text, "0x") && hexLike(text[2:]) && len(text) >= 34 ||
		nounOf(name) == tokenNoun && runOf(text, 0, &base32Bytes, len(text)) == len(text) && len(text) >= 16 && mixtureOf(text).digits > 0
}

// followed says whether a word follows in the same line: then a line with a colon is a sentence.
func followed(text string, at int) bool {
	if pairAt(text, at) {
		return false
	}
	rest := trimLeft(text[at:min(at+16, len(text))], &blanks)
	return at < len(text) && (text[at] == ' ' || text[at] == '\t') && rest != "" && (letterByte(rest[0]) || rest[0] >= 0x80)
}

// pairAt says whether a blank and the next pair of a name and a value stand at a place: ` name:value`.
func pairAt(text string, at int) bool {
	if at >= len(text) || text[at] != ' ' && text[at] != '\t' {
		return false
	}
	rest := trimLeft(text[at:min(at+shortValue, len(text))], &blanks)
	i := strings.IndexAny(rest, " :=\n")
	return i > 0 && i+1 < len(rest) && strings.IndexByte(":=", rest[i]) >= 0 && rest[i+1] > ' '
}

// phraseAt reads words up to the end of a line or of a sentence.
func phraseAt(text string, at int) value {
	end := at
	for end < len(text) && end-at < 256 && (text[end] >= 'a' && text[end] <= 'z' || text[end] == ' ') {
		end++
	}
	if v := bareValue(text, at); v.end > end {
		return v
	}
	return value{at, at + len(strings.TrimRight(text[at:end], " ")), false}
}

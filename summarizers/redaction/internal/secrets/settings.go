package secrets

import "strings"

// testResult says whether a name with its value is how many tests have passed, or that one has.
func testResult(name, text string, to int) bool {
	if !strings.EqualFold(name, "pass") || !strings.HasPrefix(text[to:], ": ") && !strings.HasPrefix(text[to:], " ") {
		return false
	}
	value := bareValue(text, to+2)
	if name == "PASS" && text[to] == ' ' && chosenText(text[value.start-1:value.end]) {
		return false
	}
	return name == "PASS" || runOf(text, value.start, &digitBytes, 12) == value.end && value.end > value.start &&
		holdsFold(text[value.end:lineBreak(text, value.end)], "fail")
}

// behindTag returns where a value begins behind a tag of YAML, such as !secret.
func behindTag(text string, at int) int {
	i := at
	for n := 0; n < 4 && i < len(text) && text[i] == ' '; n++ {
		i++
	}
	if i >= len(text) || text[i] != '!' {
		return at
	}
	end := i + 1
	for end < len(text) && end-i < nameLimit && (nameByte(text[end]) || text[end] == '!' || text[end] == '/') {
		end++
	}
	if end == i+1 || end >= len(text) || text[end] != ' ' {
		return at
	}
	return end + 1
}

// behindDump returns where a value begins behind the type that PHP prints before it, on a line of its own.
func behindDump(text string, at int) int {
	i := at
	for n := 0; n < 24 && i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0; n++ {
		i++
	}
	length, found := strings.CutPrefix(text[i:min(i+16, len(text))], "string(")
	if !found {
		return at
	}
	end := runOf(length, 0, &digitBytes, 6)
	if end == 0 || !strings.HasPrefix(length[end:], `) "`) {
		return at
	}
	return i + len("string(") + end + len(") ")
}

// childrenRead is how many lines below a name are read.
const childrenRead = 16

// plurals are names below which YAML has secrets by names of their own.
var plurals = wordMap("secrets credentials passwords tokens apikeys api_keys secret_keys signing_keys encryption_keys")

// elements adds the passwords or tokens of a list that a word for several of them names: PASSWORDS = ["X", "Y"].
func (a *assignment) elements() bool {
	text := a.text
	at := a.to
	for n := 0; n < 8 && at < len(text) && strings.IndexByte("\"' \t:=", text[at]) >= 0; n++ {
		at++
	}
	if at == a.to || at >= len(text) || strings.IndexByte("[({", text[at]) < 0 {
		return false
	}
	kind := tokenNoun
	if strings.HasPrefix(strings.ToLower(a.name), "pass") {
		kind = passwordNoun
	}
	for range childrenRead {
		at++
		for n := 0; n < shortValue && at < len(text) && strings.IndexByte(", \t\r\n", text[at]) >= 0; n++ {
			at++
		}
		v := valueAt(text, at)
		if !v.quoted {
			break
		}
		word := text[v.start:v.end]
		if randomLike(word) || tellable(word) || kind == passwordNoun && stated(word, true) {
			a.add(a.set.index["password"], v.start, v.end)
		}
		at = v.end
	}
	return true
}

// findSetSecret finds what a command gives to a secret with a flag: `gh secret set NAME --body X`.
func findSetSecret(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	limit := lineEnd(r.text, end, 256)
	for _, flag := range []string{"--body ", "--body=", " -b ", " -b\"", "--data ", "--value ", "--value="} {
		i := strings.Index(r.text[end:limit], flag)
		if i < 0 {
			continue
		}
		arg, _ := argumentAt(r.text, end+i+len(strings.TrimSuffix(flag, `"`)), limit)
		if word := r.text[arg.start:arg.end]; chosenText(word) || randomLike(word) {
			r.add(rule, arg.start, arg.end)
		}
	}
}

// findSensitive finds the value of a block that says of itself that it is sensitive.
func findSensitive(r *reading, rule, start, end int) {
	text := r.text
	rest := strings.TrimLeft(text[end:min(end+16, len(text))], " \"=:\t")
	if !strings.HasPrefix(rest, "true") || !r.again(rule, start, end+2*sideBytes) {
		return
	}
	from := max(start-2*sideBytes, 0)
	from += strings.LastIndexByte(text[from:start], '{') + 1
	to := min(end+2*sideBytes, len(text))
	if i := strings.IndexByte(text[end:to], '}'); i >= 0 {
		to = end + i
	}
	i := strings.Index(text[from:to], "value")
	if i < 0 {
		return
	}
	at := from + i + len("value")
	for n := 0; n < 8 && at < to && strings.IndexByte(" \"=:\t", text[at]) >= 0; n++ {
		at++
	}
	if at == from+i+len("value") || text[at-1] != '"' {
		return
	}
	if v := valueAt(text, at-1); v.quoted && chosenWord(text[v.start:v.end]) {
		r.add(rule, v.start, v.end)
	}
}

// section adds what looks drawn among the settings of a section of TOML that a word for secrets names: [registry.token].
func (a *assignment) section() bool {
	text := a.text
	before := a.lineBefore()
	if a.to >= len(text) || text[a.to] != ']' || before != "[" && before != "[[" {
		return false
	}
	at := lineBreak(text, a.to)
	if strings.Trim(text[a.to:at], "] \r") != "" {
		return false
	}
	for range childrenRead {
		if at++; at >= len(text) || text[at] == '[' {
			break
		}
		end := lineBreak(text, at)
		if i := strings.IndexByte(text[at:end], '='); i > 0 {
			if v := valueAt(text, at+i+1); v.quoted && randomLike(text[v.start:v.end]) {
				a.add(a.set.index["password"], v.start, v.end)
			}
		}
		at = end
	}
	return true
}

// children adds what looks drawn among the settings below a name such as secrets.
func (a *assignment) children(at int) bool {
	text := a.text
	if !plurals[strings.ToLower(a.name)] || at >= len(text) || strings.Trim(text[at:lineBreak(text, at)], " \r") != "" {
		return false
	}
	margin := indented(a.text[a.from-len(a.lineBefore()) : a.from])
	for range childrenRead {
		if at = lineBreak(text, at) + 1; at >= len(text) {
			break
		}
		line := text[at:lineBreak(text, at)]
		if strings.TrimSpace(line) != "" && indented(line) <= margin {
			break
		}
		if i := strings.Index(line, ": "); i > 0 {
			v := valueAt(text, at+i+2)
			if word := text[v.start:v.end]; randomLike(word) || tellable(word) {
				a.add(a.set.index["password"], v.start, v.end)
			}
		}
	}
	return true
}

// listed says whether a pair of a name and a value stands among others with commas between them and no blanks, as
// options of a command do.
func (a *assignment) listed(v value) bool {
	if v.quoted || a.kind != passwordNoun && a.kind != phraseNoun {
		return false
	}
	before := a.lineBefore()
	if strings.Count(before, "(") > strings.Count(before, ")") {
		return false
	}
	after := a.text[v.end:min(v.end+shortValue, len(a.text))]
	return strings.HasSuffix(before, ",") && paired(before[:len(before)-1]) || strings.HasPrefix(after, ",") && len(after) > 1 && letterByte(after[1]) && strings.IndexByte(after, '=') > 0
}

// paired says whether a text ends in a name, an equals sign and a value.
func paired(text string) bool {
	return strings.LastIndexByte(text, '=') > max(strings.LastIndexByte(text, ' '), strings.LastIndexByte(text, ','))
}

// configured says whether a name begins a line, and its value ends it, as settings without a sign between them are
// written: "bindpw X". Names that are words of sentences are left out.
func (a *assignment) configured(v value) bool {
	line := a.text[v.end:lineBreak(a.text, v.end)]
	word := a.text[v.start:v.end]
	switch strings.ToLower(a.name) {
	case "password", "passwords", "passwd", "pass", "passcode", "passwort", "kennwort", "senha", "pw":
		before := strings.TrimSpace(a.lineBefore())
		return (before == "" || strings.HasSuffix(before, "password") && strings.HasPrefix(before, "d-i ")) && strings.TrimSpace(line) == "" && chosenText(word) && !technical(word) && a.name != "passwd"
	}
	if strings.TrimSpace(line) == "" && a.programSetting(word) {
		return true
	}
	return strings.TrimSpace(a.lineBefore()) == "" && strings.TrimSpace(line) == "" && chosenWord(a.text[v.start:v.end])
}

// programSetting says whether a name of joined words with capitals stands among other settings in its line, with a word behind
// it that somebody chose: "MqttUser a; MqttPassword X".
func (a *assignment) programSetting(word string) bool {
	name, m := mixtureOf(a.name), mixtureOf(word)
	return name.upper > 1 && name.lower > 2 && name.letters() == len(a.name) && strings.IndexByte(a.lineBefore(), ';') >= 0 &&
		chosenText(word) && !technical(word) && !strings.ContainsAny(word, "./") && (m.digits+m.symbols > 0 || !identifier(word, m))
}

// chosenWord says whether a word where a password may stand is one that no sentence and no command has.
func chosenWord(text string) bool {
	m := mixtureOf(text)
	return fits(text, given) && (m.digits+m.symbols+m.others > 0 || drawnWord(text))
}

// drawnWord says whether a word was drawn from letters and digits: it has few vowels, or capitals that no two small
// letters follow.
func drawnWord(text string) bool { return mixtureOf(text).drawnWord(text) }

func (m mixture) drawnWord(text string) bool {
	if len(text) < 8 || len(text) > 64 || m.letters()+m.digits != len(text) || m.upper < 2 || m.lower < 2 || standIn(text) || technical(text) {
		return false
	}
	vowels, uneven := 0, 0
	for i := range len(text) {
		if strings.IndexByte("aeiou", text[i]|0x20) >= 0 {
			vowels++
		}
		if i+1 < len(text) && capital(text[i]) && letterByte(text[i+1]) && !capital(text[i+1]) && (i+2 == len(text) || capital(text[i+2]) || text[i+2] <= '9') {
			uneven++
		}
	}
	if !capital(text[0]) && capital(text[1]) {
		uneven++
	}
	inner := m.digits > m.endDigits
	return uneven > 1 || uneven > 0 && (inner || vowels*4 <= m.letters()) || vowels*8 <= m.letters()
}

func capital(c byte) bool { return c >= 'A' && c <= 'Z' }

// commandWords are words of commands that give values to names: `config set NAME X`, `kv put path/NAME X`.
var commandWords = newWordSet([]string{
	" config set ", " config --set ", " set --secret ", " kv put ", " put-parameter ", " secret set ", " secrets set ", " secret put ", " variables set ", " var set ", " env set ",
	"nmcli ", "rclone config ", "netsh ", "username ", "wifi connect ", " credential set ", "config:set ",
})

// setByCommand says whether a name and a word behind it are arguments of a command that gives the name this value.
func (a *assignment) setByCommand(v value) bool {
	word := a.text[v.start:v.end]
	before := a.lineBefore()
	if a.kind == keyNoun || before == "" || !a.commands.within(a.from, nameWindow, maxReadings) ||
		!fits(word, given) || a.kind > phraseNoun && !randomLike(word) || !commandWords.any(before) {
		return false
	}
	if !chosenWord(word) && !twoWords(word) && !namedTwice(word) && !strings.HasPrefix(strings.TrimLeft(before, " \t$#>"), "nmcli ") {
		return false
	}
	return strings.IndexAny(before, ".?!") != len(before)-1
}

// drawnSigns says whether a text in quotes was drawn from all signs of a keyboard, also those that programs have.
func drawnSigns(text string) bool {
	m := mixtureOf(text)
	return len(text) >= 10 && len(text) <= 128 && m.digits > 0 && m.upper > 0 && m.lower > 0 && m.blanks == 0 && m.symbols > 0 && m.brackets > 0 &&
		(len(text) >= 40 || !strings.ContainsAny(text, "(){}<>")) && !standIn(text) && entropy(text) > 3
}

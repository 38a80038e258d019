package secrets

import (
	"slices"
	"strings"
)

// findNextWord finds the word behind words that say that it is a secret, as in the settings of routers.
func findNextWord(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	arg, _ := argumentAt(r.text, end, lineEnd(r.text, end, 256))
	community := strings.EqualFold(r.text[start:end], "snmp-server community ")
	if word := r.text[arg.start:arg.end]; fits(word, given) && (community || mixtureOf(word).digits+mixtureOf(word).symbols > 0) {
		r.add(rule, arg.start, arg.end)
		r.until[rule] = arg.end
	}
}

// findFlagged finds the password behind -p in a command that has a user's name behind -u, whatever the command.
func findFlagged(r *reading, rule, start, end int) {
	text := r.text
	if !r.limits[rule].within(start, 8*sideBytes, maxReadings) {
		return
	}
	line := text[max(start-sideBytes, 0):start]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	named := false
	if ownPorts.any(line) {
		return
	}
	for _, flag := range []string{" -u ", " -U ", " --user ", " --username ", " -username ", " -l "} {
		if i := strings.LastIndex(line, flag); i >= 0 {
			rest := strings.TrimLeft(line[i+len(flag):], " ")
			named = named || rest != "" && rest[0] != '-'
		}
	}
	named = named || strings.Contains(line, " login ")
	hosted := strings.Contains(line, " -H ") || strings.Contains(line, " -h ") || strings.Contains(line, " --host ") || strings.Contains(line, " -k ")
	if !named && !hosted {
		return
	}
	arg, _ := argumentAt(text, end, lineEnd(text, end, 256))
	word := text[arg.start:arg.end]
	if m := mixtureOf(word); (!named || flagLetter(text[start:end])) && m.symbols == 0 && (m.upper == 0 || m.digits == 0) {
		return
	} else if !strings.HasPrefix(word, "-") && m.letters()+m.others > 2 && strings.IndexByte(word, '/') < 0 && fits(word, given) && !projectLike(m) {
		r.add(rule, arg.start, arg.end)
		r.until[rule] = arg.end
	}
}

// flagLetter says whether a flag is a letter that is something else in most commands.
func flagLetter(flag string) bool { return flag == " -w " }

// projectLike says whether a word is words and few digits with joints between them, as names of projects and hosts are.
func projectLike(m mixture) bool { return m.joints > 0 && m.upper+m.symbols == 0 && m.digits <= 2 }

// ownPorts are commands whose -p is something else.
var ownPorts = newWordSet([]string{"mysql", "mariadb", "psql", "pg_", "ssh", "docker", "podman", "mkdir", "cp ", "unzip", "kubectl", "lsof", "git ", "nc ", "gradle", "make", "cargo"})

// findSent finds what a script of expect sends behind a prompt for a password.
func findSent(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+sideBytes) || !promptWords.any(r.text[max(start-sideBytes, 0):start]) {
		return
	}
	at := end
	if r.text[end-1] == '"' {
		at--
	}
	v := valueAt(r.text, at)
	if word := strings.TrimRight(r.text[v.start:v.end], "\r\n"); v.quoted && fits(strings.TrimSuffix(word, `\r`), given) {
		r.add(rule, v.start, v.start+len(word))
	} else if !v.quoted && at < end {
		// The line that is sent ends in an escape.
		if v = bareValue(r.text, end); fits(r.text[v.start:v.end], given) {
			r.add(rule, v.start, v.end)
		}
	}
}

// promptWords are in prompts for passwords. Scripts leave out the first letter, which may be a capital.
var promptWords = newWordSet([]string{"assword", "passw", "assphrase"})

// findSecondArgument finds the second argument of functions that sign with a secret.
func findSecondArgument(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	limit := lineEnd(r.text, end, 256)
	i := strings.IndexByte(r.text[end:limit], ',')
	if i < 0 {
		return
	}
	if v := valueAt(r.text, end+i+1); v.quoted && fits(r.text[v.start:v.end], inQuotes) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

// seedLinks may stand between a word for a wallet's words and them.
var seedLinks = []string{" lautet", " ist", " is", " est", " es", " é", "是", "：", "は"}

// findSeedWords finds the words from which a wallet is made: twelve and more short words.
func findSeedWords(r *reading, rule, _, end int) {
	text := r.text
	at := end
	if rest, told := strings.CutPrefix(text[end:min(end+shortValue, len(text))], ", "); told {
		at += strings.IndexByte(rest, ':') + len(", ")
	}
	for _, link := range seedLinks {
		if strings.HasPrefix(text[at:], link) {
			at += len(link)
			break
		}
	}
	for n := 0; n < 12 && at < len(text) && strings.IndexByte(" \t\r\n:=\"'`([*-", text[at]) >= 0; n++ {
		at++
	}
	words, stop := 0, at
	for words < 30 {
		next := stop
		for next < len(text) && next-stop < 4 && strings.IndexByte(" ,\n", text[next]) >= 0 {
			next++
		}
		last := next
		for last < len(text) && last-next < 9 && text[last] >= 'a' && text[last] <= 'z' {
			last++
		}
		if last-next < 3 || last-next > 8 {
			break
		}
		if opcodes[text[next:last]] {
			r.until[rule] = last
			return
		}
		words, stop = words+1, last
	}
	r.until[rule] = stop
	if words >= 12 {
		r.add(rule, at, stop)
	}
}

// findInserted finds the passwords in rows that SQL inserts: by the names of the columns.
func findInserted(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+4*commandBytes) {
		return
	}
	text := r.text
	limit := min(end+4*commandBytes, len(text))
	open := strings.IndexByte(text[end:limit], '(')
	if open < 0 {
		return
	}
	at := end + open + 1
	names, rest, found := strings.Cut(text[at:limit], ")")
	if !found || !holdsFold(rest[:min(16, len(rest))], "values") {
		return
	}
	kinds := columnKinds(names)
	at += len(names) + 1
	r.until[rule] = at
	if !slices.ContainsFunc(kinds, func(kind noun) bool { return kind != noNoun }) {
		return
	}
	for range rowsRead {
		open = strings.IndexByte(text[at:limit], '(')
		if open < 0 {
			return
		}
		if at = r.insertedRow(rule, kinds, at+open+1, limit); at >= limit || text[at] != ')' {
			return
		}
		r.until[rule] = at
		if next := strings.TrimLeft(text[at+1:min(at+shortValue, limit)], " \r\n"); !strings.HasPrefix(next, ",") {
			return
		}
	}
}

// insertedRow adds the secrets of a row that SQL inserts, and returns where it ends.
func (r *reading) insertedRow(rule int, kinds []noun, at, limit int) int {
	text := r.text
	for i := 0; at < limit; i++ {
		arg := valueAt(text[:limit], behindComma(text, at))
		if i < len(kinds) && arg.quoted && storedSecret(text[arg.start:arg.end], kinds[i]) {
			r.add(rule, arg.start, arg.end)
		}
		if at = arg.end; arg.quoted {
			at++
		}
		if at >= limit || text[at] != ',' {
			break
		}
	}
	return at
}

// phraseBytes are what passphrases have.
var phraseBytes = func() bytes {
	set := setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 \t\r")
	set.addOthers()
	return set
}()

// phraseLine returns the rest of a line of settings that is a passphrase without quotes.
func (a *assignment) phraseLine(at int) (value, bool) {
	text := a.text
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	end := at
	for end < len(text) && end-at <= rowBytes && phraseBytes.has(text[end]) {
		end++
	}
	if end < len(text) && text[end] != '\n' {
		return value{}, false
	}
	bare := strings.TrimRight(text[at:end], " \t\r")
	m := mixtureOf(bare)
	phraseSet := a.kind == phraseNoun && capitals(a.name) && m.blanks >= 3 && m.lower+m.blanks == len(bare) && a.text[at-1] == '=' && saidPhrase(bare, given)
	if phraseSet {
		return value{at, at + len(bare), true}, true
	}
	if m.blanks == 0 || m.letters()+m.digits+m.blanks+m.others != len(bare) || m.upper > 0 && a.kind != phraseNoun || !saidPhrase(bare, inQuotes) {
		return value{}, false
	}
	v := value{at, at + len(bare), true}
	from := a.from - len(a.lineBefore())
	before := strings.TrimSpace(text[max(from-sideBytes, 0):from])
	after := strings.TrimSpace(text[end:min(end+sideBytes, len(text))])
	return v, (before+after != "" || a.kind == phraseNoun && m.blanks > 1) && strings.Trim(a.lineBefore(), " \t+-") == "" && a.amongSettings(v)
}

// drawnBeside adds a long run of hexadecimal digits directly behind the word key.
func (r *reading) drawnBeside(name string, from, to int) bool {
	word, _ := wordBefore(r.text, from)
	if !strings.EqualFold(name, "key") || plainKeys[word] {
		return false
	}
	at := to
	for n := 0; n < 6 && at < len(r.text) && (strings.IndexByte(" :=`\"'", r.text[at]) >= 0 || strings.HasPrefix(r.text[at:], "is ")); n++ {
		if r.text[at] == 'i' {
			at++
		}
		at++
	}
	stop := runOf(r.text, at, &hexBytes, 160)
	if stop-at < 32 || stop < len(r.text) && wordByte(r.text[stop]) {
		return false
	}
	r.add(r.set.index["password"], at, stop)
	return true
}

// plainKeys are words before keys that are no secrets.
var plainKeys = wordMap("public primary foreign cache commit host sort partition ssh idempotency object row map hash sha dedup lookup index the a this each group route partition unique")

// findBesideKeyID finds the secret of Amazon beside the name of its key.
func findBesideKeyID(r *reading, rule, start, end int) {
	text := r.text
	if stop := runOf(text, end, &base32Bytes, 17); stop-end != 16 || start > 0 && wordByte(text[start-1]) {
		return
	}
	r.until[rule] = end + 16
	for at := end + 16; at < min(end+96, len(text)); {
		stop := runOf(text, at, &base64Bytes, 64)
		if m := mixtureOf(text[at:stop]); stop-at == 40 && m.digits > 0 && m.upper > 2 && m.lower > 2 {
			r.add(rule, at, stop)
			return
		}
		at = max(stop, at+1)
	}
}

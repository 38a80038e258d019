package secrets

import "strings"

// findShown finds what a command prints that shows a secret: its output is one line, and that line one word.
func findShown(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && wordByte(text[start-1]) && wordByte(text[start]) || !r.again(rule, start, end+2*sideBytes) {
		return
	}
	command, at := commandRest(text, end)
	if at == 0 || strings.IndexByte(command, '>') >= 0 {
		return
	}
	named, phrase := r.shows(start, end, command)
	if !named {
		return
	}
	r.until[rule] = at
	if from, found := valueField(text, at); found {
		if v := valueAt(text, from); v.quoted && chosenText(text[v.start:v.end]) {
			r.add(rule, v.start, v.end)
		}
		return
	}
	at = behindRepeated(text, at, command)
	stop := lineBreak(text, at)
	line := strings.TrimRight(text[at:stop], " \r")
	if bare := strings.TrimPrefix(line, `"`); bare != line && strings.HasSuffix(bare, `"`) {
		line, at = bare[:len(bare)-1], at+1
	}
	if word := printedWord(line); word != "" && (chosenText(word) || randomLike(word)) || phrase && fourWords(line) {
		r.add(rule, at, at+len(line))
	}
}

// behindRepeated returns where the value begins that a command prints behind the name that it was asked for.
func behindRepeated(text string, at int, command string) int {
	name := strings.TrimSpace(command[lastBlank(command)+1:])
	if rest, listed := strings.CutPrefix(text[at:min(at+sideBytes, len(text))], "1) \""+name+"\"\n2) "); listed {
		return min(at+sideBytes, len(text)) - len(rest)
	}
	if rest, repeated := strings.CutPrefix(text[at:min(at+sideBytes, len(text))], name+"\n"); repeated {
		return min(at+sideBytes, len(text)) - len(rest)
	}
	return at
}

// shows says whether a command shows a secret, and whether that may be a passphrase.
func (r *reading) shows(start, end int, command string) (named, phrase bool) {
	switch keyword := strings.ToLower(r.text[start:end]); keyword {
	case "cat ", "printenv ", "echo $", "echo \"$":
		word, rest, _ := strings.Cut(command, " ")
		if strings.TrimSpace(rest) != "" || !commandBegins(r.text, start) {
			return false, false
		}
		if keyword != "cat " {
			word = strings.Trim(word, "${}\"")
			kind := nounOf(word)
			return kind != noNoun || qualifiedNoun(word) != noNoun, kind == phraseNoun
		}
		return secretFile(word), true
	case "op item get ":
		return holdsFold(command, "password") || holdsFold(command, "secret") || holdsFold(command, "token"), false
	case "config get ", "config:get ", "output ", "etcdctl get ", "consul kv get ", "> get ":
		last := strings.TrimSpace(command[lastBlank(command)+1:])
		last = last[strings.LastIndexAny(last, ":/")+1:]
		return nounOf(last) != noNoun || qualifiedNoun(last) != noNoun, false
	}
	return true, true
}

// commandBegins says whether a command begins at a place, at a prompt or in another command.
func commandBegins(text string, start int) bool {
	before := strings.TrimRight(text[max(start-16, 0):start], " ")
	if before == "" || strings.HasSuffix(before, "sudo") {
		return true
	}
	return strings.IndexByte("$#>%\n;&|\"'(+", before[len(before)-1]) >= 0
}

// secretFile says whether a path is that of a file with nothing but a secret: /run/secrets/db, .vault-token, pw.txt.
func secretFile(path string) bool {
	path = strings.Trim(path, "\"'")
	if strings.Contains(path, "/run/secrets/") {
		return true
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for _, ending := range []string{".key", ".pass", ".pw", ".token"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	for _, ending := range []string{".txt", ".key", ".secret", ".conf"} {
		name = strings.TrimSuffix(name, ending)
	}
	name = strings.TrimSuffix(strings.TrimLeft(name, "."), "_file")
	kind := nounOf(name)
	return kind != noNoun && !strings.HasSuffix(name, ".pub") || strings.EqualFold(name, "initialAdminPassword")
}

// printedWord returns a line if it is one word that no prompt and no name of a file is.
func printedWord(line string) string {
	if len(line) < 6 || len(line) > valueBytes || mixtureOf(line).blanks > 0 || strings.IndexByte("$#>/.~-{[<", line[0]) >= 0 || strings.HasSuffix(line, ":") || strings.HasSuffix(line, "$") {
		return ""
	}
	return line
}

// valueField returns where the value stands in an object that a command prints which shows a secret.
func valueField(text string, at int) (int, bool) {
	object := text[at:min(at+commandBytes, len(text))]
	if !strings.HasPrefix(strings.TrimLeft(object, " \r\n"), "{") {
		return 0, false
	}
	for _, name := range []string{`"value":`, `"Value":`, `"SecretString":`, `"secretValue":`} {
		if i := strings.Index(object, name); i >= 0 {
			return at + i + len(name), true
		}
	}
	return 0, false
}

// findSecureString finds the value of a parameter of Amazon that is kept encrypted.
func findSecureString(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	object, _, _ := strings.Cut(r.text[end:min(end+2*sideBytes, len(r.text))], "}")
	i := strings.Index(object, `"Value":`)
	if i < 0 {
		return
	}
	if v := valueAt(r.text, end+i+len(`"Value":`)); v.quoted && fits(r.text[v.start:v.end], given) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

// findLoginFile finds the password in a file whose first line is a name and whose second line is a password, which commands
// print or write: OpenVPN's auth-user-pass, a file of credentials.
func findLoginFile(r *reading, rule, start, end int) {
	text := r.text
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	rest, at := commandRest(text, end)
	if at == 0 || strings.TrimRight(text[end-1:end], "nptfh") == "" && !loginRest(rest) {
		return
	}
	second := lineBreak(text, at)
	name := strings.TrimRight(text[at:second], "\r")
	if name == "" || second >= len(text) || !accountName(name) || strings.HasSuffix(name, ":") {
		return
	}
	stop := lineBreak(text, second+1)
	password := strings.TrimRight(text[second+1:stop], "\r")
	third := ""
	if stop+1 < len(text) {
		third = strings.TrimSpace(text[stop+1 : lineBreak(text, stop+1)])
	}
	if third != "" && third != "EOF" && strings.IndexByte("$#>%+", third[0]) < 0 {
		return
	}
	if word := printedWord(password); word != "" && (chosenText(word) || fits(word, given) && mixtureOf(word).upper > 0) {
		r.add(rule, second+1, second+1+len(password))
		r.until[rule] = stop
	}
}

// loginRest says whether nothing but the end of a name of a file, or the beginning of a text of several lines, follows.
func loginRest(rest string) bool {
	rest = strings.TrimSpace(rest)
	if i := strings.Index(rest, "<<"); i >= 0 {
		rest = rest[:i] + strings.Trim(rest[i:], "<-'\"EOF")
	}
	rest = strings.TrimSpace(rest)
	return len(rest) <= len(".conf") || strings.HasPrefix(rest, "> ")
}

// findTransferLogin finds the password behind a name in a script of ftp: "user NAME X".
func findTransferLogin(r *reading, rule, start, end int) {
	text := r.text
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	before := text[max(start-sideBytes, 0):start]
	if !holdsFold(before, "open ") && !holdsFold(before, "ftp") {
		return
	}
	limit := lineBreak(text, end)
	_, at := argumentAt(text, end, limit)
	arg, next := argumentAt(text, at, limit)
	if word := text[arg.start:arg.end]; strings.TrimSpace(text[next:limit]) == "" && (chosenText(word) || fits(word, given) && mixtureOf(word).upper > 0) {
		r.add(rule, arg.start, arg.end)
		r.until[rule] = arg.end
	}
}

// findPairArgument finds the password of a name and a password behind a flag of any command: `tool -u NAME:X`.
func findPairArgument(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	arg, _ := argumentAt(r.text, end, lineEnd(r.text, end, sideBytes))
	word := r.text[arg.start:arg.end]
	name, password, found := strings.Cut(word, ":")
	if !found || !accountName(name) || name == password || mixtureOf(password).letters() < 3 || strings.ContainsAny(password, "/") || !chosenText(password) || technical(password) {
		return
	}
	r.add(rule, arg.end-len(password), arg.end)
	r.until[rule] = arg.end
}

// findDomainLogin finds the password of `DOMAIN/NAME:X@HOST`, as tools for networks of Windows take it.
func findDomainLogin(r *reading, rule, start, end int) {
	text := r.text
	host := text[end:runOf(text, end, &accountBytes, nameLimit)]
	if strings.IndexByte(host, '.') <= 0 || start == 0 || text[start-1] <= ' ' {
		return
	}
	from := start
	for from > 0 && start-from < nameLimit && text[from-1] > ' ' && strings.IndexByte("\"'`", text[from-1]) < 0 {
		from--
	}
	domain, login, found := strings.Cut(text[from:start], "/")
	name, password, both := strings.Cut(login, ":")
	if !found || !both || !accountName(domain) || !accountName(name) || strings.Contains(password, "/") || !chosenText(password) || technical(password) {
		return
	}
	r.add(rule, start-len(password), start)
}

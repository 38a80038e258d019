package secrets

import "strings"

// defaultAccounts are accounts that most systems have, by which people tell a login without another word for it.
const defaultAccounts = "root admin administrator ubnt pi sa postgres operator superuser sysadmin"

// accountWords are these accounts with what stands between them and a password.
func accountWords() (words []string) {
	for account := range strings.FieldsSeq(defaultAccounts) {
		for _, sign := range []string{" / ", "/", ":", " : ", " -> ", " → ", ", "} {
			words = append(words, account+sign)
		}
	}
	return words
}

// findAccount finds the password behind the name of an account that most systems have: "root / X".
func findAccount(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && (nameByte(text[start-1]) || strings.IndexByte("/@:$", text[start-1]) >= 0) || !r.again(rule, start, end+sideBytes) {
		return
	}
	v := valueAt(text, end)
	word := trimRight(text[v.start:v.end], &endsSentence)
	m := mixtureOf(word)
	if m.letters() < 4 || strings.ContainsAny(word, "/@:=") || technical(word) || standIn(word) {
		return
	}
	if chosen := m.upper > 0 && (m.signedName(word) || m.stated(word, false)); !chosen && !m.tellable(word) && !drawnWord(word) {
		return
	}
	if sign := strings.TrimLeft(text[start:end], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"); sign == "/" && m.symbols == 0 || sign == ", " && (m.digits == 0 || m.symbols == 0 && !drawnWord(word)) {
		return
	}
	r.add(rule, v.start, v.start+len(word))
	r.until[rule] = v.end
}

// findMailCommand finds the password that a client of a mail server sends in the clear: "A1 LOGIN NAME X".
func findMailCommand(r *reading, rule, start, end int) {
	text := r.text
	if text[start:end] != " LOGIN " || !r.again(rule, start, end+sideBytes) {
		return
	}
	limit := lineBreak(text, end)
	_, at := argumentAt(text, end, limit)
	arg, next := argumentAt(text, at, limit)
	if word := text[arg.start:arg.end]; strings.TrimSpace(text[next:limit]) == "" && fits(word, given) {
		r.add(rule, arg.start, arg.end)
	}
}

// findListedFlag finds the password behind a flag in a list of arguments, which also has the name of a user or a host.
func findListedFlag(r *reading, rule, start, end int) {
	text := r.text
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	before := text[max(start-sideBytes, 0):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if !listedUsers.any(before) {
		return
	}
	if v := valueAt(text, end-1); v.quoted && chosenText(text[v.start:v.end]) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

var listedUsers = newWordSet([]string{"'-u'", `"-u"`, "'-h'", `"-h"`, "'--user'", `"--user"`, "'--username'", `"--username"`, "'-l'", `"-l"`})

// findPositionalLogin finds the last text in quotes of a procedure of SQL Server that takes a login.
func findPositionalLogin(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	last := value{}
	for at, limit := end, lineEnd(r.text, end, 2*sideBytes); at < limit; {
		i := strings.IndexByte(r.text[at:limit], '\'')
		if i < 0 {
			break
		}
		v := valueAt(r.text, at+i)
		if !v.quoted {
			break
		}
		last, at = v, v.end+1
	}
	if word := r.text[last.start:last.end]; last.quoted && fits(word, given) && !strings.EqualFold(word, "false") {
		r.add(rule, last.start, last.end)
	}
}

// findConnected finds the password of a login to DB2, "user NAME using X", and to Teradata, "HOST/NAME,X".
func findConnected(r *reading, rule, start, end int) {
	text := r.text
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	limit := lineBreak(text, end)
	if text[start] == '.' {
		arg, _ := argumentAt(text, end, limit)
		if name, password, found := strings.Cut(strings.TrimRight(text[arg.start:arg.end], ";"), ","); found && strings.Contains(name, "/") && fits(password, given) {
			at := arg.start + len(name) + 1
			r.add(rule, at, at+len(password))
		}
		return
	}
	before := text[max(start-sideBytes, 0):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if !holdsFold(before, " user ") || !holdsFold(before, "connect") {
		return
	}
	if arg, _ := argumentAt(text, end, limit); fits(text[arg.start:arg.end], given) {
		r.add(rule, arg.start, arg.end)
	}
}

// findStreamKey finds the key of a stream in the address that it is sent to: its last part.
func findStreamKey(r *reading, rule, _, end int) {
	stop := runOf(r.text, end, &pathBytes, hookBytes)
	r.until[rule] = max(end, stop)
	address := r.text[end:stop]
	i := strings.LastIndexByte(address, '/')
	if i < 0 {
		return
	}
	key := address[i+1:]
	if m := mixtureOf(key); len(key) >= 12 && m.digits > 1 && m.letters() > 3 && (randomLike(key) || m.joints > 2) {
		r.add(rule, end+i+1, stop)
	}
}

// findTypedLine finds what a keyword of a test types into a field for passwords: the last word of the line.
func findTypedLine(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+sideBytes) {
		return
	}
	limit := end + len(strings.TrimRight(r.text[end:lineBreak(r.text, end)], " \t\r"))
	at := end + lastBlank(r.text[end:limit]) + 1
	if word := r.text[at:limit]; at > end && fits(word, given) && chosenText(word) {
		r.add(rule, at, limit)
	}
}

// findMessagingKey finds a key of a server of Firebase by its form.
func findMessagingKey(r *reading, rule, start, end int) {
	from, stop := runBefore(r.text, start, &url64Bytes, 16), runOf(r.text, end, &url64Bytes, 200)
	if start-from >= 7 && stop-end >= 100 {
		r.add(rule, from, stop)
		r.until[rule] = stop
	}
}

// findDerivedHash finds the hash of an administrator of CouchDB.
func findDerivedHash(r *reading, rule, start, end int) {
	stop := runOf(r.text, end, &hexBytes, 129)
	if stop-end < 32 || stop >= len(r.text) || r.text[stop] != ',' {
		return
	}
	stop = runOf(r.text, stop, &saltBytes, 128)
	r.add(rule, start, stop)
	r.until[rule] = stop
}

var saltBytes = setOf("0123456789abcdef,")

// findMonitorPassword finds the passwords of a user of SNMP: `createUser NAME SHA "X" AES "Y"`.
func findMonitorPassword(r *reading, rule, start, end int) {
	before := r.text[max(start-sideBytes, 0):start]
	if !r.again(rule, start, end+sideBytes) || !holdsFold(before[strings.LastIndexByte(before, '\n')+1:], "createuser") {
		return
	}
	if v := valueAt(r.text, end-1); v.quoted && fits(r.text[v.start:v.end], given) {
		r.add(rule, v.start, v.end)
	}
}

// findNumbered finds the password behind the number of a user: `ipmitool user set password 3 X`.
func findNumbered(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+sideBytes) {
		return
	}
	limit := lineEnd(r.text, end, sideBytes)
	number, at := argumentAt(r.text, end, limit)
	if arg, _ := argumentAt(r.text, at, limit); runOf(r.text, number.start, &digitBytes, 4) == number.end && fits(r.text[arg.start:arg.end], given) {
		r.add(rule, arg.start, arg.end)
	}
}

// typedUser says whether a client of a server for mail or files has told its name before: "USER bob", "PASS X".
func (a *assignment) typedUser() bool {
	before := a.text[max(a.from-2*sideBytes, 0):a.from]
	i := strings.LastIndex(before, "USER ")
	return strings.HasSuffix(before, "quote ") || i >= 0 && (i == 0 || before[i-1] == '\n' || before[i-1] == ' ') && strings.IndexByte(before[i:], '\n') > 0
}

// loginBefore says whether a name of a user stands before a password, as in netrc.
func loginBefore(text string, at int) bool {
	before := text[max(at-96, 0):at]
	return strings.Contains(before, "login ") && (strings.Contains(before, "machine ") || strings.Contains(before, "default "))
}

// accountBefore says whether a word for an account and its name stand directly before a password: "user bob pw X".
func accountBefore(text string, at int) bool {
	before := strings.TrimRight(text[max(at-sideBytes, 0):at], " ,")
	i := strings.LastIndexByte(before, ' ')
	if i < 0 || !accountName(before[i+1:]) {
		return false
	}
	word, _ := wordBefore(before, len(strings.TrimRight(before[:i], ": ")))
	return accountNames[word]
}

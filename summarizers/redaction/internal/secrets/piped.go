package secrets

import "strings"

// findPiped finds passwords that are printed into commands: `echo X | sudo -S`.
func findPiped(r *reading, rule, start, end int) {
	text := r.text
	from := max(start-commandBytes, r.until[rule])
	from += strings.LastIndexByte(text[from:start], '\n') + 1
	r.until[rule] = end
	if line := text[from:start]; from > 1 && (strings.HasPrefix(line, "' ") || strings.HasPrefix(line, `" `)) && printsFormat(text[max(from-printerBytes-sideBytes, 0):from]) {
		// The format ended in a line break.
		before := text[max(from-printerBytes-sideBytes, 0) : from-1]
		i := strings.LastIndex(before, "printf ")
		if format := before[i+len("printf "):]; strings.IndexByte(format, '%') < 0 {
			if password := strings.TrimLeft(format, "'\""); fits(password, given) {
				r.add(rule, from-1-len(password), from-1)
			}
			return
		}
		if arg := printedArgument(text, from+2); chosenWord(text[arg.start:arg.end]) {
			r.add(rule, arg.start, arg.end)
		}
		return
	}
	i, printer := strings.LastIndex(text[from:start], "echo "), "echo "
	if i < 0 {
		if i, printer = strings.LastIndex(text[from:start], "printf "), "printf "; i < 0 {
			return
		}
	}
	arg := printedArgument(text, from+i+len(printer))
	if next := arg.end + 1; strings.IndexByte(text[arg.start:arg.end], '%') >= 0 && next < start && printer == "printf " {
		// The format comes first.
		arg = printedArgument(text, next)
	}
	if i := strings.IndexByte(text[arg.start:arg.end], ':'); i >= 0 && strings.EqualFold(text[start:end], "chpasswd") {
		arg.start += i + 1
	}
	if !arg.quoted && strings.IndexByte(text[max(from-1, 0):start], '(') >= 0 {
		arg.end = arg.start + len(strings.TrimRight(text[arg.start:arg.end], ")"))
	}
	if password := text[arg.start:arg.end]; assignable(password, true) || secretArgument(password) || arg.quoted && fits(password, given) {
		r.add(rule, arg.start, arg.end)
	}
}

// printsFormat says whether a text ends in a format that printf prints, up to its line break.
func printsFormat(text string) bool {
	i := strings.LastIndex(text, "printf ")
	return i >= 0 && strings.IndexByte(text[i:len(text)-1], '\n') < 0
}

// printedArgument reads the text that echo prints.
func printedArgument(text string, at int) value {
	arg, next := argumentAt(text, at, lineEnd(text, at, 256))
	if strings.HasPrefix(text[arg.start:arg.end], "-") {
		arg, _ = argumentAt(text, next, lineEnd(text, next, 256))
	}
	return arg
}

// findPrinted finds keys that are printed into files whose names say so, `echo X > token`, and passwords that a command
// prints for another: `--password-command 'echo X'`.
func findPrinted(r *reading, rule, start, end int) {
	if printsPassword(r.text[max(start-printerBytes, 0):start]) {
		v := bareValue(r.text, end)
		if r.text[v.start:v.end] == "-n" {
			v = bareValue(r.text, v.end+1)
		}
		if fits(r.text[v.start:v.end], given) {
			r.add(rule, v.start, v.end)
			r.until[rule] = v.end
			return
		}
	}
	line := r.text[end:lineEnd(r.text, end, 256)]
	if !strings.Contains(line, "> ") || !secretFiles.any(line) {
		return
	}
	arg := printedArgument(r.text, end)
	_, file, _ := strings.Cut(line, "> ")
	if word := r.text[arg.start:arg.end]; randomLike(word) || hexLike(word) && len(word) >= 32 || chosenText(word) && (holdsFold(file, "pass") || secretFile(strings.TrimSpace(before(file+" ", " ")))) {
		r.add(rule, arg.start, arg.end)
	}
	r.until[rule] = max(arg.end, start)
}

// printerBytes is how much is read before a command for the setting that it is the value of.
const printerBytes = 32

// printsPassword says whether a text ends in a setting whose value is a command that prints a password.
func printsPassword(before string) bool {
	setting := strings.ToLower(strings.TrimRight(before, " ='\":"))
	for _, name := range []string{"password-command", "password_command", "passcommand", "passphrase-command", "password_cmd", "password-cmd", "passwordcommand"} {
		if len(setting) < len(before) && strings.HasSuffix(setting, name) {
			return true
		}
	}
	return false
}

var secretFiles = newWordSet([]string{"token", "pass", "secret", "key"})

// findNamed finds the password behind a user's name in commands: `net use ... /user:NAME X`, `rabbitmqctl add_user NAME X`.
func findNamed(r *reading, rule, _, end int) {
	limit := lineEnd(r.text, end, 256)
	_, at := argumentAt(r.text, end, limit)
	arg, _ := argumentAt(r.text, at, limit)
	r.until[rule] = max(end, arg.end)
	if word := r.text[arg.start:arg.end]; !strings.HasPrefix(word, "-") && fits(word, given) {
		r.add(rule, arg.start, arg.end)
	}
}

// findIdentified finds the password of a user in SQL: `IDENTIFIED BY 'X'`.
func findIdentified(r *reading, rule, start, end int) {
	arg, _ := argumentAt(r.text, end, lineEnd(r.text, end, 256))
	r.until[rule] = max(end, arg.end)
	if password := r.text[arg.start:arg.end]; assignable(password, true) || arg.quoted && (spokenPhrase(password) || len(password) >= 4 && mixtureOf(password).blanks == 0 && !standIn(password)) ||
		!arg.quoted && capitals(r.text[start:start+len("identified")]) && fits(password, given) {
		r.add(rule, arg.start, arg.end)
	}
}

// findNameAndPassword finds the password of NAME/PASSWORD@ in addresses of Oracle, and of pass:PASSWORD.
func findNameAndPassword(r *reading, rule, start, end int) {
	text := r.text
	if strings.EqualFold(text[start:end], "pass:") {
		if start > 1 && (text[start-1] == '\'' || text[start-1] == '"') && text[start-2] == ' ' {
			// Both in quotes.
			line := text[end:lineBreak(text, end)]
			if i := strings.IndexByte(line, text[start-1]); i > 0 && fits(line[:i], given) {
				r.add(rule, end, end+i)
				r.until[rule] = end + i
			}
			return
		}
		if start == 0 || text[start-1] != ' ' {
			return
		}
		if v := bareValue(text, end); secretArgument(text[v.start:v.end]) {
			r.add(rule, v.start, v.end)
		}
		return
	}
	limit := lineEnd(text, end, 128)
	slash := strings.IndexByte(text[end:limit], '/')
	at := strings.IndexByte(text[end:limit], '@')
	if slash < 0 || at < slash {
		return
	}
	if password := text[end+slash+1 : end+at]; !strings.ContainsAny(password, " /") && fits(password, given) {
		r.add(rule, end+slash+1, end+at)
	}
}

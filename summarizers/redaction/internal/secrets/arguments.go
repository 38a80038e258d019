package secrets

import "strings"

// findPositionalToken finds tokens that have no flag, behind commands that take them: `cargo login X`.
func findPositionalToken(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && wordByte(text[start-1]) || !r.again(rule, start, end+2*commandBytes) {
		return
	}
	limit := lineEnd(text, end, commandBytes)
	for at, n := end, 0; at < limit && n < 4; n++ {
		arg, next := argumentAt(text, at, limit)
		if next == at {
			return
		}
		if word := text[arg.start:arg.end]; len(word) >= 16 && nameByte(word[0]) && (randomLike(word) || hexLike(word) && len(word) >= 32) && !strings.ContainsAny(word, ".@") {
			r.add(rule, arg.start, arg.end)
			r.until[rule] = arg.end
			return
		}
		at = next
	}
}

// findThird finds the password behind two words: `config http-basic.HOST NAME X`, `AUTH NAME X`.
func findThird(r *reading, rule, start, end int) {
	text := r.text
	limit := lineEnd(text, end, 256)
	at := end
	for at < limit && text[at] > ' ' {
		at++
	}
	second := value{}
	if text[end-1] != '/' {
		second, at = argumentAt(text, at, limit)
	}
	arg, _ := argumentAt(text, at, limit)
	typed := text[start] == '>' && capitals(text[start+2:end]) && arg.start == arg.end
	if typed {
		// Only the password.
		arg = second
	}
	r.until[rule] = max(end, arg.end)
	if word := text[arg.start:arg.end]; !strings.HasPrefix(word, "-") && (chosenWord(word) || typed && fits(word, given)) {
		r.add(rule, arg.start, arg.end)
	}
}

// findCommaLogin finds the password of `-u NAME,X`, as lftp takes it.
func findCommaLogin(r *reading, rule, _, end int) {
	limit := lineEnd(r.text, end, 256)
	i := strings.Index(r.text[end:limit], "-u ")
	r.until[rule] = end
	if i < 0 {
		return
	}
	arg, _ := argumentAt(r.text, end+i+len("-u "), limit)
	if name, password, found := strings.Cut(r.text[arg.start:arg.end], ","); found && name != "" && fits(password, given) {
		r.add(rule, arg.end-len(password), arg.end)
	}
}

// findPrintedPassword finds what a command prints whose name says that it prints a password or a token.
func findPrintedPassword(r *reading, rule, _, end int) {
	_, at := commandRest(r.text, end)
	if at == 0 {
		return
	}
	r.until[rule] = at
	for at < len(r.text) && r.text[at] == '\n' {
		at++
	}
	v := bareValue(r.text, at)
	if word := r.text[v.start:v.end]; (v.end == len(r.text) || r.text[v.end] <= ' ') && (tellable(word) || randomLike(word) || lineBreak(r.text, at) == v.end && chosenText(printedWord(word))) {
		r.add(rule, v.start, v.end)
	}
}

// findNewValue finds a password in a sentence whose earlier part says that it is about passwords.
func findNewValue(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	around := r.text[max(start-sideBytes, 0):min(end+2*sideBytes, len(r.text))]
	if !holdsFold(around, "passw") {
		return
	}
	v := valueAt(r.text, end)
	typed := holdsFold(r.text[start:end], "typed") || holdsFold(r.text[start:end], "entered")
	if word := r.text[v.start:v.end]; tellable(word) || stated(word, typed || lastWordAt(r.text, v.end)) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

// findTyped finds what a test types into the field of a password.
func findTyped(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	before := r.text[max(start-sideBytes, 0):start]
	if !fieldWords.any(before[strings.LastIndexByte(before, '\n')+1:]) {
		return
	}
	if v := valueAt(r.text, end); v.quoted && chosenText(r.text[v.start:v.end]) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

// fieldWords are in the names of fields for passwords.
var fieldWords = newWordSet([]string{"passw", "pwd", "passphrase", "kennwort", "passcode"})

// chosenText says whether a text where a password may stand is one that no sentence and no command has, also without
// digits: two words with a sign between them.
func chosenText(text string) bool {
	return chosenWord(text) || twoWords(text) || namedTwice(text) || strings.IndexByte(text, '_') > 0 && namedTwice(strings.Replace(text, "_", "-", 1))
}

// findWalletKey finds the private key that a wallet is made from: 64 hexadecimal digits in quotes.
func findWalletKey(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	v := valueAt(r.text, end)
	if word := strings.TrimPrefix(r.text[v.start:v.end], "0x"); v.quoted && hexLike(word) && len(word) >= 64 {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

// findHashedArgument finds the password of which a command makes a hash: `openssl passwd -1 X`.
func findHashedArgument(r *reading, rule, _, end int) {
	limit := lineEnd(r.text, end, 256)
	r.until[rule] = end
	for at := end; at < limit; {
		arg, next := argumentAt(r.text, at, limit)
		if next == at {
			return
		}
		if word := strings.TrimRight(r.text[arg.start:arg.end], `)"`); !strings.HasPrefix(word, "-") {
			if fits(word, given) {
				r.add(rule, arg.start, arg.start+len(word))
			}
			return
		}
		at = next
	}
}

// findAttached finds the key of an encrypted database in SQL: `ATTACH DATABASE 'x' AS x KEY 'X'`.
func findAttached(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) || !holdsFold(r.text[max(start-sideBytes, 0):start], "attach ") {
		return
	}
	if v := valueAt(r.text, end-1); v.quoted && fits(r.text[v.start:v.end], given) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

// findFirstArgument finds the key that is the first argument of what signs or encrypts with it.
func findFirstArgument(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	if v := valueAt(r.text, end); v.quoted && v.end-v.start >= 8 && chosenWord(r.text[v.start:v.end]) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

// findDecodedKey finds the text that a program decodes to a key: `key = bytes.fromhex("X")`.
func findDecodedKey(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	v := valueAt(r.text, end)
	text := r.text[v.start:v.end]
	if drawn := hexLike(text) && len(text) >= 32 || len(text) >= 40 && randomLike(text); !v.quoted || !drawn {
		return
	}
	before := r.text[max(start-sideBytes, 0):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if holdsFold(before, "aes") || holdsFold(before, "hmac") || holdsFold(before, "key") || holdsFold(before, "secret") || holdsFold(before, "seed") {
		r.add(rule, v.start, v.end)
	}
}

// findEncodedLogin finds the password of a name and a password that a program encodes: `btoa("NAME:X")`.
func findEncodedLogin(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	if v := valueAt(r.text, end); v.quoted && accountName(before(r.text[v.start:v.end], ":")) {
		r.userAndPassword(rule, r.text[v.start:v.end], v)
	}
}

// before returns a text up to a sign, or "" without it.
func before(text, sign string) string {
	first, _, found := strings.Cut(text, sign)
	if !found {
		return ""
	}
	return first
}

// findMailboxPassword finds the password behind the address of a mailbox, as lists of accounts have it: name@host:X.
func findMailboxPassword(r *reading, rule, start, end int) {
	text := r.text
	stop := runOf(text, end, &accountBytes, nameLimit)
	if start == 0 || !wordByte(text[start-1]) || stop-end < 4 || strings.IndexByte(text[end:stop], '.') < 0 {
		return
	}
	at := stop
	for _, sign := range []string{":", " : "} {
		if strings.HasPrefix(text[stop:], sign) {
			at = stop + len(sign)
		}
	}
	from := runBefore(text, start, &accountBytes, nameLimit)
	if at == stop || from >= 2 && text[from-1] == '/' || from >= 1 && text[from-1] == ':' {
		return
	}
	v := bareValue(text, at)
	if word := text[v.start:v.end]; len(word) >= 7 && chosenWord(word) && (tellable(word) || drawnWord(word)) && !strings.ContainsAny(word, "/.:") {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

// findListedLogins finds the passwords of name:X in the lines below the name of a list.
func findListedLogins(r *reading, rule, _, end int) {
	text := r.text
	at := lineBreak(text, end) + 1
	for n := 0; n < childrenRead && at < len(text); n++ {
		stop := lineBreak(text, at)
		line := text[at:stop]
		bare := strings.TrimLeft(line, " \t-")
		if len(bare) == len(line) {
			break
		}
		if i := strings.IndexByte(bare, ':'); i > 0 && accountName(bare[:i]) {
			if v := bareValue(text, stop-len(bare)+i+1); chosenWord(text[v.start:v.end]) {
				r.add(rule, v.start, v.end)
			}
		}
		at = stop + 1
	}
	r.until[rule] = max(end, min(at, len(text)))
}

// findSettingArgument finds passwords that commands of Windows give to a setting or a task: `/v DefaultPassword /d X`.
func findSettingArgument(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	text := r.text
	before := text[max(start-sideBytes, 0):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if text[end-2] != 'p' && !holdsFold(before, "password ") || text[end-2] == 'p' && !holdsFold(before, " /ru ") {
		return
	}
	arg, _ := argumentAt(text, end, lineEnd(text, end, 256))
	if fits(text[arg.start:arg.end], given) {
		r.add(rule, arg.start, arg.end)
	}
}

package secrets

import "strings"

// findKeySet finds the private parts of a key in JSON (JWK).
func findKeySet(r *reading, rule, start, end int) {
	text := r.text
	from, to := max(start-keySetBytes, r.until[rule]), min(end+2*keySetBytes, len(text))
	if i := strings.LastIndexByte(text[from:start], '{'); i >= 0 {
		from += i
	}
	if i := strings.IndexByte(text[end:to], '}'); i >= 0 {
		to = end + i
	}
	r.until[rule] = to
	for at := from; at < to; {
		i := strings.IndexByte(text[at:to], '"')
		if i < 0 {
			return
		}
		name := valueAt(text[:to], at+i)
		if !name.quoted {
			return
		}
		at = name.end + 1
		if !privateParts[text[name.start:name.end]] {
			continue
		}
		for at < to && strings.IndexByte(" \t\r\n:", text[at]) >= 0 {
			at++
		}
		if v := valueAt(text[:to], at); v.quoted && v.end-v.start >= 16 && runOf(text, v.start, &url64Bytes, valueBytes) == v.end {
			r.add(rule, v.start, v.end)
			at = v.end + 1
		}
	}
}

// keySetBytes is how much of a key in JSON is read.
const keySetBytes = 4 << 10

var privateParts = wordMap("d p q dp dq qi k")

// findDrawnResult finds the password that Terraform has drawn, in its state.
func findDrawnResult(r *reading, rule, _, end int) {
	limit := min(end+2<<10, len(r.text))
	r.until[rule] = limit
	for at := end; at < limit; {
		i := strings.Index(r.text[at:limit], "result")
		if i < 0 {
			return
		}
		at += i + len("result")
		from := at
		if from < limit && r.text[from] == '"' {
			from++
		}
		for from < limit && strings.IndexByte(" \t:=", r.text[from]) >= 0 {
			from++
		}
		if v := valueAt(r.text, from); v.quoted && v.end-v.start >= 8 {
			r.add(rule, v.start, v.end)
		}
	}
}

// findCodes finds the codes for recovery behind words for them.
func findCodes(r *reading, rule, _, end int) {
	text := r.text
	limit := min(end+codesBytes, len(text))
	r.until[rule] = end
	misses := 0
	for at := end; at < limit && misses < 8; {
		if !codeBytesSet.has(text[at]) {
			if text[at] >= 0x80 || text[at] == '\n' {
				misses++
			}
			at++
			continue
		}
		stop := runOf(text, at, &codeBytesSet, 80)
		if recoveryCode(text[at:stop]) {
			r.add(rule, at, stop)
			misses = 0
		} else {
			misses++
		}
		at = stop
		r.until[rule] = at
	}
}

const codesBytes = 1 << 10

var codeBytesSet = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-")

// recoveryCode says whether a word may be a code for recovery: digits, or groups of letters and digits.
func recoveryCode(text string) bool {
	text = strings.Trim(text, "-")
	m := mixtureOf(text)
	if len(text) < 6 || m.digits == 0 || m.joints > 7 || ticketLike(text, m) {
		return false
	}
	if m.letters() == 0 {
		return m.joints == 0 && len(text) <= 12 || m.joints > 0 && !dateLike(text)
	}
	if i := strings.IndexByte(text, '-'); m.digits > 0 && m.upper == 0 && m.joints > 0 && len(text) == (m.joints+1)*i+m.joints && text[len(text)-i-1] == '-' {
		// Groups of one length.
		return i >= 4 && !technical(text)
	}
	return m.digits >= 2 && !technical(text) && (m.joints > 0 || m.digits != m.endDigits || m.digits > 3)
}

// ticketLike says whether a word is the name of a ticket, such as ABC-4711.
func ticketLike(text string, m mixture) bool {
	return m.joints == 1 && m.lower == 0 && m.upper == strings.IndexByte(text, '-') && m.digits == m.endDigits
}

// dateLike says whether digits are those of a day.
func dateLike(text string) bool {
	return len(text) == len("2006-01-02") && text[4] == '-' && text[7] == '-'
}

// findHere finds passwords that are given to a command as its input: `sudo -S id <<< X`.
func findHere(r *reading, rule, start, end int) {
	text := r.text
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	before := text[max(start-sideBytes, 0):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if !readsPasswords.any(before) && !readsInto(before) {
		return
	}
	arg, _ := argumentAt(text, end, lineEnd(text, end, 256))
	word := text[arg.start:arg.end]
	if i := strings.IndexByte(word, ':'); i >= 0 && strings.Contains(before, "chpasswd") {
		arg.start += i + 1
		word = word[i+1:]
	}
	if fits(word, given) {
		r.add(rule, arg.start, arg.end)
	}
}

// readsInto says whether a command reads its input into a variable for a password: `read -r PW`.
func readsInto(before string) bool {
	before = strings.TrimRight(before, " ")
	return strings.Contains(before, "read ") && nounOf(before[lastBlank(before)+1:]) == passwordNoun
}

var readsPasswords = newWordSet([]string{"sudo -s", "chpasswd", "password-stdin", "with-token", "passwd", "pass insert", "login", "su ", "private-key", "preshared-key", "cryptsetup", "luks", "ssh-keygen", "passphrase", "kinit", "passin stdin", "passout stdin", "pass stdin", "kubeseal"})

// findSource finds the password of a data source of Go: name:password@tcp(host).
func findSource(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+sideBytes) {
		return
	}
	from := start
	for from > 0 && start-from < 128 && r.text[from-1] > ' ' && strings.IndexByte("\"'`=(", r.text[from-1]) < 0 {
		from--
	}
	if _, password, found := strings.Cut(r.text[from:start], ":"); found && fits(password, given) {
		r.add(rule, start-len(password), start)
	}
}

// findSlashed finds the password of `/u:NAME /p:X`, as clients for remote desktops take it.
func findSlashed(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	before := r.text[max(start-sideBytes, 0):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after := r.text[end:lineEnd(r.text, end, sideBytes)]
	if !strings.Contains(before, "/u:") && !strings.Contains(after, "/u:") && !strings.Contains(before, "/user:") && !strings.Contains(before, "-u:") {
		return
	}
	arg, _ := argumentAt(r.text, end, lineEnd(r.text, end, 256))
	if fits(r.text[arg.start:arg.end], given) {
		r.add(rule, arg.start, arg.end)
	}
}

// findPositional finds passwords that have no flag, only their place among the arguments.
func findPositional(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && wordByte(text[start-1]) || !r.again(rule, start, end+2*commandBytes) {
		return
	}
	limit := lineEnd(text, end, commandBytes)
	if next := lineEnd(text, min(limit+1, len(text)), commandBytes); strings.Contains(text[limit:next], "/user:") {
		// A share's name with an escape.
		limit = next
	}
	var words []value
	flags := ""
	for at := end; at < limit && len(words) < 8; {
		if text[at] == '\n' {
			at++
			continue
		}
		arg, next := argumentAt(text, at, limit)
		if i := strings.IndexByte(text[arg.start:arg.end], '\n'); i >= 0 {
			arg.end, next = arg.start+i, arg.start+i
		}
		if next == at {
			break
		}
		switch word := text[arg.start:arg.end]; {
		case strings.HasPrefix(word, "-"):
			flags += word
		default:
			words = append(words, arg)
		}
		at = next
	}
	n := -1
	switch strings.ToLower(text[start:end]) {
	case "htpasswd ":
		if strings.IndexByte(flags, 'b') >= 0 {
			n = len(words) - 1
		}
	case "mc alias set ":
		// NAME URL USER PASSWORD
		n = 3
	case "net use ", "net user ":
		for n = len(words) - 1; n > 0 && strings.HasPrefix(text[words[n].start:words[n].end], "/"); {
			n--
		}
	}
	if n < 1 || n >= len(words) {
		return
	}
	if word := text[words[n].start:words[n].end]; !strings.HasPrefix(word, "/") && !strings.HasPrefix(word, `\`) && fits(word, given) {
		r.add(rule, words[n].start, words[n].end)
	}
}

// findQuotedArgument finds the text in quotes that is the first argument of what makes a secret of it.
func findQuotedArgument(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	at := end
	if option, found := strings.CutPrefix(r.text[end:min(end+sideBytes, len(r.text))], "-"); found {
		// Options may stand before it.
		if i := strings.IndexAny(option, "\"'\n"); i > 0 && option[i] != '\n' {
			at = end + 1 + i
		}
	}
	for n := 0; n < 24 && at < len(r.text) && strings.IndexByte(" (-STRINGString", r.text[at]) >= 0; n++ {
		at++
	}
	v := valueAt(r.text, at)
	if v.quoted {
		// The place and the account may stand before it.
		if second := r.argumentEnd(v.end + 1); second < len(r.text) {
			if third := r.argumentEnd(second); third < len(r.text) {
				v = valueAt(r.text, behindComma(r.text, second))
			}
		}
	}
	if v.quoted && fits(r.text[v.start:v.end], given) {
		r.add(rule, v.start, v.end)
		r.until[rule] = v.end
	}
}

package secrets

import "strings"

// findNetworkCode finds the password of a network in the text of its code for cameras: `WIFI:T:WPA;S:NAME;P:X;;`.
func findNetworkCode(r *reading, rule, start, end int) {
	limit := lineBreak(r.text, end)
	r.until[rule] = max(end, start)
	fields, _, found := strings.Cut(r.text[end:limit], ";;")
	if !found {
		return
	}
	at := end
	for field := range strings.SplitSeq(fields, ";") {
		if password, is := strings.CutPrefix(field, "P:"); is && fits(password, given) {
			r.add(rule, at+len("P:"), at+len(field))
			r.until[rule] = at + len(field)
			return
		}
		at += len(field) + len(";")
	}
}

// findServerKey finds the key that a router shares with a server or a neighbour: `radius-server host ADDRESS key X`.
func findServerKey(r *reading, rule, _, end int) {
	limit := lineEnd(r.text, end, 256)
	r.until[rule] = end
	line := r.text[end:limit]
	for _, sign := range []string{" key ", " md5 "} {
		i := strings.Index(line, sign)
		if i < 0 {
			continue
		}
		at := end + i + len(sign)
		arg, next := argumentAt(r.text, at, limit)
		if word := r.text[arg.start:arg.end]; len(word) == 1 && word[0] >= '0' && word[0] <= '9' {
			// How the key is encrypted.
			arg, _ = argumentAt(r.text, next, limit)
		}
		if fits(r.text[arg.start:arg.end], given) {
			r.add(rule, arg.start, arg.end)
			r.until[rule] = arg.end
		}
		return
	}
}

// findListedUser finds the password of a user in a list of rules for Redis: `user NAME on >X ~* +@all`.
func findListedUser(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	limit := lineEnd(r.text, end, sideBytes)
	arg, next := argumentAt(r.text, end, limit)
	if word := r.text[arg.start:arg.end]; fits(word, given) && strings.ContainsAny(r.text[next:limit], "~@+") {
		r.add(rule, arg.start, arg.end)
		r.until[rule] = arg.end
	}
}

// findMailLogin finds the name and the password that a client of a mail server sends, in base64.
func findMailLogin(r *reading, rule, _, end int) {
	stop := runOf(r.text, end, &base64Bytes, valueBytes)
	r.until[rule] = max(end, stop)
	if text := r.text[end:stop]; len(text) >= 8 && printable(text) {
		r.add(rule, end, stop)
	}
}

package secrets

import "strings"

// findAuthorization finds the credentials of an Authorization header, in HTTP or in code.
func findAuthorization(r *reading, rule, start, end int) {
	text := r.text
	at := end
	for n := 0; n < 8 && at < len(text) && strings.IndexByte("\"'`] \t", text[at]) >= 0; n++ {
		at++
	}
	if at >= len(text) {
		return
	}
	if strings.IndexByte(":=,", text[at]) >= 0 {
		at++
	} else if text[at-1] != '"' || behindScheme(text, at) == at {
		return
	}
	for n := 0; n < 6 && at < len(text) && strings.IndexByte(" \t\"'`", text[at]) >= 0; n++ {
		at++
	}
	if name := signatureOf(text[at:]); name != "" {
		line := text[at:lineBreak(text, at)]
		if i := strings.Index(line, name); i >= 0 {
			d := valueAt(text, at+i+len(name))
			r.add(rule, d.start, d.end)
		}
		return
	}
	v := schemeValue(text, at)
	if end := v.end; v.start == at && end+1 < len(text) && text[end] == ' ' && letteredScheme(text[at:end]) {
		// A scheme that only its makers have.
		v = schemeValue(text, end+1)
		if token := text[v.start:v.end]; !randomLike(token) && (!uuidLike(token) || len(token) != 36) {
			return
		}
	}
	token := text[v.start:v.end]
	r.until[rule] = v.end
	if len(token) < 8 || standIn(token) || letteredToken(token) || v.start == at && !randomLike(token) && !uuidLike(token) {
		return
	}
	r.add(rule, v.start, v.end)
}

// signatureOf returns before what the signature stands in credentials that do not hold the password itself.
func signatureOf(text string) string {
	switch {
	case len(text) > 7 && strings.EqualFold(text[:7], "digest "):
		return "response="
	case strings.HasPrefix(text, "AWS4-HMAC-SHA256"):
		return "Signature="
	}
	return ""
}

// letteredScheme says whether a word may be the name of a scheme.
func letteredScheme(word string) bool {
	m := mixtureOf(word)
	return len(word) <= 16 && m.letters() >= 3 && m.letters()+m.joints == len(word)
}

// schemeValue returns the credentials behind the name of a scheme, or at once.
func schemeValue(text string, at int) value {
	at = behindScheme(text, at)
	end := runOf(text, at, &headerBytes, 4*valueBytes)
	return value{at, at + len(strings.TrimRight(text[at:end], ".")), false}
}

// behindScheme returns where credentials begin behind the name of a scheme, or the same place without one.
func behindScheme(text string, at int) int {
	for _, scheme := range []string{"bearer", "basic", "token", "apikey", "bot", "digest"} {
		if at+len(scheme) < len(text) && strings.EqualFold(text[at:at+len(scheme)], scheme) && (text[at+len(scheme)] == ' ' || text[at+len(scheme)] == '\t') {
			at += len(scheme)
			for n := 0; n < 4 && at < len(text) && (text[at] == ' ' || text[at] == '\t'); n++ {
				at++
			}
			break
		}
	}
	return at
}

var headerBytes = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~+/=-:")

// letteredToken says whether a token consists of words.
func letteredToken(text string) bool {
	m := mixtureOf(text)
	return m.digits == 0 && m.symbols == 0 && (m.upper <= 1 || m.lower == 0 || len(text) < 16) || strings.HasSuffix(text, "...") || m.wordsAndDigits() && m.upper <= 1
}

// findBearer finds a bearer token without its header.
func findBearer(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && wordByte(text[start-1]) || end >= len(text) || text[end] != ' ' && text[end] != '\t' && text[end] != ',' {
		return
	}
	at := end
	if text[at] == ',' {
		at++
	}
	for n := 0; n < 4 && at < len(text) && (text[at] == ' ' || text[at] == '\t'); n++ {
		at++
	}
	stop := runOf(text, at, &headerBytes, 4*valueBytes)
	token := strings.TrimRight(text[at:stop], ".:")
	if len(token) >= 16 && !letteredToken(token) && !standIn(token) && entropy(token) > 3.2 {
		r.add(rule, at, at+len(token))
		r.until[rule] = at + len(token)
	}
}

// cookieBytes is how much of the cookies of a line is read.
const cookieBytes = 4 << 10

// findCookie finds the values of cookies that look as if a machine had drawn them.
func findCookie(r *reading, rule, _, end int) {
	text := r.text
	limit := min(end+cookieBytes, len(text))
	if i := strings.IndexByte(text[end:limit], '\n'); i >= 0 {
		limit = end + i
	}
	for at := end; at < limit; {
		i := strings.IndexAny(text[at:limit], "=:")
		if i < 0 {
			break
		}
		at += i + 1
		for n := 0; n < 3 && at < limit && strings.IndexByte(" \t\"'", text[at]) >= 0; n++ {
			at++
		}
		stop := runOf(text[:limit], at, &cookieValueBytes, cookieBytes)
		if token := text[at:stop]; len(token) >= 16 && randomLike(token) || len(token) >= 24 && mixtureOf(token).digits > 3 && !standIn(token) && !uuidLike(token) && !dotted(token) && entropy(token) > 3 {
			r.add(rule, at, stop)
		}
		at = max(stop, at)
	}
	r.until[rule] = limit
}

var cookieValueBytes = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~+/-%!*|")

// findCookieJar finds the values in a file of cookies: seven fields with tabs between them.
func findCookieJar(r *reading, rule, start, _ int) {
	text := r.text
	from := max(start-256, 0)
	from += strings.LastIndexByte(text[from:start], '\n') + 1
	to := min(start+cookieBytes, len(text))
	if i := strings.IndexByte(text[start:to], '\n'); i >= 0 {
		to = start + i
	}
	r.until[rule] = to
	fields := strings.Split(text[from:to], "\t")
	if len(fields) != 7 {
		return
	}
	token := strings.TrimRight(fields[6], "\r")
	if m := mixtureOf(token); len(token) >= 12 && m.digits > 0 && m.letters() > 0 && !standIn(token) {
		r.add(rule, to-len(fields[6]), to-len(fields[6])+len(token))
	}
}

// findAddressPassword finds the password in an address.
func findAddressPassword(r *reading, rule, start, end int) {
	text := r.text
	if start == 0 || !wordByte(text[start-1]) {
		return
	}
	user := end
	for user < len(text) && user-end < 128 && text[user] != ':' && text[user] < 0x80 && !addressEnds.has(text[user]) {
		user++
	}
	if user < len(text) && text[user] == '@' && user-end >= 20 {
		if name := text[end:user]; randomLike(name) || hexLike(name) && user-end >= 32 {
			r.add(rule, end, user)
		}
		return
	}
	if user >= len(text) || text[user] != ':' {
		return
	}
	if name := text[end:user]; user-end >= 32 && hexLike(name) || user-end >= 20 && randomLike(name) {
		defer func() {
			if r.until[rule] > user {
				r.add(rule, end, user)
			}
		}()
	}
	at := user + 1
	stop, last := at, -1
	for stop < len(text) && stop-at < 256 && !passwordEnds.has(text[stop]) {
		if text[stop] == '@' && stop+1 < len(text) && (wordByte(text[stop+1]) || text[stop+1] == '.' || text[stop+1] == '-') {
			last = stop
		}
		stop++
	}
	if last < at+3 {
		return
	}
	password := text[at:last]
	lower := strings.ToLower(password)
	if loginWords[lower] || strings.HasPrefix(lower, "your") || strings.Count(password, password[:1]) == len(password) || password[0] == '$' || password[0] == '%' ||
		runOf(password, 0, &digitBytes, 6) == len(password) || strings.HasPrefix(password, "••") {
		if loginWords[lower] && user-end >= 20 && randomLike(text[end:user]) {
			r.add(rule, end, user)
		}
		return
	}
	r.add(rule, at, last)
	r.until[rule] = last
}

var (
	addressEnds  = setOf(" \t\r\n\f\v:/?#@\"'`<>[](){}|\\")
	passwordEnds = setOf(" \t\r\n\f\v/\"'`<>[](){}|\\")
)

// findFacebook finds a token of Facebook: the number of an application and its secret.
func findFacebook(r *reading, rule, start, end int) {
	text := r.text
	from := runBefore(text, start, &digitBytes, 17)
	if n := start - from; n < 15 || n > 16 || from > 0 && wordByte(text[from-1]) {
		return
	}
	stop := runOf(text, end, &url64Bytes, 64)
	if n := stop - end; n >= 27 && n <= 40 && entropy(text[from:stop]) > 3 {
		r.add(rule, from, stop)
		r.until[rule] = stop
	}
}

// findHeaderArgument finds credentials in the headers of a command for addresses, whatever the headers are called.
func findHeaderArgument(r *reading, rule, _, end int) {
	text := r.text
	limit := min(end+4*commandBytes, len(text))
	r.until[rule] = end
	for at := end; at < limit; {
		i := strings.Index(text[at:limit], "-H")
		if i < 0 {
			i = strings.Index(text[at:limit], "--header")
		}
		if i < 0 {
			r.until[rule] = limit
			return
		}
		at += i + 2
		for at < limit && (letterByte(text[at]) || text[at] == ' ' || text[at] == '=' || text[at] == '-') {
			at++
		}
		v := valueAt(text, at)
		header := text[v.start:v.end]
		if name, _, found := strings.Cut(header, ":"); found && headerNames.any(name) {
			start := v.start + len(name) + 1
			for start < v.end && text[start] == ' ' {
				start++
			}
			if value := schemeValue(text[:v.end], start); value.end == v.end && len(text[value.start:v.end]) >= 8 && !standIn(text[value.start:v.end]) && !letteredToken(text[value.start:v.end]) {
				r.add(rule, value.start, v.end)
			}
		}
		at = max(v.end, at)
		r.until[rule] = at
	}
}

// headerNames are parts of the names of headers with credentials.
var headerNames = newWordSet([]string{"auth", "token", "key", "secret"})

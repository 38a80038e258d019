package secrets

import (
	"encoding/base64"
	"strings"
)

var (
	base64Bytes = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
	url64Bytes  = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
	hashBytes   = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./$=,+_-")
	digitBytes  = setOf("0123456789")
)

// runOf returns where a run of characters ends, at most limit bytes further on.
func runOf(text string, at int, set *bytes, limit int) int {
	end := at
	for end < len(text) && end-at < limit && set.has(text[end]) {
		end++
	}
	return end
}

// runBefore returns where a run of characters that ends at a place begins, at most limit bytes before it.
func runBefore(text string, end int, set *bytes, limit int) int {
	at := end
	for at > 0 && end-at < limit && set.has(text[at-1]) {
		at--
	}
	return at
}

const (
	// keyBytes is how much of a private key is read.
	keyBytes = 64 << 10
	// keyRun is how many characters of a key must follow each other.
	keyRun = 16
	// keyLine is how long a line with a part of a key may be.
	keyLine = 512
)

// findPrivateKey finds private keys, also in JSON or with numbers before their lines, and parts of keys whose first or
// last line is missing. Between its first line and its last a key holds nothing but itself: what is written about keys
// may name two first lines.
func findPrivateKey(r *reading, rule, start, end int) {
	text := r.text
	switch {
	case strings.EqualFold(text[start:end], "-----begin"):
		if body := keyHeader(text, end); body > 0 {
			r.key(rule, start, body)
		}
	case strings.EqualFold(text[start:end], "-----end"):
		if last := keyHeader(text, end); last > 0 {
			if first := keyBefore(text, start, r.until[rule]); first < start {
				r.add(rule, first, last)
				r.until[rule] = last
			}
		}
	case strings.EqualFold(text[start:end], "private-lines:"):
		// A key of PuTTY: the number of its lines, and its lines.
		r.key(rule, start, runOf(text, end, &blankOrDigit, 16))
	default:
		// The first bytes of a key without its first line.
		from := runBefore(text, start, &base64Bytes, 8)
		if from < start && !strings.HasPrefix(text[from:], "MII") {
			return
		}
		if runOf(text, from, &base64Bytes, keyRun)-from < keyRun {
			return
		}
		r.key(rule, from, from)
	}
}

var blankOrDigit = setOf(" \t\r\n0123456789")

// findEncodedKey finds a private key whose PEM format is encoded in base64 once more.
func findEncodedKey(r *reading, rule, start, _ int) {
	end := runOf(r.text, start, &base64Bytes, keyBytes)
	r.until[rule] = end
	head, err := base64.StdEncoding.DecodeString(r.text[start:min(start+32, end)])
	if name := string(head); err == nil && end-start >= 64 && !strings.Contains(name, " CERT") && !strings.Contains(name, " PUBLIC") {
		r.add(rule, start, end)
	}
}

// findWindowsHash finds the hash of a password of Windows: user:number:hash:hash:::
func findWindowsHash(r *reading, rule, start, _ int) {
	from := runBefore(r.text, start, &hexBytes, 33)
	if start-from == 32 && from > 33 && r.text[from-1] == ':' && from-1-runBefore(r.text, from-1, &hexBytes, 33) == 32 {
		r.add(rule, from, start)
	}
}

var hexBytes = setOf("0123456789abcdefABCDEF")

// key adds a key that begins at start and has its first characters from body on.
func (r *reading) key(rule, start, body int) {
	if stop := keyAfter(r.text, body); stop > body {
		r.add(rule, start, stop)
		r.until[rule] = stop
	}
}

// keyHeader returns where the first or last line of a private key ends, whose name begins at a place, or 0.
func keyHeader(text string, at int) int {
	name, _, found := strings.Cut(text[at:min(at+128, len(text))], "-----")
	name = strings.TrimRight(name, "-")
	if !found || !strings.HasSuffix(strings.TrimSuffix(name, " BLOCK"), "PRIVATE KEY") {
		return 0
	}
	return at + len(name) + len("-----")
}

// keyAfter returns where the lines of a key end that begin at a place.
func keyAfter(text string, at int) int {
	end, limit := at, at+keyBytes
	for at < limit {
		next := skipMargin(text, at)
		stop := runOf(text, next, &base64Bytes, keyBytes)
		switch {
		case stop-next >= keyRun:
			at, end = stop, stop
			continue
		case keyField(text, next):
			at = next + max(strings.IndexByte(text[next:min(next+keyLine, len(text))], '\n'), 1)
			continue
		}
		// The last line may be short, if it is the last.
		last := skipMargin(text, stop)
		if strings.HasPrefix(text[last:], "-----END") || strings.HasPrefix(text[next:], "-----END") {
			if strings.HasPrefix(text[next:], "-----END") {
				last = next
			}
			if tail := keyHeaderOfAny(text, last+len("-----END")); tail > 0 && end > 0 {
				return tail
			}
		}
		return end
	}
	return end
}

func keyHeaderOfAny(text string, at int) int {
	name, _, found := strings.Cut(text[at:min(at+128, len(text))], "-----")
	name = strings.TrimRight(name, "-")
	if !found || !strings.Contains(name, "KEY") {
		return 0
	}
	return at + len(name) + len("-----")
}

// keyField says whether a field of an old key or a PGP key begins at a place.
func keyField(text string, at int) bool {
	for _, name := range []string{"Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:"} {
		if strings.HasPrefix(text[at:], name) {
			return true
		}
	}
	return false
}

// skipMargin skips what stands between the lines of a key in listings, code and diffs.
func skipMargin(text string, at int) int {
	for n := 0; n < 24 && at < len(text); n++ {
		if strings.IndexByte(" \t\r\n\f\v\"'`,+>|\\", text[at]) >= 0 {
			at++
			continue
		}
		next := lineNumber(text, at)
		if next == at {
			break
		}
		at = next
	}
	return at
}

// lineNumber returns where the number of a line ends that begins at a place, with the name of its file.
func lineNumber(text string, at int) int {
	number := func(from int) int {
		end := runOf(text, from, &digitBytes, 6)
		if end == from {
			return 0
		}
		if end < len(text) && text[end] == ' ' {
			end++
		}
		if strings.HasPrefix(text[end:], "→") {
			return end + len("→")
		}
		if end < len(text) && strings.IndexByte(":|\t", text[end]) >= 0 {
			return end + 1
		}
		return 0
	}
	if end := number(at); end > 0 {
		return end
	}
	for i := at; i < min(at+128, len(text)); i++ {
		switch c := text[i]; {
		case c == ':' && i > at:
			return max(number(i+1), at)
		case c <= ' ' || endsFileName.has(c):
			return at
		}
	}
	return at
}

var endsFileName = setOf(":\"\\+=")

// keyBefore returns where the lines of a key begin that end at a place.
func keyBefore(text string, end, from int) int {
	start, at := end, end
	for first := true; at > max(from, end-keyBytes); first = false {
		stop := at
		for stop > from && strings.IndexByte(" \t\r\n\"'`,+>|\\", text[stop-1]) >= 0 {
			stop--
		}
		begin := runBefore(text, stop, &base64Bytes, keyLine)
		begin = max(begin, from)
		if stop-begin < keyRun && (!first || stop == begin) || stop-begin >= keyLine {
			break
		}
		start = begin
		// What stands before the characters of the key in its line is a margin or text.
		line := max(strings.LastIndexByte(text[max(begin-128, 0):begin], '\n')+1+max(begin-128, 0), from)
		if line < begin && skipMargin(text, line) < begin && strings.TrimSpace(text[line:begin]) != "" {
			break
		}
		at = line
	}
	if end-start < keyRun {
		return end
	}
	return start
}

// findPasswordHash finds hashes of passwords, such as those of htpasswd and shadow.
func findPasswordHash(r *reading, rule, start, _ int) {
	text := r.text
	from := start
	if text[start] == '{' {
		from = start + strings.IndexByte(text[start:], '}') + 1
	}
	set := &hashBytes
	if text[start] == 'S' || text[start] == 's' {
		// The keys of SCRAM have a colon between them.
		set = &ticketBytes
	}
	if strings.HasSuffix(text[:min(start+6, len(text))], "$krb5") || text[start+1] > '9' && text[start+1]|0x20 != 'y' && strings.Contains(text[start:min(start+24, len(text))], "$*") {
		set = &ticketBytes
	}
	end := runOf(text, from, set, 2*valueBytes)
	end = from + len(strings.TrimRight(text[from:end], ".,"))
	hash := text[from:end]
	last := hash[strings.LastIndexByte(hash, '$')+1:]
	if len(last) < 20 || text[start] != '{' && strings.Count(hash, "$") < 2 || standIn(last) {
		if text[start] != '{' {
			// All that begins before the end has the same last part.
			r.until[rule] = end - len(last)
		}
		return
	}
	r.add(rule, start, end)
	r.until[rule] = end
}

// ticketBytes are those of hashes with names between stars.
var ticketBytes = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./$=,+_-*@:\\")

// findDevopsToken finds a token of Azure DevOps by the mark before its last four characters.
func findDevopsToken(r *reading, rule, start, end int) {
	from := runBefore(r.text, start, &letterOrDigit, 80)
	stop := runOf(r.text, end, &letterOrDigit, 5)
	if n := start - from; n >= 52 && n <= 76 && stop-end == 4 && r.text[start] == 'A' {
		r.add(rule, from, stop)
	}
	r.until[rule] = stop
}

var letterOrDigit = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

// findTelegram finds the token of a Telegram bot by its form.
func findTelegram(r *reading, rule, start, _ int) {
	text := r.text
	from := runBefore(text, start, &digitBytes, 11)
	end := runOf(text, start+1, &url64Bytes, 64)
	if start-from < 8 || start-from > 10 || end-start != 36 || mixtureOf(text[start+1:end]).digits == 0 {
		return
	}
	r.add(rule, from, end)
	r.until[rule] = end
}

// findDiscord finds the token of a Discord bot by its form: three parts with dots between them.
func findDiscord(r *reading, rule, dot, end int) {
	text := r.text
	if end+6 >= len(text) || text[end+6] != '.' || dot == 0 || runOf(text, end, &url64Bytes, 6) != end+6 {
		return
	}
	from := runBefore(text, dot, &url64Bytes, 40)
	stop := runOf(text, end+7, &url64Bytes, 80)
	if n := dot - from; n < 23 || n > 28 || stop-end-7 < 27 || stop-end-7 > 40 || strings.IndexByte("MNO", text[from]) < 0 {
		return
	}
	if m := mixtureOf(text[from:stop]); m.digits < 2 || m.upper < 2 || m.lower < 2 {
		return
	}
	r.add(rule, from, stop)
	r.until[rule] = stop
}

// findPgpass finds the passwords in the files that psql reads: host:port:database:user:password.
func findPgpass(r *reading, rule, start, end int) {
	text := r.text
	from := max(start-128, 0)
	from += strings.LastIndexByte(text[from:start], '\n') + 1
	stop := min(end+256, len(text))
	for i := end; i < stop; i++ {
		if endsFields.has(text[i]) {
			stop = i
		}
	}
	// The fields are the same from each place in them.
	r.until[rule] = stop
	line := text[from:stop]
	if i := strings.LastIndexAny(text[from:start], " \t\"'`"); i >= 0 {
		line = text[from+i+1 : stop]
	}
	fields := strings.SplitN(line, ":", 5)
	if len(fields) < 5 || fields[1] != "*" && runOf(fields[1], 0, &digitBytes, 6) != len(fields[1]) || fields[1] == "" || fields[0] == "" {
		return
	}
	password := fields[4]
	if strings.Contains(password, ":") || !fits(password, given) {
		return
	}
	r.add(rule, stop-len(password), stop)
}

var endsFields = setOf(" \n\r\"'`")

// findMailchimp finds a key of Mailchimp by its form: hexadecimal digits and the number of a data centre.
// findSessionToken finds session tokens of Amazon by how they begin: "origin_ec" or the name of their service in base64.
func findSessionToken(r *reading, rule, start, end int) {
	stop := runOf(r.text, end, &base64Bytes, valueBytes)
	if stop-end >= 60 && (start == 0 || !wordByte(r.text[start-1])) {
		r.add(rule, start, stop)
	}
}

func findMailchimp(r *reading, rule, start, end int) {
	from := runBefore(r.text, start, &hexBytes, 33)
	stop := runOf(r.text, end, &digitBytes, 3)
	if start-from == 32 && stop > end && (stop == len(r.text) || !wordByte(r.text[stop])) {
		r.add(rule, from, stop)
	}
}

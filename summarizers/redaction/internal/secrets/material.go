package secrets

import "strings"

// leastBytes is how many numbers a list must have to be a key.
const leastBytes = 8

// byteList returns the range of a list of numbers of a byte each, as programs and settings have keys: [13, 201, 44] or
// {0x2b, 0x7e}.
func byteList(text string, at int) (value, bool) {
	if at >= len(text) || strings.IndexByte("[{", text[at]) < 0 {
		return value{}, false
	}
	numbers, stop := 0, at+1
	for limit := min(at+valueBytes, len(text)); stop < limit; numbers++ {
		for stop < limit && strings.IndexByte(" \t\r\n,", text[stop]) >= 0 {
			stop++
		}
		next := stop
		if strings.HasPrefix(text[next:], "0x") {
			next = runOf(text, next+2, &hexBytes, 3)
		} else {
			next = runOf(text, next, &digitBytes, 4)
		}
		if next == stop || next-stop > 4 {
			break
		}
		stop = next
	}
	if numbers < leastBytes || stop >= len(text) || strings.IndexByte("]}", text[stop]) < 0 {
		return value{}, false
	}
	return value{at, stop + 1, false}, true
}

// schemed returns the range of a value that says in braces how it is encrypted: {cipher}AQB0, {SAS002}63E1.
func schemed(text string, at int) (value, bool) {
	if at >= len(text) || text[at] != '{' {
		return value{}, false
	}
	end := runOf(text, at+1, &letterOrDigit, 16)
	if end == at+1 || end >= len(text) || text[end] != '}' {
		return value{}, false
	}
	stop := runOf(text, end+1, &base64Bytes, valueBytes)
	return value{at, stop, false}, stop-end > 8 && mixtureOf(text[end+1:stop]).digits > 0
}

// material adds a key that is written as a list of numbers, or a value that is encrypted.
func (a *assignment) material(at int) bool {
	v, is := value{}, false
	if a.kind == keyNoun || a.kind == tokenNoun {
		v, is = byteList(a.text, at)
	}
	if !is {
		v, is = schemed(a.text, at)
	}
	if is {
		a.add(a.set.index["password"], v.start, v.end)
	}
	return is
}

// typeBytes are those of the names of types.
var typeBytes = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ()*:")

// typedValue returns the value behind a name and its type: `var pw string = "X"`, `pw As String = "X"`, `PIC X(8) VALUE 'X'`.
func typedValue(text string, at int) (value, bool) {
	i := 0
	line := text[at:min(at+2*shortValue, len(text))]
	for i < len(line) && i <= shortValue && typeBytes.has(line[i]) {
		i++
	}
	if i == 0 || i+1 >= len(line) || line[i] != '=' && !quotes.has(line[i]) {
		return value{}, false
	}
	words := strings.ToLower(strings.TrimRight(line[:i], " \t:"))
	if line[i] != '=' && !strings.HasSuffix(words, " value") && !strings.HasSuffix(words, " default") {
		return value{}, false
	}
	if line[i] == '=' {
		if line[i+1] == '=' {
			return value{}, false
		}
		i++
	}
	v := valueAt(text, at+i)
	return v, v.quoted
}

// reversed returns the value that an object has before the name of a password: {"value": "X", "key": "password"}.
func reversed(text string, from int) (value, bool) {
	if from == 0 || !quotes.has(text[from-1]) {
		return value{}, false
	}
	before := text[max(from-2*sideBytes, 0):from]
	before = before[strings.LastIndexByte(before, '{')+1:]
	bare := strings.TrimRight(before, " \t\"'")
	if !strings.HasSuffix(bare, ":") || !strings.HasSuffix(strings.TrimRight(bare, ": \"'"), "key") && !strings.HasSuffix(bare, " forKey:") && !strings.HasSuffix(strings.TrimRight(bare, ": \"'"), "name") {
		return value{}, false
	}
	if i := strings.LastIndex(before, ".set(\""); i >= 0 && strings.HasSuffix(bare, " forKey:") {
		// As programs for phones keep values.
		v := valueAt(text, from-len(before)+i+len(".set("))
		return v, v.quoted && v.end < from
	}
	i := strings.LastIndex(before, `"value":`)
	if i < 0 {
		return value{}, false
	}
	v := valueAt(text, from-len(before)+i+len(`"value":`))
	return v, v.quoted && v.end < from
}

// formField adds the value of a field of a form in several parts: the line behind an empty one.
func (a *assignment) formField(at int) bool {
	text := a.text
	before := a.lineBefore()
	if !strings.HasSuffix(before, `name="`) && !strings.HasSuffix(before, `name='`) || !holdsFold(before, "form-data") {
		return false
	}
	at = lineBreak(text, at)
	if at >= len(text) {
		return false
	}
	empty := lineBreak(text, at+1)
	if strings.TrimSpace(text[at+1:empty]) != "" || empty >= len(text) {
		return false
	}
	stop := lineBreak(text, empty+1)
	word := strings.TrimRight(text[empty+1:stop], "\r")
	if fits(word, given) || randomLike(word) {
		a.add(a.set.index["password"], empty+1, empty+1+len(word))
	}
	return true
}

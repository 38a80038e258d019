package secrets

import "strings"

// hookBytes is how much of an address is read before and after the word for a hook.
const hookBytes = 256

var pathBytes = setOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/@%:+")

// findHook finds the secret in the address of a webhook, which is all that its caller needs to know: from the first part
// of the path that was drawn on.
func findHook(r *reading, rule, start, end int) {
	text := r.text
	from := runBefore(text, start, &pathBytes, hookBytes)
	if text[start] != ':' && !strings.Contains(text[from:start], "://") {
		return
	}
	stop := runOf(text, end, &pathBytes, hookBytes)
	stop = end + len(strings.TrimRight(text[end:stop], "./:"))
	r.until[rule] = max(r.until[rule], stop)
	at := end
	caught := false
	for part := range strings.SplitSeq(text[end:stop], "/") {
		if drawnPart(part) || caught && len(part) >= 6 && alnumPart(part) {
			r.add(rule, at, stop)
			return
		}
		// Behind a number that says whose hook it is, short ones are drawn, too.
		caught = len(part) >= 5 && runOf(part, 0, &digitBytes, 20) == len(part) && strings.Contains(text[from:at], "/catch/")
		at += len(part) + len("/")
	}
}

// drawnPart says whether a part of a path was drawn: a UUID, hexadecimal digits, letters and digits.
func drawnPart(part string) bool {
	return len(part) >= 36 && uuidLike(part[:36]) || hexLike(part) && len(part) >= 24 && mixtureOf(part).letters() > 0 || randomLike(part)
}

func alnumPart(part string) bool { return runOf(part, 0, &letterOrDigit, 64) == len(part) }

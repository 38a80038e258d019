package overflow

import "strings"

// How much of a text is searched. Bodies of errors are short; of a longer text, such as a trace of a program, the error
// stands at one of the ends.
const (
	headBytes = 48 << 10
	tailBytes = 16 << 10
)

// unescape undoes what JSON within JSON does to a sentence. What remains is for searching only.
var unescape = strings.NewReplacer(
	`\u003e`, ">", `\u003c`, "<", `\u0026`, "&", `\u0027`, "'", `\u0060`, "`", `\u2019`, "'",
	`\n`, " ", `\r`, " ", `\t`, " ", `\`, "",
)

// searchable is the text as rules search it: bounded, in lower case, without escapes.
func searchable(text string) string {
	if len(text) > headBytes+tailBytes {
		text = text[:headBytes] + "\n" + text[len(text)-tailBytes:]
	}
	return strings.ToLower(unescape.Replace(strings.TrimSpace(text)))
}

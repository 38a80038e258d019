package strategies

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/compactord/compactord/session/wording"
)

// The text that replaces what an edit hides, with its variables filled in.

// replaced describes what a placeholder replaces.
type replaced struct {
	index, part, tokens uint32
	tool                string
	// omitted is how many characters are left out; nil if the edit shows nothing of the content.
	omitted *int
}

// fill replaces {index}, {part}, {tool}, {tokens} and {omitted} in a template. It does not interpret any other text,
// and nothing in a tool's name.
func (r replaced) fill(template string) string {
	var b strings.Builder
	for {
		literal, rest, found := strings.Cut(template, "{")
		b.WriteString(literal)
		if !found {
			return b.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		text, known := r.variable(name)
		if !closed || !known {
			b.WriteByte('{')
			template = rest
			continue
		}
		b.WriteString(text)
		template = after
	}
}

func (r replaced) variable(name string) (text string, known bool) {
	switch name {
	case "index":
		return decimal(r.index), true
	case "part":
		return decimal(r.part), true
	case "tool":
		return r.tool, true
	case "tokens":
		return decimal(r.tokens), true
	case "omitted":
		if r.omitted == nil {
			return "", false
		}
		return strconv.Itoa(*r.omitted), true
	default:
		return "", false
	}
}

// fillObject returns a JSON object with the filled template.
func (r replaced) fillObject(template string) string {
	// A string can always be encoded.
	text, _ := json.Marshal(r.fill(template))
	return `{"` + wording.ClearedKey + `":` + string(text) + `}`
}

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

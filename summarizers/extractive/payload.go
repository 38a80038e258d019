package extractive

import (
	"cmp"
	"strconv"
	"strings"
)

// payload is what the result of a call says, without a wrapper around it.
type payload struct {
	text string
	// exit is the status that the wrapper tells, or -1.
	exit int
	// failed says that the result itself reports a failure, and message is what it says about it, word for word.
	failed  bool
	message string
	// fields are those of a short JSON object.
	fields []argument
}

const (
	// maxFields is how many bytes a result has at most whose fields are read.
	maxFields = 4 << 10
	// unknownExit is the status of a command whose result tells none.
	unknownExit = -1
)

// payloadOf reads the result of a call.
func payloadOf(text string, c *call) payload {
	p := payload{text: text, exit: unknownExit}
	if texts, status, ok := unwrap(text); ok {
		p.text, p.exit = strings.Join(texts, "\n"), status.exit
		p.failed, p.message = status.failed, status.message
	}
	if c.class == classCommand {
		// What a command writes may be about other failures.
		return p
	}
	if p.exit > 0 {
		p.failed = true
	}
	if len(p.text) <= maxFields {
		p.fields = argumentsOf(p.text)
		p.readFailure(c)
	}
	return p
}

// outcome determines how the call of a result ended.
func (p *payload) outcome(flagged bool, c *call) outcome {
	text := p.text
	if p.exit >= 0 && c.cmd != nil {
		// The status is read where shells and harnesses write it.
		text += "\nexit code: " + strconv.Itoa(p.exit)
	}
	o := outcomeOf(text, flagged || p.failed, c.class, c.cmd)
	if o.failed && p.message != "" {
		o.errors = shorten(oneLine(p.message), maxEssence)
	}
	return o
}

// wrapperStatus is what a wrapper tells about the call beside the text of its result.
type wrapperStatus struct {
	exit    int
	failed  bool
	message string
}

// wrappedTexts are the fields of a wrapper with the text of a result, and wrapperFields are its other ones.
var (
	wrappedTexts  = wordSet(`output stdout stderr aggregated_output formatted_output result text content`)
	outputFields  = wordSet(`output stdout stderr aggregated_output formatted_output`)
	exitFields    = wordSet(`exit_code exitCode exit_status exitStatus returncode return_code returnCode exit`)
	wrapperFields = wordSet(`metadata meta success ok is_error isError error duration duration_ms duration_seconds durationMs truncated interrupted signal timed_out
		timedOut wall_time isImage noOutputExpected type`)
)

// unwrap returns the text of a result that stands in a field of a JSON object, or between tags, beside a status. A
// result is wrapped by the program that ran the tool.
func unwrap(text string) (texts []string, status wrapperStatus, ok bool) {
	status.exit = unknownExit
	start := skipSpace(text, 0)
	if start >= len(text) {
		return nil, status, false
	}
	switch text[start] {
	case '<':
		return unwrapTags(text[start:])
	case '[':
		texts = partTexts(argument{raw: text[start:]})
		return texts, status, len(texts) > 0
	case '{':
	default:
		return nil, status, false
	}
	if key := firstKey(text[start:]); !wrappedTexts[key] && !exitFields[key] && !wrapperFields[key] {
		return nil, status, false
	}
	fields := argumentsOf(text[start:])
	known, tells, outputs := true, len(fields) == 1, false
	for _, f := range fields {
		switch {
		case wrappedTexts[f.key]:
			outputs = outputs || outputFields[f.key]
			switch {
			case f.isString():
				said, whole := unquote(f.raw)
				if !whole {
					return nil, status, false
				}
				if ok = true; said != "" {
					texts = append(texts, said)
				}
			case f.key == "content":
				parts := partTexts(f)
				texts, ok = append(texts, parts...), ok || len(parts) > 0
			default:
				known = false
			}
		case exitFields[f.key], f.key == "metadata" || f.key == "meta":
			tells = true
			status.readExit(f)
		case wrapperFields[f.key]:
			tells = tells || f.key != "type"
			status.readFlag(f)
		default:
			known = false
		}
	}
	return texts, status, ok && tells && (known || outputs && status.exit != unknownExit)
}

// firstKey returns the first key of a JSON object.
func firstKey(object string) string {
	i := skipSpace(object, 1)
	if i >= len(object) || object[i] != '"' {
		return ""
	}
	key, _, _ := strings.Cut(object[i+1:min(len(object), i+64)], `"`)
	return key
}

// partTexts returns the texts of a list of content parts, if it holds nothing else.
func partTexts(list argument) []string {
	const opening = "[{"
	if compact := strings.ReplaceAll(clip(list.raw, 32), " ", ""); !strings.HasPrefix(strings.ReplaceAll(compact, "\n", ""), opening) {
		return nil
	}
	var texts []string
	raw := list.raw
	for i := 1; i < len(raw) && len(texts) < maxArguments; {
		i = skipSpace(raw, i)
		if i >= len(raw) || raw[i] != '{' {
			break
		}
		end := skipValue(raw, i)
		part := argumentsOf(raw[i:end])
		kind, _ := find(part, "type")
		said, ok := find(part, "text")
		if !ok || kind.text() != "text" || !said.isString() {
			return nil
		}
		if text, ok := unquote(said.raw); ok {
			texts = append(texts, text)
		}
		if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
			i++
		}
	}
	return texts
}

// readExit reads the status of a command, or the one within metadata.
func (s *wrapperStatus) readExit(f argument) {
	if exitFields[f.key] {
		if n, err := strconv.Atoi(f.text()); err == nil {
			s.exit = n
		}
		return
	}
	for _, inner := range argumentsOf(f.raw) {
		if exitFields[inner.key] {
			s.readExit(inner)
		}
	}
}

// readFlag reads a field that says whether the call worked.
func (s *wrapperStatus) readFlag(f argument) {
	if failed, message := flagFails(f); failed {
		s.failed, s.message = true, cmp.Or(message, s.message)
	}
}

// unwrapTags returns the text between the tags of an output, beside a tag with the status.
func unwrapTags(text string) (texts []string, status wrapperStatus, ok bool) {
	status.exit = unknownExit
	head, _, _ := strings.Cut(text[1:min(len(text), 32)], ">")
	if !wrappedTexts[head] && !exitFields[head] {
		return nil, status, false
	}
	for len(text) > 0 && text[0] == '<' {
		tag, rest, found := strings.Cut(text[1:], ">")
		if !found || !wrappedTexts[tag] && !exitFields[tag] {
			return nil, status, false
		}
		// An output can hold the same tag.
		end := strings.LastIndex(rest, "</"+tag+">")
		if end < 0 {
			return nil, status, false
		}
		inner := strings.TrimSpace(rest[:end])
		if exitFields[tag] {
			if n, err := strconv.Atoi(inner); err == nil {
				status.exit = n
			}
		} else {
			ok = true
			if inner != "" {
				texts = append(texts, inner)
			}
		}
		text = strings.TrimSpace(rest[end+len("</"+tag+">"):])
	}
	return texts, status, ok && text == ""
}

// eachResultText calls yield for each text of a result, without its wrapper. What is wrapped is cleaned as a whole, too:
// a key can show that its value is a secret.
func eachResultText(text string, clean func(string) string, yield func(string)) {
	if _, _, ok := unwrap(text); !ok {
		yield(text)
		return
	}
	cleaned := clean(text)
	texts, _, ok := unwrap(cleaned)
	if !ok {
		texts = []string{cleaned}
	}
	for _, text := range texts {
		yield(text)
	}
}

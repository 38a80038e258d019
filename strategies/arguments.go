package strategies

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/session/wording"
)

// maxArguments bounds the fields that are read of one call.
const maxArguments = 64

// argument is a field of the object that a tool was called with.
type argument struct {
	name  string
	value json.RawMessage
}

// argumentsOf returns the fields of a call's arguments, in order. Models write broken JSON, too: what stands before the fault
// is read.
func argumentsOf(arguments string) []argument {
	d := json.NewDecoder(strings.NewReader(arguments))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var list []argument
	for len(list) < maxArguments && d.More() {
		name, err := d.Token()
		text, isName := name.(string)
		a := argument{name: text}
		if err != nil || !isName || d.Decode(&a.value) != nil {
			break
		}
		list = append(list, a)
	}
	return list
}

// text returns the value of a string, and the words of a command that is given word by word; false for all else.
func (a argument) text() (string, bool) {
	var text string
	if json.Unmarshal(a.value, &text) == nil && string(a.value) != "null" {
		return text, true
	}
	var words []string
	if json.Unmarshal(a.value, &words) == nil && len(words) > 0 {
		return strings.Join(words, " "), true
	}
	return "", false
}

// mainArguments are the arguments that tell most of what a call was for, the more telling first. A search is told by what
// it looks for, not by where.
var mainArguments = []string{
	"command", "cmd", "script", "pattern", "query", "regex", "url", "uri",
	"file_path", "filePath", "path", "target_file", "targetFile", "TargetFile", "absolute_path", "AbsolutePath",
	"notebook_path", "filename", "file_name", "file", "description", "name",
}

// maxMainRunes is how much of the main argument is told.
const maxMainRunes = 80

// MainArgument tells on one line what a tool was called for: a path, a command, what was searched for. Empty where nothing
// tells it.
func MainArgument(arguments string) string {
	texts := make(map[string]string)
	first := ""
	for _, a := range argumentsOf(arguments) {
		text, ok := a.text()
		if line := wording.OneLine(text, maxMainRunes); ok && line != "" {
			texts[a.name] = line
			if first == "" {
				first = line
			}
		}
	}
	for _, name := range mainArguments {
		if line, ok := texts[name]; ok {
			return line
		}
	}
	return first
}

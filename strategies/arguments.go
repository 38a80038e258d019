package strategies

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/session/wording"
)

// The arguments of a tool call, as far as they can be understood without knowing the tool.

// maxArguments limits how many fields of one call are read.
const maxArguments = 64

// argument is one field of the object that a tool was called with.
type argument struct {
	name  string
	value json.RawMessage
}

// argumentsOf returns the fields of a call's arguments, in order. Models also write invalid JSON: it then returns the
// fields before the error.
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

// text returns the value of a string, or the words of a command that is given as a list of words. It returns false for
// any other value.
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

// mainArguments are the arguments that say most about a call, the best first. For a search the pattern comes before the
// place.
var mainArguments = []string{
	"command", "cmd", "script", "pattern", "query", "regex", "url", "uri",
	"file_path", "filePath", "path", "target_file", "targetFile", "TargetFile", "absolute_path", "AbsolutePath",
	"notebook_path", "filename", "file_name", "file", "description", "name",
}

// maxMainRunes limits how much of the main argument is shown.
const maxMainRunes = 80

// MainArgument returns on one line what a tool was called for: a path, a command, a search pattern. It is empty if no
// argument says it.
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

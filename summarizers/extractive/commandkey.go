package extractive

import (
	"slices"
	"strings"
)

// commandKey is the part of a command that is compared: the program and its words, without flags.
type commandKey struct {
	program string
	words   []string
	// selected are the names of the tests that a run is restricted to.
	selected []string
	// script is the name of the script file that an interpreter runs.
	script string
	// once says that the command contains a script, so that no other command is a second try of it.
	once bool
	// check says what a success of the command proves.
	check check
}

// keyOfCommand returns the key of one command.
func keyOfCommand(text string) *commandKey {
	w := withoutRunner(words(text))
	if len(w) == 0 {
		return &commandKey{program: text, once: true}
	}
	k := &commandKey{program: w[0]}
	interpreter := isInterpreter(k.program)
	k.once = strings.Contains(text, "<<") && k.program != "git"
	for i := 1; i < len(w); i++ {
		word := w[i]
		switch {
		case word == "" || word == "./..." || word == "." || strings.Trim(word, "0123456789") == "":
		case word[0] == '-':
			if interpreter && k.script == "" && (word == "-c" || word == "-e" || word == "--eval" || word == "-Command") {
				k.once = true
			}
			if names, ok := selection(word, w[i+1:]); ok {
				k.selected = append(k.selected, names...)
				if !strings.Contains(word, "=") {
					i++
				}
			}
		case strings.Contains(">&", word[:1]), strings.HasPrefix(word, "2>"):
		case word[0] == '<':
			k.once = k.once || interpreter
		default:
			k.word(word, interpreter)
		}
	}
	if k.script == "" && (hasExtension(k.program) || interpreter && k.program != "python" && len(k.words) == 1) {
		k.script = k.program
		if interpreter {
			k.script = baseOf(k.words[0])
		}
	}
	if k.program == "git" && len(k.words) > 1 {
		// A second try may have other arguments.
		k.words = k.words[:1]
	}
	if k.script == "" && !k.once {
		k.check = checkOf(k)
	}
	return k
}

// maxWords is how many words of a command are compared.
const maxWords = 12

// word adds a word that is no flag.
func (k *commandKey) word(word string, interpreter bool) {
	if interpreter && k.script == "" && !k.once && hasExtension(word) {
		k.script = baseOf(word)
	}
	if path, test, ok := strings.Cut(word, "::"); ok && path != "" {
		word = path
		k.selected = append(k.selected, test[strings.LastIndexByte(test, ':')+1:])
	}
	if len(k.words) < maxWords {
		k.words = append(k.words, strings.TrimSuffix(strings.TrimSuffix(clip(word, 120), "..."), "/"))
	}
}

// covers says whether a success of k shows that the failed command works now: k ran the same, or more of it.
func (k *commandKey) covers(failed *commandKey) bool {
	if k == nil || failed == nil || k.once || failed.once || k.script != failed.script {
		return false
	}
	if k.script != "" {
		return true
	}
	if k.program != failed.program || !k.selects(failed) {
		return false
	}
	restricted := false
	for _, w := range k.words {
		if isPath(w) {
			restricted = true
		} else if !slices.ContainsFunc(failed.words, func(f string) bool { return pathCovers(w, f) }) {
			return false
		}
	}
	if !restricted {
		return true
	}
	paths := 0
	for _, f := range failed.words {
		if !isPath(f) {
			continue
		}
		paths++
		if !slices.ContainsFunc(k.words, func(w string) bool { return pathCovers(w, f) }) {
			return false
		}
	}
	return paths > 0
}

// isScript says whether the command runs a script.
func (k *commandKey) isScript() bool { return k.once || k.script != "" }

// selects says whether a run selects all tests that the failed one selected.
func (k *commandKey) selects(failed *commandKey) bool {
	if len(k.selected) == 0 {
		return true
	}
	for _, f := range failed.selected {
		if !slices.ContainsFunc(k.selected, func(s string) bool { return strings.Contains(f, s) }) {
			return false
		}
	}
	return len(failed.selected) > 0
}

// isPath says whether a word of a command has the form of a path.
func isPath(word string) bool { return strings.Contains(word, "/") || hasExtension(word) }

// pathCovers says whether a path is the same as another or a folder above it.
func pathCovers(path, of string) bool {
	path, of = strings.TrimPrefix(path, "./"), strings.TrimPrefix(of, "./")
	if hasExtension(path) && hasExtension(of) {
		return sameFile(path, of)
	}
	return path == of || len(of) > len(path) && of[len(path)] == '/' && strings.HasPrefix(of, path)
}

// baseOf returns the last part of a path.
func baseOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// selection returns the tests that a flag restricts a run to. `rest` are the words after the flag.
func selection(flag string, rest []string) (names []string, ok bool) {
	flag, value, joined := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	switch flag {
	case "run", "k", "t", "test-name-pattern", "testNamePattern", "grep", "filter", "tests", "Dtest", "only", "name":
	default:
		return nil, false
	}
	if !joined {
		if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
			return nil, false
		}
		value = rest[0]
	}
	for _, name := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("|^$()'\" /,", r) }) {
		if name != "or" && name != "and" && len(names) < maxWords {
			names = append(names, clip(name, 120))
		}
	}
	return names, len(names) > 0
}

// withoutRunner removes the program that only runs another one, and the version of an interpreter's name.
func withoutRunner(w []string) []string {
	for len(w) > 1 {
		skip := 0
		switch w[0] {
		case "npx", "bunx", "pnpx", "uvx", "nohup", "stdbuf", "xvfb-run", "exec", "command", "timeout":
			skip = 1
		case "uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "bundle", "pnpm", "yarn":
			if w[1] == "run" && w[0] != "pnpm" && w[0] != "yarn" || w[1] == "exec" {
				skip = 2
			}
		case "python", "python3", "py":
			if w[1] == "-m" {
				skip = 2
			}
		}
		for skip > 0 && skip < len(w) && (strings.HasPrefix(w[skip], "-") || isDigit(w[skip][0])) {
			skip++
		}
		if skip == 0 || skip >= len(w) {
			break
		}
		w = w[skip:]
	}
	if len(w) > 0 {
		if name := strings.TrimRight(w[0], "0123456789."); name == "python" || name == "pip" {
			w = slices.Concat([]string{name}, w[1:])
		}
	}
	return w
}

func isInterpreter(program string) bool {
	switch program {
	case "python", "node", "ruby", "perl", "bash", "sh", "zsh", "php", "deno", "bun", "tsx", "ts-node", "Rscript", "lua", "pwsh", "powershell", "osascript", "julia":
		return true
	}
	return false
}

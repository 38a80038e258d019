package extractive

import (
	"slices"
	"strings"
)

// maxScript is how many bytes of a command line are read, without here-documents.
const maxScript = 8 << 10

// maxCommand is how many units of a command are shown.
const maxCommand = 100

// command is a parsed command line.
type command struct {
	// shown is the command on one line, without directory changes before it and filters after it.
	shown string
	// key is the key of the most important command. proved are the keys of commands that worked if the line did.
	key    *commandKey
	proved []*commandKey
	// changing are the keys of all commands that do something.
	changing []*commandKey
	// said is the command line itself, up to the length that is read.
	said string
	// reads says that the command changes nothing.
	reads bool
	// code says that the line is code for an interpreter, and not for a shell.
	code bool
	// masks says that the line can succeed although the most important command failed.
	masks bool
	// files are the files that it reads or writes.
	files []touch
	// dir is the absolute directory that it changes to.
	dir string
}

// quoted returns the shown command as code.
func (c *command) quoted() string { return codeSpans(strings.ReplaceAll(c.shown, "`", "'")) }

// writesOnly says whether the command only wrote files, which the list of files shows better.
func (c *command) writesOnly() bool {
	switch c.key.program {
	case "cat", "tee", "touch", "echo", "printf", "sed", "cp", "mkdir", "chmod":
		return len(c.files) > 0
	}
	return false
}

// compares says whether the command's status can be 1 without an error: it compares, tests or searches.
func (c *command) compares() bool {
	switch c.key.program {
	case "diff", "cmp", "test", "[", "[[", "grep", "rg", "egrep", "fgrep", "pgrep", "which", "type", "colordiff", "difft":
		return true
	case "git":
		return len(c.key.words) > 0 && (c.key.words[0] == "diff" || c.key.words[0] == "grep")
	}
	return false
}

// checks says whether the command runs a check.
func (c *command) checks() bool {
	return slices.ContainsFunc(c.changing, func(k *commandKey) bool { return k.check != notCheck })
}

// complains says whether an output begins with the program's own error message.
func (c *command) complains(opening string) bool {
	for line := range strings.Lines(opening) {
		for _, p := range []string{c.key.program + ":", "fatal:", "error:", "usage:", "bash:", "(eval)", "zsh:", "sh:"} {
			if strings.HasPrefix(line, p) {
				return true
			}
		}
	}
	return false
}

// parseCommand parses a command line. It understands what agents usually write, not all of a shell's syntax.
func parseCommand(line string) command {
	line = strings.TrimSpace(line)
	script := strings.ReplaceAll(clip(withoutHeredocs(line), maxScript), "\\\n", " ")
	segments := splitCommand(script)
	c := command{said: clip(line, maxScript)}
	if len(segments) == 0 {
		c.shown = shorten(oneLine(line), maxCommand)
		c.key = &commandKey{program: c.shown, once: true}
		c.proved = []*commandKey{c.key}
		return c
	}
	main := c.readSegments(segments)
	c.key = keyOfCommand(segments[main].text)
	c.shown = shorten(oneLine(show(segments)), maxCommand)
	for _, seg := range segments[main:] {
		c.masks = c.masks || seg.masked
	}
	c.prove(script, segments, main)
	return c
}

// readSegments reads the commands of a line, and returns which is the most important one: the last that changes
// something, but not one that only prepares, after one that does more.
func (c *command) readSegments(segments []segment) (main int) {
	main = -1
	c.reads = true
	dir := ""
	for i, seg := range segments {
		words := words(seg.text)
		if len(words) == 0 {
			continue
		}
		if words[0] == "cd" && len(words) == 2 && !seg.piped {
			dir = inDirectory(dir, words[1])
			if isAbsolute(words[1]) && c.dir == "" {
				c.dir = words[1]
			}
		}
		for _, f := range touchesOf(words) {
			if whole := inDirectory(dir, f.path); whole != f.path {
				f.path, f.said = whole, f.path
			}
			c.files = append(c.files, f)
			c.reads = c.reads && !f.modified
		}
		switch {
		case seg.piped:
		case isChange(words):
			if main < 0 || isPreparation(words[0]) == isPreparation(segmentProgram(segments[main])) || isPreparation(segmentProgram(segments[main])) {
				main = i
			}
			c.reads = false
			c.changing = append(c.changing, keyOfCommand(seg.text))
		case main < 0:
			main = i
		}
	}
	return max(main, 0)
}

// prove finds the commands that worked if the line did. After a semicolon only the main one is sure, and none is where
// another one is tried if the first fails.
func (c *command) prove(script string, segments []segment, main int) {
	if strings.Contains(script, "||") {
		return
	}
	c.proved = []*commandKey{c.key}
	if strings.ContainsAny(script, ";\n") {
		return
	}
	for i, seg := range segments {
		if i != main && !seg.piped {
			c.proved = append(c.proved, keyOfCommand(seg.text))
		}
	}
}

// show joins the segments that say what was done. Of a pipe's filters, it shows one that makes the outcome: a count, a field.
func show(segments []segment) string {
	var b strings.Builder
	skipped := false
	for i, seg := range segments {
		program := segmentProgram(seg)
		if len(segments) > 1 && program == "cat" && strings.Contains(seg.text, "<<") && strings.Contains(seg.text, ">") && b.Len() == 0 {
			// The file that it writes is run by a later command, or listed with the files.
			continue
		}
		if seg.piped && isFilter(program) && (i+1 < len(segments) || passesOn(seg)) {
			skipped = true
			continue
		}
		if !seg.piped && (program == "cd" || program == "export" || program == "set" || program == "echo") && len(segments) > 1 {
			continue
		}
		if b.Len() > 0 {
			if seg.piped && skipped {
				b.WriteString(openGap)
			}
			b.WriteString(joint(b.String(), seg))
		}
		skipped = false
		text := strings.TrimSuffix(seg.text, " 2>&1")
		if i := strings.Index(text, ` "$(cat <<`); i > 0 {
			text = text[:i]
		}
		b.WriteString(text)
	}
	if b.Len() == 0 {
		return segments[0].text
	}
	return b.String()
}

// joint returns what stands between the text so far and a segment.
func joint(before string, seg segment) string {
	switch last := before[strings.LastIndexAny(before, " \t")+1:]; {
	case last == "do" || last == "then" || last == "else" || last == "{" || last == "(":
		return " "
	case seg.after == "\n" || seg.after == ";":
		return "; "
	}
	return " " + seg.after + " "
}

// passesOn says whether a filter only leaves lines out: what is left are the words of the program before it.
func passesOn(seg segment) bool {
	w := words(seg.text)
	switch w[0] {
	case "head", "tail", "less", "cat", "tee":
		return true
	case "grep", "rg", "egrep":
		return !slices.ContainsFunc(w[1:], func(word string) bool {
			return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.Contains(word, "c") || word == "--count"
		})
	}
	return false
}

// segment is one command of a command line.
type segment struct {
	text string
	// after is what stands between it and the one before it, and piped says that it reads that one's output.
	after string
	piped bool
	// masked says that the line can succeed although this command failed: something other than && follows.
	masked bool
}

func segmentProgram(s segment) string {
	w := words(s.text)
	if len(w) == 0 {
		return ""
	}
	return w[0]
}

// maxSegments limits how many commands of a script are read.
const maxSegments = 24

// splitCommand splits a line at &&, ||, ;, | and line ends outside of quotes.
func splitCommand(line string) []segment {
	var segments []segment
	start, quote, after := 0, byte(0), ""
	add := func(end int, next string) {
		if text := strings.TrimSpace(line[start:end]); text != "" && text[0] != '#' {
			masked := end < len(line) && line[end] != '&' && strings.TrimSpace(line[end+1:]) != ""
			segments = append(segments, segment{text: text, after: after, piped: after == "|", masked: masked})
		}
		after = next
	}
	for i := 0; i < len(line) && len(segments) < maxSegments; i++ {
		b := line[i]
		switch {
		case b == '\\':
			i++
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '\'' || b == '"':
			quote = b
		case b == '&' && i+1 < len(line) && line[i+1] == '&', b == '|' && i+1 < len(line) && line[i+1] == '|':
			add(i, line[i:i+2])
			i++
			start = i + 1
		case b == ';' || b == '\n' || b == '|':
			add(i, line[i:i+1])
			start = i + 1
		}
	}
	if len(segments) < maxSegments && start <= len(line) {
		add(len(line), "")
	}
	return segments
}

// words splits a command at white space. It removes quotes, and assignments before the program.
func words(text string) []string {
	var list []string
	for len(text) > 0 && len(list) < 64 {
		text = strings.TrimLeft(text, " \t\r\n")
		if text == "" {
			break
		}
		var word string
		if q := text[0]; q == '\'' || q == '"' {
			end := strings.IndexByte(text[1:], q)
			if end < 0 {
				word, text = text[1:], ""
			} else {
				word, text = text[1:1+end], text[end+2:]
			}
		} else {
			end := strings.IndexAny(text, " \t\r\n")
			if end < 0 {
				end = len(text)
			}
			word, text = text[:end], text[end:]
		}
		if len(list) == 0 {
			if variable, inner, ok := strings.Cut(word, "=$("); ok && !strings.ContainsAny(variable, "/-. ") {
				// What matters is the command whose output is assigned.
				text = inner + text
				continue
			}
			if i := strings.IndexByte(word, '='); i > 0 && !strings.ContainsAny(word[:i], "/-.") || word == "sudo" || word == "time" || word == "env" {
				continue
			}
			word = word[strings.LastIndexByte(word, '/')+1:]
		}
		list = append(list, word)
	}
	return list
}

func isFilter(program string) bool {
	switch program {
	case "head", "tail", "grep", "rg", "egrep", "sort", "uniq", "wc", "less", "cat", "sed", "awk", "cut", "tr", "tee", "column", "xargs", "jq":
		return true
	}
	return false
}

// isPreparation says whether a program only prepares for the commands after it.
func isPreparation(program string) bool {
	switch program {
	case "cd", "export", "source", ".", "set", "echo", "mkdir", "sleep", "pushd", "popd", "unset", "true", "printf":
		return true
	}
	return false
}

// asksAbout says whether a command only asks a program for its version or its usage.
func asksAbout(w []string) bool {
	last := w[len(w)-1]
	return last == "--version" || last == "--help" || len(w) == 2 && (last == "-V" || last == "version" || last == "help")
}

// goLookUps are subcommands of go that change nothing.
var goLookUps = wordSet("doc env list version tool")

// isChange says whether a command does something, and not only reads.
func isChange(w []string) bool {
	if reads, known := programReads(w); known {
		return !reads
	}
	if asksAbout(w) {
		return false
	}
	switch w[0] {
	case "cat", "ls", "head", "tail", "grep", "rg", "egrep", "fgrep", "find", "fd", "pwd", "echo", "which", "wc", "tree", "diff", "file", "stat",
		"printenv", "nl", "less", "more", "cd", "type", "ps", "du", "df", "date", "jq", "awk", "sort", "uniq", "whoami", "uname", "id",
		"export", "source", "set", "sleep", "true", "printf", "test", "[", "xxd", "hexdump", "od", "history", "top", "lsof", "journalctl", "dmesg", "man", "command", "for", "do", "done", "if", "then", "fi", "else", "while":
		return false
	case "sed":
		return len(w) > 1 && strings.HasPrefix(w[1], "-i")
	case "git":
		for _, word := range w[1:] {
			if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "/") {
				continue
			}
			switch word {
			case "status", "diff", "log", "show", "branch", "rev-parse", "blame", "ls-files", "remote", "describe", "config", "ls-tree", "cat-file",
				"for-each-ref", "rev-list", "reflog", "grep", "check-ignore", "ls-remote", "fetch", "merge-base", "name-rev", "--no-pager":
				return false
			}
			return true
		}
		return false
	case "go":
		if len(w) > 2 && w[1] == "mod" {
			return w[2] != "graph" && w[2] != "why"
		}
		return len(w) < 2 || !goLookUps[w[1]]
	case "gh":
		return len(w) > 2 && w[2] != "view" && w[2] != "list" && w[2] != "diff" && w[2] != "status" && w[1] != "api" && w[2] != "checks"
	}
	return true
}

package extractive

import "strings"

// toolClass says what a tool does, as far as its name and arguments show.
type toolClass uint8

const (
	// classOther has an effect: it books, sends or updates something.
	classOther toolClass = iota
	// classLook returns content and changes nothing.
	classLook
	// classReadFile and classWriteFile work on files.
	classReadFile
	classWriteFile
	// classCommand runs a command line or a script.
	classCommand
	// classTodo keeps a to-do list.
	classTodo
	// classThink does nothing.
	classThink
	// classStep is a step in a user interface.
	classStep
)

var (
	pathKeys = []string{"file_path", "path", "filename", "file", "filePath", "notebook_path", "target_file", "absolute_path", "relative_path", "TargetFile", "uri"}
	// directoryKeys are fields with the directory that a command runs in.
	directoryKeys = []string{"cwd", "workdir", "working_directory", "workingDirectory", "working_dir", "Cwd"}
	commandKeys   = []string{"command", "cmd", "script", "code", "commands", "chars", "CommandLine"}
)

// toolClassOf returns a tool's class. What the arguments say about a call counts more than the tool's name.
func toolClassOf(name string, args []argument) toolClass {
	n := nameOf(name)
	_, hasPath := find(args, pathKeys...)
	switch {
	case n.keepsTodos():
		return classTodo
	case n.is("think"), n.is("finish"), n.is("submit"), n.is("exit", "plan", "mode"), n.is("enter", "plan", "mode"), n.is("tool", "search"),
		n.is("exitplanmode"), n.is("enterplanmode"), n.is("toolsearch"):
		return classThink
	case n.is("apply", "patch"), n.is("applypatch"):
		return classWriteFile
	}
	if cmd, ok := find(args, commandKeys...); ok {
		switch {
		case hasPath && n.has(editorWords):
			if cmd.text() == "view" {
				return classReadFile
			}
			return classWriteFile
		case n.has(shellWords), !hasPath && isCommandLine(cmd):
			return classCommand
		}
	}
	if _, ok := programLine(n, args); ok {
		return classCommand
	}
	if hasPath && n.has(fileWords) {
		return classWriteFile
	}
	if class, ok := classOfArguments(n, args); ok {
		return class
	}
	switch {
	case n.isStep():
		return classStep
	case n.looks():
		if hasPath && n.has(readWords) && !n.has(listWords) {
			return classReadFile
		}
		return classLook
	case !n.hasEffect() && hasPath && n.has(readWords):
		return classReadFile
	}
	return classOther
}

// call is a tool call that waits for its result.
type call struct {
	index uint32
	name  string
	class toolClass
	args  []argument
	cmd   *command
	files []touch
	// process is the id of the process in which its command goes on.
	process string
	// returned is its result.
	returned payload
}

// newCall reads a tool call.
func newCall(index uint32, name, arguments string) *call {
	c := &call{index: index, name: plainName(name)}
	c.args = ownArguments(arguments)
	c.class = toolClassOf(name, c.args)
	switch c.class {
	case classCommand:
		line := ""
		if said, ok := programLine(nameOf(name), c.args); ok {
			line = said
		} else if a, ok := find(c.args, commandKeys...); ok {
			if list := a.strings(); len(list) > 0 {
				// A program and its arguments. A shell's script is the last of them.
				line = strings.Join(list, " ")
				if len(list) == 3 && strings.HasPrefix(list[1], "-") && strings.HasSuffix(list[1], "c") {
					line = list[2]
				}
			} else {
				line = a.text()
			}
		}
		parsed := parseCommand(line)
		if isCode(line) {
			parsed = codeCommand(line)
		}
		parsed.showWhole()
		c.cmd = &parsed
		c.files = parsed.files
	case classReadFile, classWriteFile:
		if a, ok := find(c.args, pathKeys...); ok && a.isString() {
			c.files = append(c.files, touch{
				path: oneLine(clip(a.text(), 1024)), modified: c.class == classWriteFile, discarded: c.class == classWriteFile && deletes(name),
			})
		} else if c.class == classWriteFile {
			c.files = patchedFiles(arguments)
		}
	default:
	}
	return c
}

// acts says whether the call changes something.
func (c *call) acts() bool {
	switch c.class {
	case classCommand:
		return !c.cmd.reads
	case classWriteFile, classOther:
		return true
	default:
		return false
	}
}

// deletes says whether a tool of this name deletes files.
func deletes(name string) bool {
	return containsAnyCase(name, "delete") || containsAnyCase(name, "remove")
}

// patchedFiles returns the files that the headers of a patch name.
func patchedFiles(patch string) []touch {
	var files []touch
	for len(files) < 64 {
		i := strings.Index(patch, "*** ")
		if i < 0 {
			break
		}
		patch = patch[i+len("*** "):]
		for _, verb := range []string{"Update File: ", "Add File: ", "Delete File: ", "Move to: "} {
			if rest, ok := strings.CutPrefix(patch, verb); ok {
				// The end of the line is escaped if the patch is a JSON string.
				end := strings.IndexAny(rest, "\n\\\"")
				if end < 0 {
					end = len(rest)
				}
				files = append(files, touch{path: strings.Clone(oneLine(clip(rest[:end], 1024))), modified: true, discarded: verb == "Delete File: "})
			}
		}
	}
	return files
}

// subject is what an error of the call is about: a file, or the call itself.
func (c *call) subject() string {
	if c.class != classCommand && len(c.files) > 0 {
		return c.files[0].path
	}
	return c.shown()
}

// shown describes the call in a few words: the tool, and a file or scalar arguments.
func (c *call) shown() string {
	if c.cmd != nil {
		return c.cmd.quoted()
	}
	var b strings.Builder
	b.WriteString("`" + oneLine(c.name) + "`")
	if len(c.files) > 0 {
		b.WriteString(" " + shownPath(shorten(c.files[0].path, 120)))
		return b.String()
	}
	for i, a := range c.args {
		if i == 6 {
			break
		}
		if strings.HasPrefix(a.raw, "{") || strings.HasPrefix(a.raw, "[") {
			continue
		}
		b.WriteString(" " + plainName(a.key) + "=" + shownValue(a.text()))
	}
	return shorten(b.String(), 200)
}

// shownValue returns the value of an argument: a long text shortened, and a long word, such as a path, whole or not at all.
func shownValue(text string) string {
	const longestText = 60
	value := oneLine(clip(text, 512))
	if units(value) > longestText && !strings.Contains(value, " ") {
		if units(value) > longestValue {
			return "…"
		}
		return value
	}
	return shorten(value, longestText)
}

// longestValue is how long a single word in the arguments of a call can be, in units.
const longestValue = 120

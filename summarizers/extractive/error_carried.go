package extractive

import "strings"

// carryFailure reads from the text of an error in a previous summary what later calls can resolve.
func (it *item) carryFailure() {
	if said, ok := strings.CutPrefix(it.text, modelFailed); ok {
		it.tool = "model"
		it.hears(modelFailed, said, "")
		return
	}
	shown, message, ok := strings.Cut(it.text, failedMark)
	if !ok || !strings.HasPrefix(shown, "`") {
		return
	}
	it.hears(shown+failedMark, message, "")
	f := &failure{shown: shown, message: message}
	if rest, ok := strings.CutPrefix(message, failedTests); ok {
		names, after, _ := strings.Cut(rest, lineBreak)
		f.message = after
		for name := range strings.SplitSeq(strings.TrimSuffix(names, ", …"), ", ") {
			f.tests = append(f.tests, name)
		}
	}
	for part := range strings.SplitSeq(f.message, lineBreak) {
		if file := fileIn(part); file != "" && len(f.files) < maxNamed {
			f.files = append(f.files, file)
		}
	}
	f.missing = missingIn(message)
	f.root = rootOf(f)
	c := &call{name: strings.Trim(shown, "`"), class: classOther}
	if line, after, ok := cutSpans(shown[1:]); ok && after == "" {
		parsed := parseCommand(line)
		if isCode(line) {
			parsed = codeCommand(line)
		}
		// Of a script, only words that a later command can repeat are left.
		parsed.key.once = parsed.key.once || strings.Contains(line, "<<")
		c.cmd, c.class = &parsed, classCommand
		f.ofCommand(c.cmd)
	} else if tool, path, ok := strings.Cut(shown[1:], "` "); ok {
		it.tool, it.path, c.name = tool, shown, tool
		if looksLikeFile(path) {
			it.path = path
		}
		c.class = toolClassOf(tool, []argument{{key: pathKeys[0], raw: `"` + path + `"`}})
	}
	f.life = lifetimeOf(c, f)
	it.failure = f
}

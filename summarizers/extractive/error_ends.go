package extractive

import (
	"slices"
	"strings"
	"sync"
)

// maxErrors is how many open errors are kept while messages are read.
const maxErrors = 200

// fail adds an open error. It replaces an earlier failure of the same command or for the same reason.
func (l *ledger) fail(it *item) {
	l.replace(it, true)
	l.errors = append(l.errors, it)
	if len(l.errors) > maxErrors {
		l.errors = slices.Delete(l.errors, 0, 1)
	}
}

// replace removes the errors that a new failure replaces: its command failed before, or it has the same reason. If
// merge is set, the new failure takes over the citations and commands of those with the same reason. Otherwise those
// stay.
func (l *ledger) replace(it *item, merge bool) {
	l.errors = slices.DeleteFunc(l.errors, func(old *item) bool {
		switch {
		case sameReason(old, it):
			if merge {
				it.takeOver(old)
			}
			return merge
		case old.keyed() == it.keyed():
			return true
		case old.failure == nil || it.failure == nil:
			return false
		}
		return it.repeats(old)
	})
}

// sameReason says whether two errors have the same root or the same failed tests. It takes the tests of the new failure
// out of the old one.
func sameReason(old, it *item) bool {
	a, b := old.failure, it.failure
	if a == nil || b == nil {
		return false
	}
	if a.missing != "" || b.missing != "" {
		return a.root == b.root
	}
	if len(a.tests) > 0 && len(b.tests) > 0 {
		shared := len(a.tests)
		rest := *a
		gone := rest.drop(func(test string) bool { return slices.Contains(b.tests, test) })
		if shared == len(rest.tests) || gone {
			return gone
		}
		old.failure = &rest
		old.retell()
		return false
	}
	return len(a.tests) == 0 && len(b.tests) == 0 && a.root != "" && a.root == b.root
}

// takeOver adds the citations and commands of an error with the same reason.
func (it *item) takeOver(old *item) {
	own := it.cites
	it.addCites(old.cites...)
	if len(own) == 2 && !slices.Contains(it.cites, own[0]) {
		// What the line shows of the call is of its own message.
		it.cites[1] = own[0]
		slices.Sort(it.cites)
	}
	it.score = max(it.score, old.score)
	f := it.failure
	f.life = max(f.life, old.failure.life)
	if f.check == notCheck {
		f.check = old.failure.check
	}
	for _, k := range old.failure.commands {
		if len(f.commands) < 8 {
			f.commands = append(f.commands, k)
		}
	}
}

// repeats says whether a failed call is a new run of one that failed before, so that its error is the current one.
func (it *item) repeats(old *item) bool {
	a, b := old.failure, it.failure
	if len(a.commands) == 0 || len(b.commands) == 0 {
		return len(a.commands) == len(b.commands) && it.tool != "" && old.tool == it.tool && it.path != "" && old.path == it.path
	}
	k := b.commands[0]
	if slices.ContainsFunc(a.commands, k.covers) || old.shownAs(b.shown) {
		return true
	}
	// Tests that ran were built.
	return a.check == builds && b.check == tests && inScope(k, a)
}

// shownAs says whether an error of an earlier summary is of a command that looks like this one. Of a shortened command,
// no more is known.
func (it *item) shownAs(command string) bool { return it.carried && it.failure.shown == command }

// retell writes the text of an error anew.
func (it *item) retell() { it.hears(it.failure.shown+failedMark, it.failure.words(), "") }

// succeed removes the errors that a successful call shows to be resolved.
func (l *ledger) succeed(c *call, output string) {
	if len(l.errors) == 0 {
		return
	}
	var passed map[string]bool
	if slices.ContainsFunc(l.errors, func(e *item) bool { return e.failure != nil && len(e.failure.tests) > 0 }) && c.cmd != nil && c.cmd.checks() {
		passed = passedTests(output)
	}
	shown := sync.OnceValue(c.shown)
	l.errors = slices.DeleteFunc(l.errors, func(e *item) bool {
		if e.failure == nil {
			return e.tool != "" && e.tool == c.name
		}
		if c.cmd != nil && e.endsWith(c.cmd, passed) {
			return true
		}
		return e.tool != "" && c.cmd == nil && (e.tool == c.name && (e.path == shown() || e.failure.isRetried(c)) || e.path != "" && slices.ContainsFunc(c.files, func(f touch) bool { return samePath(f.path, e.path) }))
	})
}

// endsWith says whether the success of a command shows that an error is resolved.
func (it *item) endsWith(cmd *command, passed map[string]bool) bool {
	f := it.failure
	if f.missing != "" && !cmd.reads && (installs(cmd, f.missing) || uses(cmd, f.missing)) {
		return true
	}
	if len(cmd.proved) > 0 && (it.carried && it.shownAs(cmd.quoted()) || installsImported(cmd, f.shown)) {
		return true
	}
	if cmd.runsSelected(f) {
		return true
	}
	for _, k := range cmd.proved {
		if slices.ContainsFunc(f.commands, k.covers) || slices.ContainsFunc(f.commands, k.installsInstead) {
			return true
		}
		if k.program == "git" && len(k.words) > 0 && (k.words[0] == "commit" || k.words[0] == "push") && f.edited > it.newest() {
			// Nobody commits a fix that does not work.
			return true
		}
		if !k.check.proves(f.check) {
			continue
		}
		if len(f.tests) == 0 {
			if len(k.selected) == 0 && inScope(k, f) {
				return true
			}
			continue
		}
		before := len(f.tests)
		if it.passed(k, passed) {
			return true
		}
		if len(f.tests) < before {
			it.retell()
		}
	}
	return false
}

// leastTest is how long the name of a test is at least if a script that has it is sure to run it.
const leastTest = 8

// runsSelected says whether a script that worked has the names of all tests that a runner could not run.
func (c *command) runsSelected(f *failure) bool {
	if len(f.tests) > 0 || !c.key.once || c.reads || len(f.commands) == 0 || len(f.commands[0].selected) == 0 || f.commands[0].check != tests {
		return false
	}
	return !slices.ContainsFunc(f.commands[0].selected, func(test string) bool { return len(test) < leastTest || !strings.Contains(c.said, test) })
}

// passed removes the failed tests that a successful run shows to pass now. It returns true if none is left.
func (it *item) passed(k *commandKey, passed map[string]bool) bool {
	f := it.failure
	whole := len(k.selected) == 0 && inScope(k, f)
	if !whole && elsewhere(k, f) {
		return false
	}
	return f.drop(func(test string) bool {
		name := test[strings.LastIndexAny(test, ":>›")+1:]
		return whole || passed[test] || slices.ContainsFunc(k.selected, func(s string) bool { return strings.Contains(name, s) })
	})
}

// passedTests returns the tests that an output names as passed.
func passedTests(output string) map[string]bool {
	passed := map[string]bool{}
	for line := range strings.Lines(output) {
		if name, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "--- PASS: "); ok {
			name, _, _ = strings.Cut(name, " ")
			passed[name] = true
		} else if name, _, ok := strings.Cut(line, " PASSED"); ok && len(name) < maxIdentifier {
			passed[name] = true
		}
	}
	return passed
}

// elsewhere says whether a check ran in other folders than the ones that a failure is about. A test there can have the
// same name.
func elsewhere(k *commandKey, f *failure) bool {
	folders := slices.DeleteFunc(slices.Clone(k.words), func(w string) bool { return !strings.Contains(w, "/") })
	within := f.folders()
	if len(folders) == 0 || len(within) == 0 {
		return false
	}
	return !slices.ContainsFunc(within, func(file string) bool {
		return slices.ContainsFunc(folders, func(w string) bool { return contains(file, w) || contains(w, file) })
	})
}

// folders returns the files and packages of a failure that say where they are, or the paths of its command.
func (f *failure) folders() []string {
	within := slices.DeleteFunc(slices.Clone(f.files), func(file string) bool { return !strings.Contains(file, "/") })
	if len(within) == 0 && len(f.commands) > 0 {
		within = slices.DeleteFunc(slices.Clone(f.commands[0].words), func(w string) bool { return !isPath(w) })
	}
	return within
}

// inScope says whether a check covers the files that a failure is about.
func inScope(k *commandKey, f *failure) bool {
	if !slices.ContainsFunc(k.words, isPath) {
		return len(f.commands) == 0 || sameTarget(k, f.commands[0])
	}
	within := f.folders()
	for _, file := range within {
		if !slices.ContainsFunc(k.words, func(w string) bool { return isPath(w) && contains(file, w) }) {
			return false
		}
	}
	return len(within) > 0
}

// contains says whether a path has the parts of another one, in their order and without a gap.
func contains(path, parts string) bool {
	return strings.Contains("/"+strings.TrimPrefix(path, "./")+"/", "/"+strings.TrimLeft(parts, "./")+"/")
}

// sameTarget says whether a run without paths has no target that the failed one did not have, and leaves none out.
func sameTarget(k, failed *commandKey) bool {
	if k.check == checksAll {
		return true
	}
	own, other := targets(k), targets(failed)
	for _, t := range own {
		if !slices.Contains(other, t) && !slices.ContainsFunc(failed.words, func(w string) bool { return strings.Contains(w, t) }) {
			return false
		}
	}
	return k.program != failed.program || len(own) >= len(other)
}

// targets returns what the words of a check say beside its kind: `integration` in `test:integration`.
func targets(k *commandKey) []string {
	var list []string
	for _, word := range k.words {
		if isPath(word) {
			continue
		}
		for _, part := range strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return strings.ContainsRune(":-.", r) }) {
			if _, known := checkWords[part]; !known && part != "run" && part != "all" && len(list) < maxWords {
				list = append(list, part)
			}
		}
	}
	return list
}

// installs says whether a command installed a program or module.
func installs(cmd *command, missing string) bool {
	for _, k := range cmd.proved {
		if len(k.words) == 0 && (k.program == "yarn" || k.program == "pnpm") {
			return true
		}
		if len(k.words) == 0 {
			continue
		}
		switch k.words[0] {
		case "install", "add", "get", "i", "ci", "sync", "restore", "-S":
		default:
			continue
		}
		// Without a name, all that the project needs is installed.
		if len(k.words) == 1 {
			return true
		}
		for _, word := range k.words[1:] {
			if word[0] == '.' || isPath(word) && !strings.Contains(word, "@") || samePackage(word, missing) {
				return true
			}
		}
	}
	return false
}

// installsImported says whether a command installed a package that a failed command imports.
func installsImported(cmd *command, failed string) bool {
	if !strings.Contains(failed, "import ") {
		return false
	}
	return slices.ContainsFunc(cmd.proved, func(k *commandKey) bool {
		return len(k.words) > 1 && installing[k.words[0]] && slices.ContainsFunc(k.words[1:], func(w string) bool {
			stem := stemOf(w)
			return stem != "" && (strings.Contains(failed, "import "+stem) || strings.Contains(failed, "from "+stem))
		})
	})
}

// samePackage says whether a package has a name, apart from its version.
func samePackage(word, name string) bool {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "-")) }
	word, name = plain(word), plain(name)
	return strings.Contains(word, name)
}

// uses says whether a command runs a program or imports a module.
func uses(cmd *command, name string) bool {
	for _, k := range cmd.proved {
		if k.program == name {
			return true
		}
	}
	for _, before := range []string{"import ", "from ", "require('", "require(\"", "-m "} {
		if strings.Contains(cmd.said, before+name) {
			return true
		}
	}
	return false
}

// edit notes that a file was changed which errors are about.
func (l *ledger) edit(t touch, index uint32) {
	if !t.modified || len(l.errors) == 0 {
		return
	}
	l.errors = slices.DeleteFunc(l.errors, func(e *item) bool {
		f := e.failure
		if f == nil {
			return false
		}
		about := slices.ContainsFunc(f.files, func(file string) bool { return sameFile(file, t.path) })
		script := slices.ContainsFunc(f.commands, func(k *commandKey) bool { return k.script != "" && k.script == baseOf(t.path) })
		if about || script {
			f.edited = max(f.edited, index)
		}
		if !t.discarded {
			return false
		}
		if about {
			f.files = slices.DeleteFunc(slices.Clone(f.files), func(file string) bool { return sameFile(file, t.path) })
		}
		return script || about && len(f.files) == 0
	})
}

// wentOn removes the errors of attempts that were replaced: another script ran, or a file was changed in another way. A check
// replaces no attempt: what it proves, it ends.
func (l *ledger) wentOn(c *call) {
	if len(l.errors) == 0 || !c.acts() || c.cmd != nil && c.cmd.key.check != notCheck {
		return
	}
	ran := c.cmd != nil && c.cmd.key.isScript() && !c.cmd.writesOnly()
	l.errors = slices.DeleteFunc(l.errors, func(e *item) bool {
		f := e.failure
		return f != nil && f.life == brief && (ran || len(f.commands) == 0 || !f.commands[0].isScript())
	})
}

// sameFile says whether two paths may be those of one file, seen from different folders.
func sameFile(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for strings.HasPrefix(a, "../") || strings.HasPrefix(a, "./") {
		_, a, _ = strings.Cut(a, "/")
	}
	return a == b || strings.HasSuffix(b, "/"+a)
}

// repaired removes the errors whose identifiers a sentence names as repaired.
func (l *ledger) repaired(sentence string) {
	if len(l.errors) == 0 {
		return
	}
	var codes []string
	eachIdentifier(sentence, func(word string, what identifier) {
		if len(codes) < 16 && (what == codeNumber || what == codeName && len(word) > 4) {
			codes = append(codes, word)
		}
	})
	if len(codes) == 0 {
		return
	}
	l.errors = slices.DeleteFunc(l.errors, func(e *item) bool {
		for _, code := range codes {
			if strings.Contains(e.text, code) {
				return true
			}
		}
		return false
	})
}

// wrote says whether the agent wrote the script that a command runs.
func (l *ledger) wrote(c *call) bool {
	script := c.cmd.key.script
	return script != "" && (l.written[script] || strings.Contains(c.cmd.said, "/tmp/") ||
		slices.ContainsFunc(c.files, func(t touch) bool { return t.modified && baseOf(t.path) == script }))
}

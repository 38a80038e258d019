package extractive

import (
	"slices"
	"strings"
)

// failure is what is known about an open error beside its text.
type failure struct {
	// shown is the call that failed. It is empty for errors that somebody told.
	shown string
	// message is the error, in a few lines of the output, and tests are the tests that failed.
	message string
	tests   []string
	// commands are commands that failed because of it.
	commands []*commandKey
	// check is the kind of check that found it.
	check check
	// files are the files and packages that the message names, and missing is a program or a module that it misses.
	files   []string
	missing string
	// root is the error without what differs from run to run. It is empty if the message says too little.
	root string
	// args are the arguments of a call that is no command.
	args []argument
	// life is how long it matters, if nothing shows how it ended.
	life lifetime
	// edited is the latest message that changed one of its files.
	edited uint32
}

// lifetime says how long an error matters, if nothing shows how it ended.
type lifetime uint8

const (
	// untilNext is for look-ups and slips: the agent sees at once what is wrong. It is also for obstacles that the agent
	// tells: work that goes on was not stopped by them.
	untilNext lifetime = iota
	// brief is for attempts, as scripts for one use: the agent tries again or in another way.
	brief
	// untilAsked is for steps with git: the agent mends them at once, or asks the user.
	untilAsked
	// passing is for what the user shows.
	passing
	// untilTried is for installations: the agent tries them again soon, or does without.
	untilTried
	// lasting is for other commands and calls, and for what the environment does not have.
	lasting
	// checked is for checks: tests, builds and the like are repeated.
	checked
)

// messages is after how many messages an error is dropped.
func (s lifetime) messages() uint32 {
	switch s {
	case untilNext:
		return 0
	case brief:
		return 6
	case untilAsked, passing, untilTried:
		return 30
	default:
		return 250
	}
}

// editedLife is after how many messages an error is dropped whose file was changed and which was not seen again.
const editedLife = 30

// over says whether an error is too old to matter. `last` is the latest message, and next the latest one that says
// something, calls a tool or holds a result. spoken is the user's last message.
func (it *item) over(last, next, spoken uint32) bool {
	f, at := it.failure, it.newest()
	if f == nil || len(it.cites) == 0 {
		return false
	}
	if f.life == untilNext {
		return next > at
	}
	if f.life == untilAsked && spoken > at {
		return true
	}
	return at+f.life.messages() < last || f.edited > at && f.edited+editedLife < last
}

// maxErrorText is how many units of an error are kept.
const maxErrorText = 420

// maxTests is how many failed tests are named.
const maxTests = 6

// words returns what the tool says about it.
func (f *failure) words() string {
	var b strings.Builder
	if len(f.tests) > 0 {
		b.WriteString(failedTests + strings.Join(f.tests[:min(len(f.tests), maxTests)], ", "))
		if more := len(f.tests) - maxTests; more > 0 {
			b.WriteString(", …")
		}
		if f.message != "" {
			b.WriteString(lineBreak)
		}
	}
	b.WriteString(f.message)
	return b.String()
}

const (
	// failedMark stands between a call and its error.
	failedMark = " failed: "
	// failedTests begins the list of failed tests.
	failedTests = "FAIL "
)

// failureOf returns what a failed call tells.
func failureOf(c *call, o outcome) *failure {
	f := &failure{shown: c.shown(), message: o.errors, tests: o.tests, files: o.files, missing: missingIn(o.errors)}
	f.root = rootOf(f)
	f.life = lifetimeOf(c, f)
	if c.cmd != nil {
		f.ofCommand(c.cmd)
	} else {
		f.args = shortArguments(c.args)
	}
	return f
}

// ofCommand notes which command failed. If the message names tests or files, any check of the line may be the one.
func (f *failure) ofCommand(cmd *command) {
	f.commands = []*commandKey{cmd.key}
	run := cmd.key.check
	if run != notCheck && len(f.files) == 0 {
		f.files = slices.DeleteFunc(slices.Clone(cmd.key.words), func(w string) bool { return !hasExtension(w) })
	}
	for _, k := range cmd.changing {
		if run == notCheck && len(f.files)+len(f.tests) > 0 {
			run = k.check
		}
	}
	f.check = checkFailed(run, f)
}

// checkFailed returns the kind of check that a failure belongs to: a test that does not compile fails to build.
func checkFailed(run check, f *failure) check {
	switch {
	case run == notCheck:
		return notCheck
	case len(f.tests) > 0:
		return tests
	case len(f.files) > 0 && saysUncompiled(f.message):
		return builds
	case run == builds && len(f.files) == 0:
		// It may have run something else than a compiler.
		return notCheck
	case run == checksAll:
		return lints
	}
	return run
}

// saysUncompiled says whether a message comes from a compiler, whatever ran it.
func saysUncompiled(message string) bool { return uncompiled.in(message) }

var uncompiled = inAnyCase(
	"typecheck", "undefined:", "undefined (", "syntax error", "syntaxerror", "indentationerror", "imported and not used", "declared and not used", "cannot find name",
	"cannot find module", "error ts", "error[e", "undeclared", "redeclared", "build failed", "cannot use ", "has no field or method", "missing return", "not assignable",
	"does not exist on type", "import cycle",
)

// lifetimeOf returns how long a failure of a call matters.
func lifetimeOf(c *call, f *failure) lifetime {
	switch {
	case isSlip(f.message), c.cmd != nil && c.cmd.hasCode() && containsAnyCase(f.message, "syntaxerror"):
		return untilNext
	case f.missing != "":
		return lasting
	}
	switch c.class {
	case classCommand:
		k := c.cmd.key
		switch {
		case c.cmd.reads:
			return untilNext
		case k.once && !c.cmd.code && !strings.Contains(c.cmd.said, "<<"):
			// Such a probe asks a question, and the error is the answer.
			return untilNext
		case k.once, isAttempt(k.program):
			return brief
		case k.program == "git":
			return untilAsked
		case k.program != "make" && len(k.words) > 1 && installing[k.words[0]]:
			return untilTried
		case k.check != notCheck, milestone(c.cmd.shown):
			return checked
		}
		return lasting
	case classOther:
		return lasting
	default:
		return untilNext
	}
}

// isAttempt says whether a program changes files or fetches something, which is done in another way if it fails.
func isAttempt(program string) bool {
	switch program {
	case "patch", "sed", "awk", "perl", "mv", "cp", "rm", "mkdir", "chmod", "touch", "tee", "cat", "echo", "printf", "curl", "wget", "kill", "pkill", "tar",
		"unzip", "gh", "glab", "ln", "cd", "open", "code", "jq", "xargs", "find":
		return true
	}
	return false
}

// isSlip says whether a message is about how a call was written, and not about what it does.
func isSlip(message string) bool {
	return slips.in(message) || strings.Contains(message, "cd:") && containsAnyCase(message, "no such file")
}

var slips = inAnyCase(
	"validation error", "validationerror", "unexpected parameter", "invalid parameter", "unknown parameter", "missing required", "required parameter",
	"required property", "no such option", "unknown option", "unknown flag", "unrecognized argument", "unrecognized option", "invalid option",
	"illegal option", "unknown command", "unknown shorthand", "parse error near", "syntax error near", "unexpected end of file", "unexpected eof",
	"no matches found:", "unterminated quoted", "unmatched \"", "unmatched '", "bad substitution", "event not found", "file or directory not found",
	"no rule to make target", "missing script:", "outside of the workspace", "must be within",
)

// rootOf returns the error without what differs from run to run.
func rootOf(f *failure) string {
	if f.missing != "" {
		return "missing " + f.missing
	}
	line, best := "", 0
	for part := range strings.SplitSeq(f.message, lineBreak) {
		score, _ := errorScore(part)
		if weight := 2*score + detail(part); score > 0 && weight > best {
			line, best = part, weight
		}
	}
	message := complains(line)
	if message != "" {
		line = message
	}
	if message == "" && strings.Count(line, " ") < 3 {
		return ""
	}
	// Line numbers and counts differ; an error's number has letters or is longer.
	return keyOf(strings.Join(slices.DeleteFunc(strings.Fields(line), func(w string) bool {
		return len(w) < 4 && strings.Trim(w, "0123456789()[],.:") == ""
	}), " "))
}

// missingIn returns the program or module that an error message says is not there.
func missingIn(message string) string {
	for _, before := range []string{"No module named ", "Cannot find module ", "Cannot find package ", "Can't locate ", "cannot load such file -- ", "command not found: "} {
		if _, rest, ok := strings.Cut(message, before); ok {
			return moduleAt(rest)
		}
	}
	if _, rest, ok := strings.Cut(message, "exec: "); ok && strings.Contains(rest, "executable file not found") {
		return moduleAt(rest)
	}
	if _, rest, ok := strings.Cut(message, "spawn "); ok && strings.Contains(message, "ENOENT") {
		return baseOf(strings.Trim(strings.Fields(rest + " .")[0], "'\"`,;:"))
	}
	if before, _, ok := strings.Cut(message, ": command not found"); ok {
		return before[strings.LastIndexAny(before, " :\t")+1:]
	}
	// A name that an installed module does not have is missing like a module.
	if _, rest, ok := strings.Cut(message, "cannot import name "); ok {
		if name := moduleAt(rest); strings.Contains(rest, "site-packages") || strings.Contains(rest, "/lib/python") {
			return name
		}
	}
	return ""
}

// moduleAt returns the module that a text begins with. A file of the project is none.
func moduleAt(text string) string {
	text = strings.TrimLeft(text, "'\"`")
	end := strings.IndexAny(text, "'\"`: \t,;)")
	if end < 0 {
		end = len(text)
	}
	name := text[:end]
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") {
		return ""
	}
	if !strings.HasPrefix(name, "@") {
		// A package is installed as a whole.
		name, _, _ = strings.Cut(name, "/")
	}
	name, _, _ = strings.Cut(name, ".")
	return name
}

// drop removes the tests that passed. It returns true if none is left.
func (f *failure) drop(passed func(test string) bool) bool {
	before := len(f.tests)
	f.tests = slices.DeleteFunc(slices.Clone(f.tests), passed)
	if len(f.tests) < before {
		// The message may be about a test that passed.
		f.message = ""
	}
	return len(f.tests) == 0
}

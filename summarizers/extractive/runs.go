package extractive

import (
	"cmp"
	"slices"
	"strings"
)

// run is what is known about the latest run of a command, beside its line.
type run struct {
	// told is the line without the outcome, and endings are the last lines of the output, the last one first.
	told    string
	endings []string
	// checks are the keys of the checks in it, program is the main one, and script the file that it ran.
	checks          []*commandKey
	program, script string
	// files are those that it changed, and at its message.
	files []touch
	at    uint32
}

// ranPrefix begins lines about commands.
const ranPrefix = "Ran `"

// silent is the outcome of a command that worked and wrote nothing.
const silent = "no output"

// tellRun records a command that worked.
func (r *reader) tellRun(index uint32, c *call, o outcome, output string) {
	if c.cmd.reads || !c.cmd.writesOnly() && r.l.commit(index, c, output) {
		return
	}
	r.endStep(index, c, cmp.Or(o.closing, silent))
	if c.cmd.writesOnly() || c.cmd.onlyTries(o) {
		return
	}
	now := &run{told: ranPrefix + c.cmd.quoted()[1:], program: c.cmd.key.program, script: c.cmd.key.script, at: c.index}
	for _, ending := range []string{o.closing, o.opening} {
		if ending != "" {
			now.endings = append(now.endings, ending)
		}
	}
	for _, k := range c.cmd.changing {
		if k.check != notCheck {
			now.checks = append(now.checks, k)
		}
	}
	now.files = slices.DeleteFunc(slices.Clone(c.files), func(t touch) bool { return !t.modified })
	r.l.countEnding(now)
	r.ran(index, c, "", c.cmd.runScore())
	key := c.doneKey()
	if it := r.l.commands[key]; it != nil {
		it.run = now
		it.retellRun()
		r.l.recent = append(slices.DeleteFunc(r.l.recent, func(known string) bool { return known == key }), key)
		r.l.recent = r.l.recent[max(0, len(r.l.recent)-maxRecent):]
	}
}

// endStep says in the last step how its call ended. A line under Done says it, too, but not every call has one. The end of
// a document in JSON says nothing.
func (r *reader) endStep(index uint32, c *call, ending string) {
	if step := r.stepOf(c); step != nil && !strings.HasPrefix(ending, "{") {
		step.hearsOutcome(step.text+outcomeMark, ending)
		step.addCites(index)
	}
}

// How a call ended that did not work. What it said is under Blocked, as long as it matters.
const (
	failedStep    = " failed"
	declinedStep  = " was declined by the user"
	cancelledStep = " was cancelled"
)

// closeStep says in the last step that its call did not work.
func (r *reader) closeStep(index uint32, c *call, how string) {
	if step := r.stepOf(c); step != nil {
		step.text += how
		step.addCites(index)
	}
}

// stepTurns is after how many messages of the user the last step is of no use: they talk about something else.
const stepTurns = 2

// leaveStep drops the last step once the user has said more than one thing since the agent answered.
func (r *reader) leaveStep() {
	if r.answered && !r.working {
		r.sinceStep++
	}
	if r.sinceStep >= stepTurns {
		r.l.lastStep = nil
	}
}

// stepOf returns the last step if it is this call, and nobody knows yet how it ended.
func (r *reader) stepOf(c *call) *item {
	if step := r.l.lastStep; step != nil && !step.carried && step.text == c.shown() && step.newest() == c.index {
		return step
	}
	return nil
}

// retellRun writes the line about a run anew.
func (it *item) retellRun() {
	told := it.run.told + outcomeMark
	if len(it.run.endings) == 0 {
		it.hears(told+silent, "", "")
		return
	}
	it.hearsOutcome(told, it.run.endings[0])
}

// worksOnly is an outcome that is not shown in the tool's words.
const worksOnly = "ok"

// hearsOutcome sets the text of a line that ends with the outcome of a command.
func (it *item) hearsOutcome(told, outcome string) {
	if outcome == worksOnly || outcome == silent {
		it.hears(told+outcome, "", "")
		return
	}
	it.hears(told, outcome, "")
}

// onlyTries says whether a command tried something out: a script in the command line, which is gone now.
func (c *command) onlyTries(o outcome) bool {
	switch {
	case len(c.files) > 0:
		return false
	case c.key.once && isInterpreter(c.key.program):
		return true
	case o.closing == "" && (isPreparation(c.key.program) || c.key.program == "git" && len(c.key.words) > 0 && c.key.words[0] == "add"):
		return true
	}
	return false
}

// runScore ranks a command among what was done.
func (c *command) runScore() int {
	switch {
	case c.key.once:
		return 0
	case c.key.script == "" && milestone(c.shown) || c.checks():
		return 7
	}
	return 3
}

// fewPrograms is how many programs end their outputs with the same line if that line is not theirs.
const fewPrograms = 3

// countEnding counts the programs that end with a line.
func (l *ledger) countEnding(r *run) {
	if len(r.endings) == 0 {
		return
	}
	key := masked(r.endings[0])
	by := l.endings[key]
	if len(by) < fewPrograms && !slices.Contains(by, r.program) && (by != nil || len(l.endings) < maxKept) {
		l.endings[key] = append(by, r.program)
	}
}

// masked returns a line without its paths and numbers.
func masked(line string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(line), func(w string) bool { return strings.Contains(w, "/") || hasDigit(w) }), " ")
}

// settleRuns writes the outcomes of commands anew: a line that ends the outputs of several programs is of what ran them.
func (r *reader) settleRuns() {
	for _, it := range r.l.commands {
		if it.run == nil || len(it.run.endings) == 0 || allIsWell(it.run.endings[0]) || len(r.l.endings[masked(it.run.endings[0])]) < fewPrograms {
			continue
		}
		it.run.endings = it.run.endings[1:]
		it.retellRun()
	}
}

// outdate removes the runs of checks that succeeded before one failed: of the same check, and of others if something was
// changed since.
func (l *ledger) outdate(failed *command) {
	if !failed.checks() {
		return
	}
	l.dropRuns(func(r *run) bool { return len(r.checks) > 0 && (r.at < l.changed || r.comparesTo(failed)) })
}

// maxRecent is how many of the latest runs are compared with what comes later.
const maxRecent = 100

// dropRuns removes the lines of recent runs.
func (l *ledger) dropRuns(gone func(*run) bool) {
	l.recent = slices.DeleteFunc(l.recent, func(key string) bool {
		it := l.commands[key]
		if it == nil || it.run == nil || !gone(it.run) {
			return it == nil
		}
		delete(l.commands, key)
		return true
	})
}

// comparesTo says whether one of a run's checks is the same as one of a command, or a part of it.
func (r *run) comparesTo(cmd *command) bool {
	return slices.ContainsFunc(r.checks, func(k *commandKey) bool {
		return slices.ContainsFunc(cmd.changing, func(other *commandKey) bool { return k.covers(other) || other.covers(k) })
	})
}

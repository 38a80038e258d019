package extractive

import (
	"regexp"
	"strings"
	"sync"
)

// A command can go on in the background: its call returns at once, and later calls write to it or ask for its output. What
// these return is the outcome of the command.

// processKeys are arguments that name such a process.
var processKeys = []string{"session_id", "sessionId", "bash_id", "shell_id", "shellId", "process_id", "processId", "terminal_id", "terminalId", "task_id", "job_id", "pid"}

// running matches what a call returns whose command goes on.
var running = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:running|started|launched)\b[^\n]{0,40}?\b(?:session|process|shell|terminal|task|job|with)[ _]?id:? ?"?([\w-]+)`)
})

// maxRunning is how many bytes of a result are looked at for that.
const maxRunning = 512

// runningAs returns the id of the process in which the command of a call goes on, or "".
func (c *call) runningAs(result string) string {
	if c.cmd == nil {
		return ""
	}
	opening := clip(result, maxRunning)
	// The expression is slow.
	if !strings.Contains(opening, "unning") && !strings.Contains(opening, "tarted") && !strings.Contains(opening, "aunched") {
		return ""
	}
	if found := running().FindStringSubmatch(opening); found != nil {
		return found[1]
	}
	return ""
}

// stopping are words of tools that end a process.
var stopping = wordSet("kill stop terminate cancel close")

// goesOnWith returns the call of the command that a later call writes to or asks for output, or the call itself.
func (r *reader) goesOnWith(c *call) *call {
	n := nameOf(c.name)
	id, ok := find(c.args, processKeys...)
	if started := r.processes[id.text()]; ok && started != nil && !n.has(stopping) {
		return started
	}
	if n.has(inputWords) {
		// Nothing is known about the process that it writes to.
		c.class, c.cmd, c.files = classLook, nil, nil
	}
	return c
}

// inputWords are words of tools that write to a process.
var inputWords = wordSet("stdin")

// runs notes that the command of a call goes on. It returns false if it ended.
func (r *reader) runs(c *call, result string) bool {
	id := c.runningAs(result)
	if id == "" {
		return false
	}
	if len(r.processes) < maxKept {
		r.processes[id] = c
	}
	c.process, r.open[asProcess+id] = id, []*call{c}
	return true
}

// ended notes that a command went on no longer.
func (r *reader) ended(c *call) {
	if c.process != "" {
		delete(r.processes, c.process)
		delete(r.open, asProcess+c.process)
	}
}

// asProcess begins the keys of commands that go on among the calls that wait for a result.
const asProcess = "process "

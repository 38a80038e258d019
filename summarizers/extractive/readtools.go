package extractive

import (
	"strconv"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// call reads a tool call. Its outcome is known when its result is read.
func (r *reader) call(index uint32, tc *compactordv1.ToolCall) {
	c := newCall(index, tc.GetName(), tc.GetArguments())
	switch c.class {
	case classTodo:
		r.todo(index, c)
		return
	case classThink:
		if a, ok := find(c.args, "thought", "plan"); ok && a.isString() {
			r.prose(index, a.text(), 0)
		}
		return
	default:
	}
	c = r.goesOnWith(c)
	if c.cmd != nil {
		r.l.workIn(c.cmd.dir, changedTo, true, index)
	}
	if dir, ok := find(c.args, directoryKeys...); ok && dir.isString() {
		r.l.workIn(dir.text(), ownOfACall, true, index)
	}
	r.latest, r.lastArgs = index, c.args
	r.called, r.sinceStep = true, 0
	r.l.lastStep = &item{kind: kindDoing, text: c.shown(), cites: []uint32{c.index}, passing: true}
	if len(r.open) >= maxOpenWhole {
		c.args = shortArguments(c.args)
	}
	id := tc.GetId()
	r.open[id] = append(r.open[id], c)
}

// maxOpenWhole is how many calls can wait for results with all of their arguments.
const maxOpenWhole = 64

// todo reads a call that writes the to-do list or one of its tasks.
func (r *reader) todo(index uint32, c *call) {
	if list, ok := todosOf(c.args); ok {
		if merge, _ := find(c.args, "merge"); merge.raw == "true" {
			r.l.changeTodos(index, list)
		} else {
			r.l.setTodos(index, list)
		}
		return
	}
	if id, ok := find(c.args, "taskId", "task_id", "id"); ok {
		status, _ := find(c.args, todoStateKeys...)
		if n, err := strconv.Atoi(id.text()); err == nil && status.raw != "" {
			r.task(index, n, stateOf(status.text()))
		}
		return
	}
	if subject, ok := find(c.args, "subject", "title", "content"); ok && len(r.l.todos) < maxTodos {
		r.tasks++
		text := taskLabel(r.tasks, oneLine(clip(subject.text(), 2048)))
		r.l.list(&item{kind: kindNext, text: text, box: openBox, cites: []uint32{index}})
	}
}

// task changes the state of a numbered task.
func (r *reader) task(index uint32, number int, state todoState) {
	for i, it := range r.l.todos {
		n, ok := taskNumber(it.text)
		if !ok || n != number {
			continue
		}
		r.l.todos = append(r.l.todos[:i:i], r.l.todos[i+1:]...)
		others := len(r.l.todos)
		r.l.storeTodo(it, todo{text: it.text, state: state}, index)
		for _, changed := range r.l.todos[others:] {
			// Only its state changed.
			changed.seq = it.seq
		}
		return
	}
}

// result reads the result of a call.
func (r *reader) result(index uint32, res *compactordv1.ToolResult) {
	if res == nil {
		return
	}
	for _, f := range res.GetFiles() {
		r.l.touch(oneLine(clip(f.GetPath(), 4096)), f.GetModified(), "", index)
	}
	var c *call
	if waiting := r.open[res.GetCallId()]; len(waiting) > 0 {
		c = waiting[len(waiting)-1]
		if len(waiting) == 1 {
			delete(r.open, res.GetCallId())
		} else {
			r.open[res.GetCallId()] = waiting[:len(waiting)-1]
		}
	} else {
		c = newCall(index, res.GetName(), "")
		if c.cmd != nil {
			c.cmd.key.once = true
		}
	}
	r.latest = index
	r.l.resultOf(index, c)
	r.l.returned(results{of: c.name, count: 1, first: index, last: index})
	r.l.returnedFrom(c.files, index)
	text := resultText(res)
	if r.runs(c, text) {
		return
	}
	polled := c.process != ""
	r.ended(c)
	if polled && strings.HasPrefix(strings.TrimSpace(text), "<tool_use_error>") {
		// It was the question for the process that failed.
		return
	}
	r.loading = nameOf(c.name).has(loaders)
	c.returned = payloadOf(text, c)
	r.knowStatus(c, text, res.GetIsError())
	o := c.returned.outcome(res.GetIsError(), c)
	r.l.rememberRuns(c.cmd)
	switch {
	case o.declined:
		r.closeStep(index, c, declinedStep)
		if o.said != "" {
			said := shorten(oneLine(o.said), maxRule)
			it := &item{kind: kindFact, score: 9}
			it.hears(declinedPrefix+c.shown()+declinedMark, said, "")
			it.addCites(c.index, index)
			if tier := r.tierOf(o.said); tier < tierSoft {
				// What the user says with a refusal is about more than this call.
				it.kind, it.tier = kindRule, tier
			}
			r.l.add(it)
		}
	case o.cancelled:
		r.closeStep(index, c, cancelledStep)
	case o.failed:
		r.closeStep(index, c, failedStep)
		r.refute(o.errors)
		r.failed(index, c, o)
	default:
		r.worked(index, c, o, c.returned.text)
	}
}

// saysStatus begins a result in which a harness says with which status a command failed.
const saysStatus = "Exit code "

// knowStatus knows that a command worked if its tool said of another one with which status it failed, and says nothing of
// this one.
func (r *reader) knowStatus(c *call, text string, flagged bool) {
	if c.cmd == nil || c.returned.exit != unknownExit {
		return
	}
	switch says := strings.HasPrefix(text, saysStatus); {
	case says:
		r.statuses[c.name] = true
	case !flagged && r.statuses[c.name]:
		c.returned.exit = 0
	}
}

// resultText joins the text parts of a result.
func resultText(res *compactordv1.ToolResult) string {
	parts := res.GetParts()
	if len(parts) == 1 {
		return parts[0].GetText().GetText()
	}
	var b strings.Builder
	for _, p := range parts {
		if t := p.GetText().GetText(); t != "" {
			b.WriteString(t)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// failed records a call that failed.
func (r *reader) failed(index uint32, c *call, o outcome) {
	if o.errors == "" {
		if c.cmd != nil && c.cmd.reads {
			// A search that found nothing.
			return
		}
		if len(o.tests) == 0 {
			o.errors = "(no output)"
		}
	}
	f := failureOf(c, o)
	it := &item{kind: kindError, cites: []uint32{index}, tool: c.name, failure: f, path: c.subject()}
	it.retell()
	if c.index != index {
		it.addCites(c.index)
	}
	if c.cmd != nil && f.missing == "" && r.l.wrote(c) {
		f.life = min(f.life, brief)
	}
	it.score = errorScores[f.life]
	r.l.fail(it)
	if c.cmd != nil {
		r.l.outdate(c.cmd)
	}
}

// errorScores ranks the errors by how long they matter.
var errorScores = map[lifetime]int{untilNext: -2, brief: 2, untilAsked: 4, passing: 1, untilTried: 4, lasting: 4, checked: 6}

// worked records a call that succeeded.
func (r *reader) worked(index uint32, c *call, o outcome, output string) {
	r.l.succeed(c, output)
	if c.cmd != nil {
		r.pass(index, c.cmd)
	}
	r.touch(c, index)
	r.l.removes(index, c)
	r.acted = r.acted || c.acts()
	r.l.wentOn(c)
	switch c.class {
	case classCommand:
		r.tellRun(index, c, o, output)
	case classOther:
		if c.name == "" {
			return
		}
		if path, ok := c.madeFile(); ok {
			r.touch(&call{index: c.index, files: []touch{{path: path, modified: true}}}, index)
		}
		r.tellCall(index, c)
		if news := c.news(); news != "" {
			r.endStep(index, c, news)
		}
		if c.instructs() {
			r.report(index, output)
		}
	case classStep:
		r.tellCall(index, c)
	default:
	}
}

// milestone says whether a command finishes work or proves it.
func milestone(shown string) bool {
	if program, _, _ := strings.Cut(shown, " "); operations[program] {
		return true
	}
	for _, w := range []string{
		"commit", "push", "test", "build", "lint", "check", "deploy", "migrat", "release", "publish", "merge", "install", "pr create", "make", "vet",
	} {
		if strings.Contains(shown, w) {
			return true
		}
	}
	return false
}

// ran records the latest run of a command. Earlier runs do not matter.
func (r *reader) ran(index uint32, c *call, text string, score int) {
	key := c.doneKey()
	it := r.l.commands[key]
	if it == nil {
		if len(r.l.commands) > maxKept {
			return
		}
		it = &item{kind: kindDone}
		r.l.commands[key] = it
	}
	it.text, it.key, it.score, it.run, it.heard = text, "", score, nil, nil
	it.cites = nil
	it.addCites(c.index, index)
}

// touch records the files of a call.
func (r *reader) touch(c *call, index uint32) {
	r.l.rememberScripts(c)
	for _, f := range c.files {
		r.l.edit(f, index)
		if f.modified {
			r.l.changed = index
		}
		cites := []uint32{c.index, index}
		if c.index == index {
			cites = cites[:1]
		}
		if known := r.l.touchSaid(f.path, f.said, f.modified, cites...); known != nil {
			known.note(f, index)
		}
		if f.restored {
			r.l.rollBack(f.path, c.index)
		}
	}
}

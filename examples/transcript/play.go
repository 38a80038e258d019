package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

const instructions = `You are a coding agent in the repository of Tidewater Ferries: a booking system in Go (module tidewater.example/ferry) with PostgreSQL behind it and an event outbox. You work in /home/user/ferry.

Tools: read_file, grep, edit_file, bash, update_todos. Call several at once where none needs the result of another.

- Read before you edit. Keep edits small; never rewrite a file for the sake of style.
- Every fault gets a test that fails before the fix.
- Run the tests of the package after each edit, and all tests with -race before you report.
- Keep the to-do list current, one item in progress at a time.
- Report briefly: what was wrong, what you changed, what is open. Never claim what you did not run.
- Commit only when asked, one commit a ticket, imperative subject with the ticket at its end.`

type pathArgument struct {
	Path string `json:"path"`
}

type editArguments struct {
	Path string `json:"path"`
	Old  string `json:"old_string"`
	New  string `json:"new_string"`
}

type grepArguments struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

type bashArguments struct {
	Command string `json:"command"`
}

type todoArguments struct {
	Todos []todo `json:"todos"`
}

type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// player adds the messages of tasks to a conversation.
type player struct {
	conversation
	files *workspace
}

// write makes the whole conversation and writes it as JSON Lines.
func write(w io.Writer) error {
	tasks := order(salesTasks(), slices.Concat(shipTasks(), passengerTasks()))
	files, err := layOut(tasks)
	if err != nil {
		return err
	}
	p := &player{conversation: conversation{random: &random{state: 20260704}}, files: files}
	p.system(instructions)
	for _, t := range tasks {
		p.play(t)
	}
	p.leaveOpen()
	return p.save(w)
}

// order alternates two kinds of work.
func order(a, b []task) []task {
	var mixed []task
	for len(a)+len(b) > 0 {
		if len(a) > 0 {
			mixed, a = append(mixed, a[0]), a[1:]
		}
		if len(b) > 0 {
			mixed, b = append(mixed, b[0]), b[1:]
		}
	}
	return mixed
}

func (p *player) play(t task) {
	p.user(t.ask)
	p.assistant(step{thinking: t.think, text: "I'll plan this and then read the code.", calls: []use{p.todos(t.plan, 0)}})
	p.survey(t)
	if t.look != nil {
		p.assistant(step{text: "Now the evidence.", calls: []use{p.look(t.look)}})
	}
	p.repair(t)
	p.report(t)
	for _, a := range t.asides {
		p.user(a.user)
		if a.look != nil {
			p.assistant(step{calls: []use{p.look(a.look)}})
		}
		p.assistant(step{text: a.answer})
	}
	p.user(pick(p.random, []string{"Good. Commit it.", "Fine, please commit.", "Looks right to me, commit.", "Thanks! Commit and go on."}))
	p.assistant(step{calls: []use{p.commit(t)}})
	p.assistant(step{text: fmt.Sprintf("Committed as %q.", t.commit+" ("+t.ticket+")")})
}

// survey reads the files of the task in parallel.
func (p *player) survey(t task) {
	calls := make([]use, 0, len(kinds)+len(t.reads)+1)
	for _, kind := range kinds {
		calls = append(calls, p.read(path.Join(path.Dir(t.file), kind)))
	}
	for _, file := range t.reads {
		calls = append(calls, p.read(file))
	}
	calls = append(calls, use{
		tool:      "grep",
		arguments: grepArguments{Pattern: t.grep, Path: "internal"},
		result:    p.files.grep(t.grep, 40),
	})
	p.assistant(step{calls: calls})
}

// repair makes the first fix, writes the test, sees it fail, and makes the second fix.
func (p *player) repair(t task) {
	p.assistant(step{text: t.finding, calls: []use{p.edit(t.file, t.before, t.wrong)}})
	anchor := p.lastTest(t.testFile)
	p.assistant(step{
		text:  fmt.Sprintf("Now the test, %s.", t.test),
		calls: []use{p.edit(t.testFile, anchor, t.testCode+"\n\n"+anchor)},
	})
	p.assistant(step{calls: []use{p.test(t, t.failure)}})
	p.assistant(step{text: "The test fails. Let me look at the whole file as it is now.", calls: []use{p.read(t.file)}})
	p.assistant(step{text: t.insight, calls: []use{p.edit(t.file, t.wrong, t.right)}})
	p.assistant(step{calls: []use{p.test(t, "")}})
}

func (p *player) report(t task) {
	p.assistant(step{text: t.test + " passes. Now everything, and the linter.", calls: []use{
		{tool: "bash", arguments: bashArguments{"go test -race ./... && golangci-lint run"}, result: allTests(p.random) + "0 issues.\n"},
		{tool: "bash", arguments: bashArguments{"git diff"}, result: p.diff(t)},
		p.todos(t.plan, len(t.plan)),
	}})
	p.assistant(step{text: t.done})
}

// leaveOpen ends the conversation in the middle of a task, so that a summary has next steps.
func (p *player) leaveOpen() {
	plan := []string{
		"Find where the refund path issues a new voucher (internal/payment/service.go)",
		"Call voucher.GiveBack with the full amount of the voucher",
		"Add voucher_id to the refund response, rename nothing",
		"Test: refund of a partly spent voucher, of a lapsed one, and twice",
		"Tell accounting about entry 88213, which has to be reversed",
	}
	p.user("Last one for today, FER-127b as we said: the refund path must give back onto the same voucher. Please stop before the response is changed and show me, the app team wants to see the field first.")
	p.assistant(step{
		thinking: "FER-127b: switch the refund path in internal/payment to voucher.GiveBack. The response may only grow: voucher_id. The user wants to see that before it is done.",
		text:     "I'll do the first two steps and stop before the response.",
		calls:    []use{p.todos(plan, 0), p.read("internal/payment/service.go"), p.read("internal/voucher/model.go")},
	})
	p.assistant(step{calls: []use{
		{tool: "grep", arguments: grepArguments{Pattern: "GiveBack", Path: "internal"}, result: p.files.grep("GiveBack", 20)},
		{tool: "bash", arguments: bashArguments{"go vet ./internal/payment/... ./internal/voucher/..."}, result: ""},
	}})
	p.assistant(step{
		text: "Where it stands: `GiveBack(cents, full, now)` is ready and tested; `Service.Webhook` and `change` in internal/payment are the only writers of refunds, and neither knows the voucher yet. " +
			"My proposal for the response of POST /v1/payments/{id}/state is one new field, `\"voucher_id\": \"vou_...\"`, present only if a voucher was used, everything else unchanged. I have changed nothing so far.",
		calls: []use{p.todos(plan, 1)},
	})
	p.user("The app team says yes to voucher_id, but it must be null rather than absent if there is none. Go ahead tomorrow morning, and mind TWF-0094 for the harbour master. Good night!")
	p.assistant(step{text: "Noted: `voucher_id` is null where no voucher was used. Tomorrow I go on with step 2 of FER-127b (call voucher.GiveBack with the full amount), then the response, then the tests; entry 88213 is still to be reversed by accounting. Good night!"})
}

func (p *player) read(file string) use {
	return use{tool: "read_file", arguments: pathArgument{file}, result: p.files.read(file)}
}

func (p *player) edit(file, old, replacement string) use {
	p.files.edit(file, old, replacement)
	return use{
		tool:      "edit_file",
		arguments: editArguments{file, old, replacement},
		result:    fmt.Sprintf("Edited %s at line %d.\n", file, p.files.lineOf(file, replacement)),
	}
}

func (p *player) look(l *look) use {
	return use{tool: "bash", arguments: bashArguments{l.command}, result: l.output(p.random), failed: l.failed}
}

// todos is the to-do list with the first items completed and the next in progress.
func (p *player) todos(plan []string, done int) use {
	list := make([]todo, 0, len(plan))
	for i, content := range plan {
		status := "pending"
		switch {
		case i < done:
			status = "completed"
		case i == done:
			status = "in_progress"
		}
		list = append(list, todo{content, status})
	}
	return use{tool: "update_todos", arguments: todoArguments{list}, result: fmt.Sprintf("%d of %d done\n", done, len(plan))}
}

func (p *player) test(t task, failure string) use {
	failing := ""
	if failure != "" {
		failing = t.test
	}
	return use{
		tool:      "bash",
		arguments: bashArguments{"go test -v ./" + path.Dir(t.testFile) + "/"},
		result:    testRun(p.random, p.files, t.testFile, failing, failure),
		failed:    failure != "",
	}
}

// diff shows the task's change to the file with the bug.
func (p *player) diff(t task) string {
	var b strings.Builder
	at := p.files.lineOf(t.file, firstLine(t.right))
	fmt.Fprintf(&b, "diff --git a/%[1]s b/%[1]s\nindex %[2]s..%[3]s 100644\n--- a/%[1]s\n+++ b/%[1]s\n", t.file, p.random.hex(10), p.random.hex(10))
	old, fresh := strings.Split(t.before, "\n"), strings.Split(t.right, "\n")
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", at, len(old), at, len(fresh))
	for _, line := range old {
		b.WriteString("-" + line + "\n")
	}
	for _, line := range fresh {
		b.WriteString("+" + line + "\n")
	}
	return b.String()
}

func (p *player) commit(t task) use {
	subject := t.commit + " (" + t.ticket + ")"
	return use{
		tool:      "bash",
		arguments: bashArguments{fmt.Sprintf("git add -A && git commit -m %q", subject)},
		result: fmt.Sprintf("[main %s] %s\n 2 files changed, %d insertions(+), %d deletions(-)\n", p.random.hex(7), subject,
			strings.Count(t.right, "\n")+strings.Count(t.testCode, "\n")+3, strings.Count(t.before, "\n")+1),
	}
}

// lastTest returns the first line of the test that every test file ends with.
func (p *player) lastTest(file string) string {
	for line := range strings.Lines(p.files.files[file]) {
		if strings.HasPrefix(line, "func Test") && strings.Contains(line, "CloneIsACopy") {
			return strings.TrimSuffix(line, "\n")
		}
	}
	panic("no last test in " + file)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

package extractive

import (
	"maps"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// reader takes messages into a ledger.
type reader struct {
	l    *ledger
	cues cueReader
	// open are the calls that wait for a result, the nearest last.
	open map[string][]*call
	// lead are the rules that every view shows anyway.
	lead map[string]bool
	// tasks counts the tasks that a tool numbers.
	tasks int
	// asked is the last sentence of the agent before a user message.
	asked string
	// answered says that the agent said something since the last user message.
	answered bool
	// steps are statements about what comes next, kept for the end.
	steps []*item
	// messages counts the messages read.
	messages int
	// lastUser is the last user message.
	lastUser *item
}

// newReader returns a reader for what comes after the messages that the ledger knows. merging says that there were some.
func newReader(l *ledger, merging bool) *reader {
	r := &reader{l: l, open: map[string][]*call{}, lead: map[string]bool{}, answered: merging}
	for _, it := range l.todos {
		if n, ok := taskNumber(it.text); ok {
			r.tasks = max(r.tasks, n)
		}
	}
	for _, it := range l.lists[kindDone] {
		if n, ok := taskNumber(it.text); ok {
			r.tasks = max(r.tasks, n)
		}
	}
	return r
}

// bindBy takes note of the rules of a message of the leading run.
func (r *reader) bindBy(m *compactordv1.Message) {
	eachStatement(clip(textOf(m), maxProse), always, func(st statement) {
		if len(r.lead) < maxMarks {
			r.lead[keyOf(bare(st.text))] = true
		}
	})
}

// maxProse is how much of a message in prose is read sentence by sentence; nobody writes more by hand.
const maxProse = 256 << 10

// read takes in one message.
func (r *reader) read(logged *compactordv1.LoggedMessage) {
	m, index := logged.GetMessage(), logged.GetIndex()
	r.messages++
	r.l.newest = max(r.l.newest, index)
	switch m.GetRole() {
	case compactordv1.Role_ROLE_USER:
		r.user(index, m)
	case compactordv1.Role_ROLE_SYSTEM:
		r.rules(index, clip(textOf(m), maxProse), bySystem)
	case compactordv1.Role_ROLE_DEVELOPER:
		r.rules(index, clip(textOf(m), maxProse), byDeveloper)
	case compactordv1.Role_ROLE_ASSISTANT:
		r.answered = true
		r.assistant(index, m)
	case compactordv1.Role_ROLE_TOOL:
		for _, p := range m.GetParts() {
			r.result(index, p.GetToolResult())
		}
	default:
	}
}

// textOf joins the text parts of a message.
func textOf(m *compactordv1.Message) string {
	first, several := "", false
	for _, p := range m.GetParts() {
		if t := p.GetText().GetText(); t != "" {
			if first != "" {
				several = true
				break
			}
			first = t
		}
	}
	if !several {
		return first
	}
	var b strings.Builder
	for _, p := range m.GetParts() {
		if t := p.GetText().GetText(); t != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(t)
		}
	}
	return b.String()
}

// endings do what can be done only once all is read, in this order.
func (r *reader) endings() []func() {
	return []func(){r.settleSteps, r.settleErrors, r.settleCalls, r.markLast, r.keepStep}
}

// settleErrors drops what stood in the way of a look or of a script of its own: it was got round, or it would have come
// up again.
func (r *reader) settleErrors() {
	if r.messages == 0 {
		return
	}
	settled := r.l.newest - min(r.l.newest, 30)
	r.l.errors = slices.DeleteFunc(r.l.errors, func(e *item) bool { return e.passing && e.newest() < settled })
}

// settleCalls tells of calls that nobody answered: they may still be running.
func (r *reader) settleCalls() {
	for _, id := range slices.Sorted(maps.Keys(r.open)) {
		for _, c := range r.open[id] {
			if c.index+12 >= r.l.newest && c.class != classTodo && c.class != classThink {
				r.l.add(&item{kind: kindDoing, text: "No result yet: " + c.shown(), cites: []uint32{c.index}, passing: true})
			}
			r.touch(c, c.index)
		}
	}
}

// markLast marks the last request.
func (r *reader) markLast() {
	if r.lastUser == nil {
		return
	}
	for _, it := range r.l.requests {
		it.last = it == r.lastUser || len(it.cites) > 0 && it.newest() == r.lastUser.newest()
	}
}

// keepStep keeps the last step. One that a previous summary tells of is the last only if nothing came after it.
func (r *reader) keepStep() {
	if step := r.l.lastStep; step != nil && (r.messages == 0 || !step.carried) && !r.l.says(step) {
		r.l.add(step)
	}
}

// stepAge is how many messages a statement about what comes next is good for, if there are newer ones.
const stepAge = 60

// settleSteps keeps the statements about what comes next that are not overtaken: what was to come next a while ago has
// come, or was dropped.
func (r *reader) settleSteps() {
	for _, it := range r.steps {
		if !it.passing || it.newest()+12 >= r.l.newest {
			r.l.add(it)
		}
	}
	latest := uint32(0)
	for _, it := range slices.Concat(r.l.lists[kindNext], r.l.todos) {
		latest = max(latest, it.newest())
	}
	if r.messages > 0 {
		latest = max(latest, r.l.newest-min(r.l.newest, stepAge))
	}
	r.l.lists[kindNext] = slices.DeleteFunc(r.l.lists[kindNext], func(it *item) bool {
		return len(it.cites) > 0 && it.newest()+stepAge < latest
	})
}

package extractive

import (
	"maps"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// reader reads messages into a ledger.
type reader struct {
	l    *ledger
	cues cueReader
	// open are the calls that wait for a result, by call id, the latest last.
	open map[string][]*call
	// lastArgs are the arguments of the latest call.
	lastArgs []argument
	// statuses are the tools that say with which status a command failed.
	statuses map[string]bool
	// processes are the calls whose commands go on, by the ids of their processes.
	processes map[string]*call
	// lead are the rules of the leading messages, which every view shows.
	lead map[string]bool
	// tasks counts the tasks of a tool that numbers them.
	tasks int
	// called says that the agent called a tool, and sinceStep counts the messages of the user after the answer to the last
	// call.
	called    bool
	sinceStep int
	// asked is the last sentence of the agent before a user message, and pending what the agent asks at last.
	asked   string
	pending pending
	// continued says that the view keeps messages after those that are summarized, and replied that the first of them is
	// of the user.
	continued, replied bool
	// offered is the latest text of the agent since the last user message, which may list options, and offering its message.
	offered  string
	offering uint32
	// acted says that the agent changed something since then.
	acted bool
	// answered says that the agent said something since the last user message; working that it waits for the next step of
	// its work, and not for the user.
	answered, working bool
	// decided are the decisions since the last user message, proposed is the agent's last proposal, and spoke the index of
	// its last message.
	decided  []*item
	proposed *item
	spoke    uint32
	// reacting says that the agent's message comes after a result, and claimed are the claims of its last message.
	reacting bool
	claimed  []claim
	// loading says that the last result is of a call that loads instructions, which then come as the next message. loaded
	// are the messages with instructions for the work that is going on.
	// commanded are documents after a command that the user gave, without a word beside it.
	loading           bool
	loaded, commanded []uint32
	// sign is the signature of the author whose rules are read.
	sign string
	// firstTag is the tag around the user's first message.
	firstTag string
	// document is the last user message if it is a document.
	document *item
	// latest is the latest message of the user, or with a call or a result, and followed the latest message that follows
	// those that are summarized.
	latest, followed uint32
	// passed are the latest checks that passed.
	passed []passed
	// spoken is the latest message of the user, and latestRead the latest message that was read.
	spoken, latestRead uint32
	// kept are the calls among these messages that wait for a result.
	kept map[string]*call
	// messages counts the messages read.
	messages int
	// lastUser is the last user message, lastRequest the last one that no program wrote, and thread the requests that the
	// agent works on.
	lastUser, lastRequest *item
	thread                []*item
}

// newReader returns a reader for the messages after those that the ledger covers. merging says that there are such
// messages.
func newReader(l *ledger, merging bool) *reader {
	r := &reader{l: l, open: map[string][]*call{}, processes: map[string]*call{}, statuses: map[string]bool{}, lead: map[string]bool{}, answered: merging, asked: l.askedBefore()}
	for _, it := range slices.Clone(l.requests) {
		if it.last {
			r.lastUser = it
		}
		if it.end == requestOpen {
			r.take(it)
		}
	}
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

// standIn records the working directory that a leading message declares.
func (r *reader) standIn(index uint32, m *compactordv1.Message) {
	r.l.workIn(declaredIn(clip(textOf(m), maxProse)), declared, true, index)
}

// bindBy records the rules of a message that views go on showing.
func (r *reader) bindBy(m *compactordv1.Message) {
	eachStatement(clip(textOf(m), maxProse), always, func(st statement) {
		if len(r.lead) < maxKept {
			r.lead[keyOf(bare(st.text))] = true
		}
	})
}

// maxKept is how many rules of the leading messages, and how many commands, are kept while messages are read.
const maxKept = 20000

// maxProse is how many bytes of prose in a message are read; nobody writes more by hand.
const maxProse = 256 << 10

// read reads one message.
func (r *reader) read(logged *compactordv1.LoggedMessage) {
	m, index := logged.GetMessage(), logged.GetIndex()
	r.messages++
	r.latestRead = index
	r.l.newest = max(r.l.newest, index)
	switch m.GetRole() {
	case compactordv1.Role_ROLE_USER:
		r.user(index, m)
		r.working, r.latest, r.spoken = false, index, index
	case compactordv1.Role_ROLE_SYSTEM:
		text := clip(textOf(m), maxProse)
		r.l.workIn(declaredIn(text), declared, true, index)
		if isEarlierSummary(text) {
			r.earlierSummary(index, text)
			return
		}
		r.rules(index, text, bySystem)
	case compactordv1.Role_ROLE_DEVELOPER:
		r.rules(index, clip(textOf(m), maxProse), byDeveloper)
	case compactordv1.Role_ROLE_ASSISTANT:
		r.begin()
		r.answered, r.reacting, r.working, r.loading, r.spoke = true, r.working, false, false, index
		r.assistant(index, m)
	case compactordv1.Role_ROLE_TOOL:
		r.working = true
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

// endings returns the steps that need all messages, in order.
func (r *reader) endings() []func() {
	return []func(){
		r.settleSteps, r.settleErrors, r.settleCalls, r.settleRuns, r.settleCommits, r.dropToldCommits, r.settleAnswers, r.markLast, r.keepStep, r.keepQuestion,
	}
}

// settleErrors drops errors that are too old to matter: they were worked around, or they would have occurred again.
func (r *reader) settleErrors() {
	if r.messages == 0 && r.followed == 0 {
		return
	}
	r.l.errors = slices.DeleteFunc(r.l.errors, func(e *item) bool { return e.over(max(r.l.newest, r.followed), r.latest, r.spoken) })
}

// settleCalls adds calls without a result, which may still be running.
func (r *reader) settleCalls() {
	for _, id := range slices.Sorted(maps.Keys(r.open)) {
		for _, c := range r.open[id] {
			if c.index+12 >= r.l.newest && c.class != classTodo && c.class != classThink {
				r.l.add(&item{kind: kindDoing, text: waitsFor + c.shown(), cites: []uint32{c.index}})
			}
			r.touch(c, c.index)
		}
	}
}

// waitsFor begins lines about calls without a result.
const waitsFor = "No result yet: "

// markLast marks the last request, and what a program said as the user since then.
func (r *reader) markLast() {
	if r.lastUser == nil {
		return
	}
	is := func(it, one *item) bool {
		return one != nil && (it == one || len(it.cites) > 0 && it.newest() == one.newest())
	}
	for _, it := range r.l.requests {
		it.last = is(it, r.lastUser) || is(it, r.lastRequest)
	}
}

// keepStep adds the last step. A step of a previous summary is the last one only if no messages came after it. What
// became of a call may be under Done or Blocked.
func (r *reader) keepStep() {
	if step := r.l.lastStep; step != nil && (r.messages == 0 || !step.carried) && !r.l.says(step) && !r.l.tells(step) &&
		!slices.ContainsFunc(r.l.lists[kindDoing], func(it *item) bool { return strings.HasSuffix(it.text, step.text) }) {
		r.l.add(step)
	}
}

// stepAge is after how many messages a statement about a next step is dropped, if there are newer ones.
const stepAge = 60

// settleSteps drops outdated statements about next steps: an old next step was done or dropped.
func (r *reader) settleSteps() {
	latest := uint32(0)
	for _, it := range slices.Concat(r.l.lists[kindNext], r.l.todos) {
		latest = max(latest, it.newest())
	}
	if r.messages > 0 {
		latest = max(latest, r.l.newest-min(r.l.newest, stepAge))
	}
	r.l.dropItems(kindNext, func(it *item) bool { return len(it.cites) > 0 && it.newest()+stepAge < latest })
}

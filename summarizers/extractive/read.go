package extractive

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
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
	// steps are statements about what comes next, kept for the end.
	steps []*item
	// messages counts the messages read.
	messages int
	// lastUser is the last user message.
	lastUser *item
}

func newReader(l *ledger, req *summarizers.Request) *reader {
	r := &reader{l: l, open: map[string][]*call{}, lead: map[string]bool{}}
	for _, m := range req.Lead {
		eachStatement(clip(textOf(m.GetMessage()), maxProse), always, func(st statement) {
			if len(r.lead) < maxMarks {
				r.lead[keyOf(bare(st.text))] = true
			}
		})
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

// maxRequest is how many units of a request are kept.
const maxRequest = 6000

// user takes in a user message.
func (r *reader) user(index uint32, m *compactordv1.Message) {
	text := clip(textOf(m), maxProse)
	said, wrapped := unwrap(text)
	var media strings.Builder
	for _, p := range m.GetParts() {
		if md := p.GetMedia(); md != nil {
			media.WriteString(" [Attached " + md.GetMimeType() + ": " + md.GetName() + "]")
		}
	}
	switch m.GetOrigin() {
	case compactordv1.Origin_ORIGIN_UNSPECIFIED, compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_IMPORT:
	default:
		// What the daemon or a revert wrote is no request, but may say what matters.
		r.prose(index, said, 1)
		return
	}
	it := &item{kind: kindRequest, cites: []uint32{index}}
	if said == "" && media.Len() == 0 {
		it.noise = true
		said = text
	}
	it.text = shorten(oneLine(clip(said, 8*maxRequest)+media.String()), maxRequest)
	if it.text == "" {
		return
	}
	switch {
	case it.noise || looksObserved(said) && len(r.l.requests) > 0:
		it.noise = true
		it.text = shorten(it.text, 160)
		r.observe(index, text)
	case units(it.text) < 24 && units(r.asked) > 8:
		it.text += " (answering: “" + shorten(bare(clip(r.asked, 2048)), 160) + "”)"
	}
	if wrapped {
		r.observe(index, text)
	}
	r.lastUser = it
	r.l.request(it)
	r.asked = ""
	if it.noise {
		return
	}
	r.rules(index, said, byUser)
	r.l.marks.note(index, clip(said, 16<<10), true)
	if list, ok := markdownTodos(said); ok && len(list) > 1 {
		r.l.mergeTodos(index, list)
	}
}

// wrappers are the tags in which programs put what they add to a user's message.
var wrappers = []string{
	"system-reminder", "local-command-caveat", "local-command-stdout", "local-command-stderr", "command-message", "task-notification",
	"agent-notification", "session_context", "environment_context", "user_instructions", "permissions instructions", "bash-stdout",
	"bash-stderr", "ide_opened_file", "ide_selection", "turn_aborted", "environment_details", "system_warning", "uploaded_files",
}

// unwrap takes away what programs put into a user's message, and says whether there was any.
func unwrap(text string) (said string, wrapped bool) {
	said = text
	if opening := text[:min(len(text), 64)]; strings.HasPrefix(opening, "<") && strings.Contains(opening, "-notification>") {
		return "", true
	}
	for _, tag := range wrappers {
		var cut bool
		said, cut = without(said, "<"+tag+">", "</"+tag+">")
		wrapped = wrapped || cut
	}
	said = strings.TrimSpace(said)
	if strings.HasPrefix(said, "<command-name>") {
		return slashCommand(said), true
	}
	switch {
	case strings.HasPrefix(said, "[Request interrupted by user"), strings.HasPrefix(said, "Caveat: The messages below were generated by the user while running local commands"):
		return "", true
	}
	return said, wrapped
}

// without takes away what stands between a pair of tags, tags included. Only what begins a line or follows another tag
// is taken: a person may name such a tag in a sentence.
func without(text, opening, closing string) (rest string, cut bool) {
	if !strings.Contains(text, opening) {
		return text, false
	}
	var b strings.Builder
	for {
		i := strings.Index(text, opening)
		if i < 0 {
			break
		}
		if i > 0 && text[i-1] != '\n' && text[i-1] != '>' {
			b.WriteString(text[:i+len(opening)])
			text = text[i+len(opening):]
			continue
		}
		end := strings.Index(text[i:], closing)
		if end < 0 {
			break
		}
		b.WriteString(text[:i])
		text, cut = text[i+end+len(closing):], true
	}
	return b.String() + text, cut
}

// slashCommand returns what a person typed who gave a command with arguments to the agent's program; one without is
// about the program and not about the task.
func slashCommand(text string) string {
	between := func(tag string) string {
		_, rest, ok := strings.Cut(text, "<"+tag+">")
		if !ok {
			return ""
		}
		inner, _, _ := strings.Cut(rest, "</"+tag+">")
		return strings.TrimSpace(inner)
	}
	args := between("command-args")
	if args == "" {
		return ""
	}
	return between("command-name") + " " + args
}

// looksObserved says whether a user message is the output of a command, as agents have it that know no tools: it ends
// in a prompt, or quotes the command.
func looksObserved(text string) bool {
	if strings.HasPrefix(text, "Ran `") && strings.Contains(text, "```") {
		return true
	}
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return len(last) < 40 && len(text) > len(last) && strings.HasSuffix(strings.TrimSpace(last), "$")
}

// observe takes in output that came as a user message.
func (r *reader) observe(index uint32, text string) {
	var e errorScan
	e.scan(text)
	if e.bestScore() < 4 {
		return
	}
	r.l.fail(&item{kind: kindError, text: e.message(), cites: []uint32{index}, score: 1, passing: true})
}

// maxRule is how many units of a rule are kept.
const maxRule = 600

// rules takes in the constraints and preferences of a text.
func (r *reader) rules(index uint32, text string, by speaker) {
	eachStatement(text, always, func(st statement) {
		if st.heads || !looksRule(st.text) || len(st.text) < 4 || isASCII(st.text) && len(st.text) < 8 {
			return
		}
		found := r.cues.read(st.text)
		if by == byUser && found&cueDecided != 0 && found&cueMust == 0 && !asks(st.text) {
			r.l.add(&item{kind: kindDecision, text: shorten(bare(clip(st.text, 4096)), maxRule), cites: []uint32{index}, score: 8})
		}
		rule := found&(cueMust|cuePrefer) != 0 || units(st.text) < 240 && (found&cueSoft != 0 || by != byUser)
		if !rule || asks(st.text) && found&cueAsks == 0 {
			return
		}
		tier := ruleTier(st.text, found, by)
		body := bare(clip(st.text, 8*maxRule))
		if r.lead[keyOf(body)] {
			return
		}
		r.l.add(&item{kind: kindRule, text: shorten(body, maxRule), cites: []uint32{index}, by: by, tier: tier})
	})
}

// ruleTier returns how firm a rule is. All that developers and operators say is meant to be kept to.
func ruleTier(text string, found cue, by speaker) int {
	switch {
	case found&cueMust != 0:
		return tierMust
	case found&cuePrefer != 0 && (by != byUser || !opensTask(text)):
		return tierPrefer
	default:
		return tierSoft
	}
}

// looksRule says whether a statement can be a rule at all: it was written by somebody, is no message of an error, and
// is more than "no problem".
func looksRule(s string) bool {
	if !looksWritten(s) {
		return false
	}
	if score, _ := errorScore(s); score >= 3 {
		return false
	}
	return len(s) > 24 || strings.Count(s, " ") > 2 || !hasFold(s, "no ") && !hasFold(s, "not ") && !hasFold(s, "all ")
}

// opensTask says whether a sentence tells what is to be done now, and so holds for now. A rule in it has to be a firm
// one to be taken for more.
func opensTask(s string) bool {
	for _, polite := range []string{"please ", "can you ", "could you ", "now ", "then ", "and ", "also ", "let's ", "lets ", "ok, ", "next, "} {
		if hasFold(s, polite) {
			s = s[len(polite):]
		}
	}
	end := 0
	for end < len(s) && isLetter(s[end]) {
		end++
	}
	if end > 0 {
		return tasks[strings.ToLower(s[:end])]
	}
	for _, verb := range []string{"把", "给", "帮", "请把", "请给", "请帮", "现在", "写", "加", "改", "修", "实现", "添加", "新增", "创建", "删", "优化", "重命名", "查", "看", "跑"} {
		if strings.HasPrefix(s, verb) {
			return true
		}
	}
	return false
}

// tasks are verbs with which tasks open, and rules hardly ever.
var tasks = map[string]bool{
	"add": true, "rename": true, "write": true, "fix": true, "create": true, "implement": true, "move": true, "remove": true, "refactor": true,
	"update": true, "change": true, "make": true, "build": true, "look": true, "check": true, "find": true, "show": true, "explain": true, "review": true,
	"propose": true, "investigate": true, "set": true, "install": true, "extend": true, "split": true, "merge": true, "rewrite": true, "convert": true,
	"port": true, "migrate": true, "clean": true, "help": true, "tell": true, "give": true, "go": true, "continue": true, "commit": true, "push": true,
	"open": true, "replace": true, "try": true, "delete": true, "read": true, "list": true, "summarize": true, "debug": true,
}

func always(string) bool { return true }

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// asks says whether a sentence is a question.
func asks(s string) bool {
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || strings.HasSuffix(s, "吗") || strings.HasSuffix(s, "吗。")
}

// assistant takes in what the agent said and called.
func (r *reader) assistant(index uint32, m *compactordv1.Message) {
	text := clip(textOf(m), maxProse)
	calls := 0
	for _, p := range m.GetParts() {
		if p.GetToolCall() != nil {
			calls++
		}
	}
	switch m.GetStopReason() {
	case compactordv1.StopReason_STOP_REASON_ERROR, compactordv1.StopReason_STOP_REASON_ABORTED:
		// Views leave such a message out; what the provider said may still be in the way.
		if e := oneLine(clip(m.GetErrorText(), 8<<10)); e != "" {
			r.l.fail(&item{kind: kindError, text: "The model's answer failed: " + shorten(e, maxErrorText), cites: []uint32{index}, tool: "model"})
		}
		return
	default:
		r.l.succeed(&call{name: "model"})
	}
	intent := ""
	if text != "" {
		final := 0
		if calls == 0 {
			final = 2
		}
		intent = r.prose(index, text, final)
		if list, ok := markdownTodos(text); ok {
			r.l.mergeTodos(index, list)
		}
	}
	for _, p := range m.GetParts() {
		if c := p.GetToolCall(); c != nil {
			r.call(index, c, intent)
		}
	}
}

// prose takes in what the agent wrote, and returns what it meant to do next. final is what the statements of an
// answer without calls rank higher by.
func (r *reader) prose(index uint32, text string, final int) (intent string) {
	r.l.marks.note(index, clip(text, 64<<10), true)
	var undecided *item
	firstSentence, lastSentence, question := "", "", ""
	announces := func(head string) bool {
		return r.cues.read(head)&(cueNext|cueDecided|cueBlocked) != 0
	}
	eachStatement(text, announces, func(st statement) {
		if st.boxed || len(st.text) < 4 || !looksWritten(st.text) {
			return
		}
		if st.heads {
			if firstSentence == "" && intent == "" {
				intent = st.text
			}
			return
		}
		lastSentence = st.text
		if firstSentence == "" {
			firstSentence = st.text
		}
		found := r.cues.read(st.text)
		// A decision takes the reason along that is given after it.
		if undecided != nil {
			if found&cueWhy != 0 && found&cueDecided == 0 && units(st.text) < 300 {
				undecided.text += " " + bare(st.text)
			}
			r.l.add(undecided)
			undecided = nil
		}
		if found&cueNarrates != 0 && found&(cueDecided|cueDone) == 0 {
			intent = st.text
			return
		}
		if asks(st.text) {
			question = st.text
			return
		}
		undecided = r.statement(index, st.text, found, final)
	})
	if undecided != nil {
		r.l.add(undecided)
	}
	r.asked = lastSentence
	if question != "" {
		r.asked = question
	}
	// An answer opens with what came of it; before calls, what is meant to be done next says more.
	step := intent
	if step == "" || final > 0 {
		step = firstSentence
	}
	if step != "" {
		r.l.lastStep = &item{kind: kindDoing, text: shorten(bare(clip(step, 4096)), 300), cites: []uint32{index}, passing: true}
	}
	if intent == "" {
		intent = lastSentence
	}
	return intent
}

// statement takes in one sentence of the agent. It returns the decision in it, if there is one, to be added later.
func (r *reader) statement(index uint32, text string, found cue, final int) *item {
	if found == 0 && len(text) < 16 {
		return nil
	}
	value, names := density(text)
	body := ""
	line := func(k kind, score int) *item {
		if body == "" {
			body = shorten(bare(clip(text, 4096)), maxRule)
		}
		return &item{kind: k, text: body, cites: []uint32{index}, score: score + final}
	}
	if found&cueFixed != 0 && found&cueNot == 0 {
		r.l.repaired(text)
	}
	switch {
	case found&cueDecided != 0 && found&cueNot == 0 || found&cueDecided != 0 && units(text) < 200:
		return line(kindDecision, 6+min(value, 4))
	case found&cueDone != 0 && found&cueNext == 0:
		r.l.settleTodos(text, index)
		if units(text) >= 20 || !isASCII(text) {
			r.l.add(line(kindDone, 2+min(value, 6)))
		}
	case found&cueBlocked != 0 && found&cueNarrates == 0:
		it := line(kindError, 2)
		it.passing = true
		r.l.fail(it)
	case found&cueNext != 0:
		it := line(kindNext, 3+min(value, 4))
		it.passing = found&cueNarrates != 0
		r.steps = append(r.steps, it)
		if len(r.steps) > 512 {
			r.steps = r.steps[256:]
		}
	case found&cueWeighed != 0 && (found&cueWhy != 0 || names > 0):
		return line(kindDecision, 1+min(value, 4))
	case found&cueFinding != 0 && names > 0:
		r.l.add(line(kindFact, 4+value))
	case value > 2:
		r.l.add(line(kindFact, value))
	case found&cueFinding != 0 && final > 0:
		r.l.add(line(kindFact, 2))
	}
	return nil
}

// density says how much a sentence holds that cannot be said in other words, and how many such words it has.
func density(text string) (value, names int) {
	eachIdentifier(text, func(_ string, what identifier) {
		names++
		if names <= 4 {
			value += what.weight()
		}
	})
	return value, names
}

// finish does what can be done only once all is read.
func (r *reader) finish() {
	r.settleSteps()
	// What stood in the way of a look or of a script of its own was got round, or it would have come up again.
	settled := r.l.newest - min(r.l.newest, 30)
	if r.messages > 0 {
		r.l.errors = slices.DeleteFunc(r.l.errors, func(e *item) bool { return e.passing && e.newest() < settled })
	}
	// A call that nobody answered may still be running.
	for _, id := range slices.Sorted(maps.Keys(r.open)) {
		for _, c := range r.open[id] {
			if c.index+12 >= r.l.newest && c.class != classTodo && c.class != classThink {
				r.l.add(&item{kind: kindDoing, text: "No result yet: " + c.shown(), cites: []uint32{c.index}, passing: true})
			}
			r.touch(c, c.index)
		}
	}
	if r.lastUser != nil {
		for _, it := range r.l.requests {
			it.last = it == r.lastUser || len(it.cites) > 0 && it.newest() == r.lastUser.newest()
		}
	}
	// A step that a previous summary tells of is the last one only if nothing came after it.
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
	r.l.lists[kindNext] = slices.DeleteFunc(r.l.lists[kindNext], func(it *item) bool {
		return len(it.cites) > 0 && it.newest()+stepAge < latest
	})
}

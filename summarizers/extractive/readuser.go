package extractive

import (
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// maxRequest is how many units of a request are kept.
const maxRequest = 6000

// answering comes before the question that a short answer belongs to.
const answering = " (answering: “"

// userMessage is a message of the user, taken apart.
type userMessage struct {
	index uint32
	// text is the user's own text with what a program put around it, said is it without that, and beside what a program put
	// beside it. wrapped says that something is around it.
	text, said, beside string
	wrapped            bool
	// tag is the tag around all that is said, and media are the lines for images and the like.
	tag, media string
}

func takeApart(index uint32, m *compactordv1.Message) *userMessage {
	u := &userMessage{index: index}
	u.text, u.beside = ownText(m)
	u.said, u.wrapped = summarizers.Said(u.text)
	if rest, blocks := cutInstructions(u.said); blocks != "" && contentUpTo(rest, goalWords) >= goalWords {
		u.said, u.beside = rest, strings.TrimSpace(u.beside+"\n"+blocks)
	}
	u.tag = elementOf(u.said)
	u.said = untagged(u.said)
	for _, p := range m.GetParts() {
		if md := p.GetMedia(); md != nil {
			u.media += " " + wording.MediaLine(md)
		}
	}
	return u
}

// user reads a user message.
func (r *reader) user(index uint32, m *compactordv1.Message) {
	r.l.workIn(declaredBeside(clip(textOf(m), maxProse)), declared, true, index)
	u := takeApart(index, m)
	switch {
	case !isByClient(m):
		// It is not a request, but may say what matters.
		r.prose(index, u.said, 1)
	case opensWithTag(u.text) && isEarlierSummary(u.text):
		// What stands in the tags of its sections is no program's.
		r.earlierSummary(index, u.text)
	case isEarlierSummary(u.said):
		r.earlierSummary(index, u.said)
	case r.inserted(u.said, u.tag):
		// It is about how the agent works, and not what the user wants.
		r.load(index, u.said)
		r.answered = r.answered || r.lastUser == nil
		r.rules(index, u.said, bySystem)
	default:
		r.unload()
		r.standingRules(index, u.text, u.wrapped)
		if u.beside != "" {
			r.rules(index, u.beside, bySystem)
		}
		r.request(u)
	}
}

// isByClient says whether a message is not one by the daemon or of a revert.
func isByClient(m *compactordv1.Message) bool {
	switch m.GetOrigin() {
	case compactordv1.Origin_ORIGIN_UNSPECIFIED, compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_IMPORT:
		return true
	default:
		return false
	}
}

// request reads a message as one of the user, or of a program that speaks as the user.
func (r *reader) request(u *userMessage) {
	it := u.item()
	if it.text == "" {
		return
	}
	speeches, own := r.l.authors.speeches(u.said), u.said
	if len(speeches) == 1 {
		own = speeches[0].text
	}
	r.complete(it, u, own)
	r.followsDocument(it, u.said)
	if !it.noise {
		r.leaveStep()
		r.commanded = nil
		r.answer(u.index, own)
		r.endSteps(untilUser, u.index)
		r.endOrders(u.index, own)
		r.cancel(u.index, own)
	}
	short := isShort(it)
	var said []*stated
	if !it.noise {
		said = r.l.statements(it)
		r.l.replaceOlder(it, said)
	}
	r.endRequests(it, u.said)
	if !it.noise {
		r.l.correct(it)
		r.leaveErrors()
	}
	if units(u.said) > maxSaid {
		it.echoed = linesWithin(it.text, r.offered)
	}
	r.lastUser = r.l.request(it)
	r.l.hold(r.lastUser, said)
	r.asked, r.answered, r.offered = "", false, ""
	r.take(r.lastUser)
	if it.noise {
		if r.refusesCall(u.said) {
			r.rules(u.index, u.said, byUser)
		}
		return
	}
	for _, s := range speeches {
		r.speech(it, u.index, s, short, len(speeches) == 1)
	}
	if it.changed {
		r.l.markChanged(it)
	}
	if list, ok := markdownTodos(u.said); ok && len(list) > 1 {
		r.l.mergeTodos(u.index, list)
	}
}

// item returns the request in a message. If only a program says something, that is what is said.
func (u *userMessage) item() *item {
	it := &item{kind: kindRequest, cites: []uint32{u.index}}
	if u.said == "" && u.media == "" {
		it.noise = true
		u.said = u.text
		if summary := summarizers.Between(u.text, "summary"); summary != "" {
			u.said = summary
		}
	}
	it.text = shorten(oneLine(clip(u.said, 8*maxRequest)+u.media), maxRequest)
	return it
}

// complete adds to a request what it refers to, and marks it if it is a command's output.
func (r *reader) complete(it *item, u *userMessage, own string) {
	switch {
	case it.noise || looksObserved(u.said) && r.answered || r.refusesCall(u.said):
		it.noise = true
		it.text = shorten(it.text, 160)
		r.observe(u.index, u.text, "", commandIn(r.offered))
	case r.chooses(it, own):
	case r.answersWhatWasSaid(r.l.authors.unsigned(it.text)):
		it.text += answering + shorten(bare(clip(r.asked, 2048)), maxAnswered(it.text)) + "”)"
	}
	if u.wrapped {
		r.observe(u.index, u.text, u.said, "")
	}
}

// answersWhatWasSaid says whether a message cannot be understood without the agent's last sentence: a short one answers a
// question, and a statement only if it takes or refuses it, or has a word for it.
func (r *reader) answersWhatWasSaid(said string) bool {
	return units(r.asked) > 8 && leansBack(said) && (asks(r.asked) || pointsBack(said) || accepts(said) || refuses(said))
}

// followsDocument finds out that a document before the user's first task was inserted by a program, and notes whether this
// message is a document.
func (r *reader) followsDocument(it *item, said string) {
	if r.document != nil && !r.answered && r.cues.substanceOf(it.text) == task && !refersBack(it.text) {
		r.l.demote(r.document)
	}
	if r.document = nil; isDocument(said) || units(said) > maxRequest {
		r.document = it
	}
}

// speech reads what one author says in a message, for rules and decisions. whole says that it is all of the message.
func (r *reader) speech(request *item, index uint32, s speech, short, whole bool) {
	r.sign = s.sign
	defer func() { r.sign = "" }()
	if !short {
		r.rules(index, s.text, byUser)
		return
	}
	it := *request
	it.text, it.key, it.cites = strings.TrimPrefix(ownWords(it.text), s.sign), "", []uint32{index}
	if !whole {
		it.text = oneLine(s.text)
	}
	r.saying(&it, s.text)
}

// readLastAgain reads the rules in the last request of the previous summary, where they may stand only in its line.
func (r *reader) readLastAgain() {
	defer r.markFirm()
	last := r.lastUser
	if last == nil || last.noise {
		return
	}
	said := strings.ReplaceAll(ownWords(last.text), lineBreak, "\n")
	if units(last.text) > maxSaid {
		r.rules(last.newest(), said, byUser)
		return
	}
	it := *last
	it.text, it.key = ownWords(it.text), ""
	r.saying(&it, said)
}

// chooses says whether a short message of the user names options that the agent listed. It then shows them beside it.
func (r *reader) chooses(it *item, said string) bool {
	if r.offered == "" {
		return false
	}
	chosen := choose(said, r.offered, r.asked)
	if len(chosen) == 0 {
		return false
	}
	r.strikeOptions(said, chosen)
	it.text = inWords(it.text, chosen)
	it.addCites(r.offering)
	return true
}

// inserted says whether a user message was written by a program: a document that comes within the agent's work, or
// beside another message of the user, what a call has loaded, or a single element with a tag that the user's first
// message did not have.
func (r *reader) inserted(text, tag string) bool {
	if r.loading || (r.working || r.lastUser != nil && !r.answered) && isDocument(text) {
		return true
	}
	if r.lastUser == nil {
		r.firstTag = tag
	}
	return tag != "" && tag != r.firstTag && !holdsWords(tag)
}

// sayings are words in the names of tags that programs put around what the user says.
var sayings = wordSet("user human query request prompt question input message")

// holdsWords says whether the name of a tag says that the user's words are in it.
func holdsWords(tag string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(tag), func(r rune) bool { return r == '_' || r == '-' || r == ':' }), func(w string) bool { return sayings[w] })
}

// elementOf returns the name of the tags around a text, or "" if there are none around all of it.
func elementOf(text string) string {
	text = strings.TrimSpace(text)
	name := tagAt(text)
	if name == "" || !strings.HasSuffix(text, "</"+name+">") || strings.Count(text, "</"+name+">") > 1 {
		return ""
	}
	return name
}

// maxReference is how many units a message has at most that only refers to the one before it.
const maxReference = 100

// refersBack says whether a short message is about the one before it.
func refersBack(text string) bool {
	if units(text) > maxReference {
		return false
	}
	for _, word := range []string{"this", "that", "above", "plan", "spec", "these", "following", "steps", "step by step"} {
		if containsAnyCase(text, word) {
			return true
		}
	}
	return false
}

// demote marks a document as written by a program, and its rules as not the user's.
func (l *ledger) demote(document *item) {
	document.noise = true
	for _, it := range l.lists[kindRule] {
		if slices.Equal(it.cites, document.cites) {
			it.by = bySystem
		}
	}
}

// minDocument is how many bytes a document has at least.
const minDocument = 400

// isDocument says whether a text is one that nobody writes into a chat: a long one that begins with a heading, or with a
// tag or a line in bold and has a heading later. Headings in code do not count.
func isDocument(text string) bool {
	if len(text) < minDocument {
		return false
	}
	first, rest, _ := strings.Cut(text, "\n")
	if isHeading(first) || strings.HasPrefix(text, skillOpening) {
		return true
	}
	if !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "**") {
		return false
	}
	fenced := false
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if !fenced && isHeading(line) {
			return true
		}
	}
	return false
}

// skillOpening begins the documents of Claude Code's skills.
const skillOpening = "Base directory for this skill: "

// isHeading says whether a line is a Markdown heading.
func isHeading(line string) bool {
	text := strings.TrimLeft(line, "#")
	return len(text) < len(line) && len(line)-len(text) <= 6 && strings.HasPrefix(text, " ")
}

// looksObserved says whether a user message is a command's output, as in agents without tools: it has a label for that,
// ends with a shell prompt, or quotes the command.
func looksObserved(text string) bool {
	if opensResult(text) {
		return true
	}
	if strings.HasPrefix(text, "Ran `") && strings.Contains(text, "```") {
		return true
	}
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return len(last) < 40 && len(text) > len(last) && strings.HasSuffix(strings.TrimSpace(last), "$")
}

// observe reads output that came as a user message, beside what the user said. An error that the user quotes is what the
// request is about, and no obstacle. command is what an agent without tools ran, if that is known.
func (r *reader) observe(index uint32, text, said, command string) {
	var e errorScan
	e.scan(text)
	if e.bestScore() < 4 {
		r.l.workedNow(command, text)
		return
	}
	if strings.Contains(said, e.first.text) {
		return
	}
	it := &item{kind: kindError, cites: []uint32{index}, score: 1, failure: &failure{life: passing}}
	if command != "" {
		it.failure.commands = []*commandKey{parseCommand(command).key}
	}
	it.hears("", e.joined([]found{e.first}), "")
	r.l.fail(it)
}

package extractive

import (
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// modelFailed begins the line about a failed request to the model.
const modelFailed = "The model's answer failed: "

// assistant reads a message of the agent.
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
		// Views leave out such a message, but the provider's error may still be an obstacle.
		if e := oneLine(clip(m.GetErrorText(), 8<<10)); e != "" {
			it := &item{kind: kindError, cites: []uint32{index}, tool: "model"}
			it.hears(modelFailed, shorten(e, maxErrorText), "")
			r.l.fail(it)
		}
		return
	default:
		r.l.succeed(&call{name: "model"}, "")
	}
	r.proposed = nil
	if text != "" {
		r.reconsider(text)
	}
	if calls > 0 {
		// The agent does what it announced.
		r.endSteps(untilCall, index)
	}
	if text != "" {
		r.offered, r.offering = text, index
		final := 0
		if calls == 0 {
			final = 2
		}
		r.prose(index, text, final)
		if list, ok := markdownTodos(text); ok {
			r.l.mergeTodos(index, list)
		}
	}
	for _, p := range m.GetParts() {
		if c := p.GetToolCall(); c != nil {
			r.call(index, c)
		}
	}
	if calls > 0 {
		r.endSteps(untilCall, index+1)
	}
}

// prose reads the agent's text. final is added to the scores of the statements; it is higher for an answer without calls.
func (r *reader) prose(index uint32, text string, final int) {
	p := proseReader{reader: r, index: index, final: final, ticks: onlyTicks(text)}
	r.pending = pending{index: index}
	announces := func(head string) bool {
		return r.cues.opensSteps(head) || r.cues.read(head)&cueBlocked != 0 || r.cues.decides(head)
	}
	eachStatement(text, announces, p.read)
	p.settle()
	p.settleClaims()
	if final > 0 && len(text) >= answerLength {
		r.l.answers(index, text)
	}
	if p.reported && final > 0 {
		r.endSteps(untilReport, index)
	}
	r.asked = p.last
	if p.question != "" {
		r.asked = p.question
	}
	// Until the agent does something, its words say what it is about.
	step := p.intent
	if step == "" || final > 0 && p.first != "" {
		step = p.first
	}
	if !r.called && contentUpTo(step, 2) > 1 && !r.isCourtesy(step) {
		r.l.lastStep = &item{kind: kindDoing, text: shorten(bare(clip(step, 4096)), 300), cites: []uint32{index}, passing: true}
	}
}

// isCourtesy says whether a sentence of the agent only offers something or apologizes, which is no step of its work.
func (r *reader) isCourtesy(said string) bool {
	for _, opening := range []string{"i apologize", "i'm sorry", "sorry", "my apologies", "thank you", "thanks"} {
		if hasPrefixAnyCase(said, opening) {
			return true
		}
	}
	return r.cues.read(said)&cueOffers != 0
}

// proseReader reads one text of the agent, sentence by sentence.
type proseReader struct {
	*reader
	index uint32
	final int
	// undecided is a decision whose reason may follow.
	undecided *item
	// intent is what the agent says that it does next, first and last are its sentences, and question is its question.
	intent, first, last, question string
	// before is the sentence before, as long as it is in the same paragraph.
	before string
	// claims are the facts in the text so far. at counts the statements, and paragraph the paragraphs. cheered says that the
	// statement before only says that something was found, and turned how the current one turns against those before it.
	claims []claim
	turned turn
	// concludes says that the text begins with a conclusion.
	concludes     bool
	at, paragraph int
	cheered       bool
	// byOther says that another agent wrote the text: it is no plan of this one, and no work of it.
	byOther bool
	// ticks says that the list items of the text have ticks, and no other checkboxes.
	ticks bool
	// headed is the sentence above the current list.
	headed string
	// reported says that the text reports what was done, or what is left.
	reported bool
}

// report reads what another agent found out.
func (r *reader) report(index uint32, text string) {
	p := proseReader{reader: r, index: index, final: 1, byOther: true}
	eachStatement(clip(text, maxProse), never, p.read)
	p.settleClaims()
}

// settle adds the decision that waits for its reason.
func (p *proseReader) settle() {
	if p.undecided != nil {
		p.decide(p.undecided)
		p.undecided = nil
	}
}

// read reads one statement.
func (p *proseReader) read(st statement) {
	if p.at++; !st.follows {
		p.paragraph++
	}
	if p.ticks && st.boxed {
		st.boxed = false
		p.l.settleTodos(st.text, p.index)
		if p.cues.read(p.headed)&cueDone != 0 || p.cues.read(st.under)&cueDone != 0 {
			p.l.add(p.line(kindDone, st.text, 4))
			return
		}
	}
	if st.heads {
		p.headed = st.text
	} else if !st.listed {
		p.headed = ""
	}
	if st.boxed || len(st.text) < 4 || !looksWritten(st.text) {
		return
	}
	p.turned = turnOf(st.text)
	p.doubt(st)
	if st.heads {
		if p.first == "" && p.intent == "" {
			p.intent = st.text
		}
		p.before = ""
		return
	}
	before := p.before
	if p.before = st.text; !st.follows {
		before = ""
	}
	st.text = withoutOpener(st.text)
	p.concludes = p.at == 1 && strings.HasPrefix(st.text, "So ") || p.concludes
	if p.reacts(p.at) {
		st.text = withoutSo(st.text)
	}
	if contentUpTo(st.text, 1) == 0 {
		return
	}
	p.last = st.text
	p.waits(st, before)
	found := p.cues.read(st.text)
	if p.cheered {
		found |= cueFinding
	}
	if p.cheered = found&cueFinding != 0 && strings.Count(st.text, " ") < maxOpener && !tells(st.text); p.cheered {
		return
	}
	if p.first == "" && (p.final == 0 || found&cueNarrates == 0) {
		p.first = st.text
	}
	// The reason after a decision is joined to it.
	if p.undecided != nil && found&cueWhy != 0 && !mayDecide(st.text, found) && units(st.text) < 300 {
		p.undecided.text += " " + bare(st.text)
	}
	p.settle()
	decided := !p.byOther && mayDecide(st.text, found) && p.cues.decides(st.text) || st.listed && listsDecisions(st.under) && !asks(st.text) && !p.explains()
	if found&cueNarrates != 0 && found&(cueDone|cueUpcoming) == 0 && !decided {
		p.intent = st.text
		return
	}
	p.statement(st, before, found, decided)
}

// explains says whether the text answers a question of the user, and the agent changed nothing for it: decisions in it are
// those that others made before.
func (p *proseReader) explains() bool {
	return !p.acted && p.lastRequest != nil && onlyAsks(ownWords(p.lastRequest.text))
}

// waits notes whether a sentence of an answer asks the user something.
func (p *proseReader) waits(st statement, before string) {
	switch question := strings.Trim(st.text, "*_ "); {
	case p.final == 0:
	case asks(question):
		p.pending.ask(question, before)
	default:
		p.pending.goOn(st.listed || st.head != "")
	}
}

// statement stores one sentence of the agent by its cues.
func (p *proseReader) statement(st statement, before string, found cue, decided bool) {
	text := st.text
	if found == 0 && len(text) < 16 {
		return
	}
	if isQuotation(text) {
		// It is an example of what somebody may say.
		return
	}
	value, names := density(text)
	if p.byOther {
		if !asks(text) && !leans(text) {
			p.finding(text, found, value, names)
		}
		return
	}
	line := p.line
	if proposes(text, found, names) {
		p.proposed = line(kindDecision, text, 6+min(value, 4))
	}
	if asks(text) {
		p.question = text
		return
	}
	if found&cueFixed != 0 && found&cueNot == 0 {
		p.l.repaired(text)
	}
	step := isStep(text, found) || st.listed && listsSteps(st.under) || st.head != "" && p.cues.opensSteps(st.head)
	switch {
	case decided:
		p.undecided = line(kindDecision, text, 6+min(value, 4))
	case step && names == 0 && contentUpTo(text, fewestStepWords) < fewestStepWords:
		// "Continuing with the plan."
	case step && found&cueDone == 0 && found&cueBlocked == 0:
		p.reported = p.reported || found&cueUpcoming == 0
		it := line(kindNext, text, 3+min(value, 4))
		it.until = endOf(found)
		p.l.add(it)
	case found&cueDone != 0 && goesToDo(text):
		// "Now let me check that the build passes."
		p.intent = text
	case found&cueDone != 0 && (found&cueNext == 0 || !step):
		p.reported = true
		p.l.settleTodos(text, p.index)
		p.finish(text, p.index)
		if (units(text) >= 20 || !isASCII(text)) && tells(text) {
			p.l.add(line(kindDone, text, 2+min(value, 6)))
		}
	case found&cueBlocked != 0 && found&cueNarrates == 0 && (names > 0 || units(text) >= 24 || !isASCII(text)):
		it := line(kindError, text, 2)
		it.failure = &failure{life: untilNext}
		p.l.fail(it)
	default:
		whole := standing(text, before)
		if whole != text && (p.cues.read(before)&cueGuesses != 0 || p.turned == contradicts || p.turned == contrasts && p.final == 0) {
			whole = ""
		}
		if whole != text && whole != "" {
			p.claims = slices.DeleteFunc(p.claims, func(c claim) bool { return strings.HasPrefix(whole, c.text) })
		}
		if st.listed && (labelsOnly(text) || opensStep(text)) || advises(text, found) || isDoingNow(text) {
			return
		}
		p.finding(whole, found, value, names)
	}
}

// goesToDo says whether a sentence begins by telling what the agent does next, or under which condition something is done, so
// that the rest of it is not done yet.
func goesToDo(text string) bool {
	text = plainApostrophes(text)
	for _, opening := range []string{"now ", "so ", "next, ", "first, ", "then ", "finally, ", "ok, ", "okay, "} {
		if hasPrefixAnyCase(text, opening) {
			text = text[len(opening):]
			break
		}
	}
	if hasOpening(text, "let me ", "let's ", "let us ", "i'll ", "i will ", "i'm going to ", "i am going to ", "让我", "我来", "接下来",
		"lass mich ", "ich werde ", "laisse-moi ", "je vais ", "voy a ", "vou ", "давайте ", "сейчас я ") {
		return true
	}
	return hasOpening(text, "if ", "wenn ", "falls ", "si ", "если ", "如果", "若", "もし", "만약 ") && !didSo(text)
}

// wasSo are words of a condition that the agent found to hold or not: it is in the past.
var wasSo = inAnyCase(
	" was ", " were ", " had ", " wasn't ", " weren't ", " hadn't ", " fehlte", " war", " hatte", " faltaba", " estaba", " había", " manquait", " était", " avait", " faltava", " estava",
)

// didSo says whether the agent did something, under the condition that a sentence begins with: "If the lamp was missing, I have
// added it." One that may still come true makes it a hypothesis.
func didSo(text string) bool {
	condition, then, ok := strings.Cut(text, ", ")
	if !ok || !wasSo.in(condition+" ") {
		return false
	}
	for _, opening := range []string{"then ", "so ", "dann ", "entonces ", "alors ", "então "} {
		if hasPrefixAnyCase(then, opening) {
			then = then[len(opening):]
			break
		}
	}
	// In English, "he" is somebody else.
	if hasOpening(then, "i have ", "i've ", "we have ", "we've ", "habe ich ", "hab ich ", "haben wir ", "lo he ", "la he ", "hemos ", "j'ai ", "je l'ai ",
		"nous avons ", "já ") || hasOpening(text, "si ") && hasOpening(then, "he ") {
		return true
	}
	rest, ok := cutOpening(then, "i ")
	word := firstWord(rest)
	return ok && strings.HasSuffix(word, "ed") && word != "need" && word != "needed" && word != "wanted"
}

// mostValue is how much the identifiers of a fact count at most: what was found last matters more.
const mostValue = 5

// line returns an item with a text of this message.
func (p *proseReader) line(k kind, text string, score int) *item {
	return &item{kind: k, text: shorten(bare(clip(text, 4096)), maxRule), cites: []uint32{p.index}, score: score + p.final}
}

// fewestFindingWords is how many words a finding without names has at least: "Root cause found" tells nothing.
const fewestFindingWords = 4

// finding notes a fact, if a sentence states one. text is the sentence with what it refers to, or "" if that is missing.
func (p *proseReader) finding(text string, found cue, value, names int) {
	if text == "" || found&cueGuesses != 0 {
		return
	}
	// Most sentences are worth nothing, which is known at once.
	score := min(value, mostValue)
	switch {
	case found&cueFinding != 0 && names > 0:
		score += 4
	case p.reacts(p.at) && names > 0:
		score += 2
	case value > 2:
	case found&cueFinding != 0 && p.final > 0:
		score = 2
	default:
		return
	}
	if p.final == 0 && (supposes(text) || tellsOfWork(text)) || !tells(text) || hasOpening(strings.TrimLeft(text, "*_ "), "thank you", "thanks") ||
		names == 0 && contentUpTo(text, fewestFindingWords) < fewestFindingWords {
		return
	}
	c := claim{item: p.line(kindFact, text, score), at: p.at, paragraph: p.paragraph}
	c.answers = p.final > 0
	eachIdentifier(text, func(word string, _ identifier) {
		if len(c.names) < maxSharing {
			c.names = append(c.names, word)
		}
	})
	p.claims = append(p.claims, c)
}

// density rates how much of a sentence must be kept exactly, and counts its identifiers.
func density(text string) (value, names int) {
	eachIdentifier(text, func(_ string, what identifier) {
		names++
		if names <= 4 {
			value += what.weight()
		}
	})
	return value, names
}

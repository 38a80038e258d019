package extractive

import (
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
			r.l.fail(&item{kind: kindError, text: modelFailed + shorten(e, maxErrorText), cites: []uint32{index}, tool: "model"})
		}
		return
	default:
		r.l.succeed(&call{name: "model"}, "")
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
}

// prose reads the agent's text. final is added to the scores of the
// statements; it is higher for an answer without calls.
func (r *reader) prose(index uint32, text string, final int) {
	var undecided *item
	// intent is what the agent says that it does next.
	intent, firstSentence, lastSentence, question := "", "", "", ""
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
		// The reason after a decision is joined to it.
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
	// An answer begins with its result. Before tool calls, the intention says more.
	step := intent
	if step == "" || final > 0 {
		step = firstSentence
	}
	if contentOf(step) > 1 {
		r.l.lastStep = &item{kind: kindDoing, text: shorten(bare(clip(step, 4096)), 300), cites: []uint32{index}, passing: true}
	}
}

// statement reads one sentence of the agent. It returns the decision in it, if there is one, for the caller to add.
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
	case found&cueBlocked != 0 && found&cueNarrates == 0 && (names > 0 || units(text) >= 24 || !isASCII(text)):
		it := line(kindError, 2)
		it.failure = &failure{life: untilNext}
		r.l.fail(it)
	case found&cueNext != 0:
		it := line(kindNext, 3+min(value, 4))
		it.passing = found&cueNarrates != 0
		r.steps = append(r.steps, it)
		if len(r.steps) > 512 {
			r.steps = r.steps[256:]
		}
	case found&cueWeighed != 0 && found&cueWhy != 0:
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

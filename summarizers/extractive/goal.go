package extractive

import (
	"slices"
	"strings"
)

// maxGoal is how many units the goal's sentence may have.
const maxGoal = maxSaid

// goalWords is how many words a request has at least that says what the work is about.
const goalWords = 3

// sortRequests chooses the goal and the last request, and sorts the other requests into classes.
func (p *plan) sortRequests() {
	if p.last = p.l.markedLast(); p.last == nil {
		return
	}
	p.firstRequest = p.l.requests[0]
	list := p.weigh(p.l.requests)
	p.goal = goalOf(list)
	if p.goal == nil {
		p.goal = p.last
	}
	p.task = p.newestTask(list)
	for i, w := range list {
		p.sortRequest(w, i == 0)
	}
}

// markedLast returns the request that is marked as the last one, if possible one that no program wrote. If there is none, it
// marks the newest, unless the messages that the view keeps have a later one.
func (l *ledger) markedLast() (last *item) {
	for _, it := range l.requests {
		if it.last && (!it.noise || last == nil) {
			last = it
		}
	}
	for _, it := range slices.Backward(l.requests) {
		// What a program said last is of no use once the user says something else.
		if last == nil || l.followed && last.noise && !it.noise && !last.last {
			last = it
			last.last = last.last || !l.followed
		}
	}
	return last
}

// weighed is a request and how much it says beside rules that have lines of their own.
type weighed struct {
	*item
	said substance
	// words counts up to 2*goalWords.
	words int
}

func (p *plan) weigh(requests []*item) []weighed {
	list := make([]weighed, len(requests))
	for i, it := range requests {
		w := weighed{item: it}
		if !it.noise {
			text := p.l.authors.unsigned(withoutRules(it.text, p.ruled.of(it)))
			w.said, w.words = p.cues.substanceOf(text), contentUpTo(text, 2*goalWords)
			if i == 0 && w.said < task && p.cues.ordersIn(it.text) {
				w.said, w.words = task, contentUpTo(it.text, 2*goalWords)
			}
		}
		list[i] = w
	}
	return list
}

// goalOf returns the request that a previous summary marks as the goal, or else the first one of those that say most.
func goalOf(list []weighed) *item {
	for _, w := range list {
		if w.goal {
			return w.item
		}
	}
	for _, isGoal := range []func(w weighed) bool{
		func(w weighed) bool { return w.said >= reply && labelledAs(ownWords(w.text), goalLabels) },
		func(w weighed) bool {
			return w.said >= reply && w.words >= goalWords && (w.times == 0 || w.words >= 2*goalWords)
		},
		func(w weighed) bool { return w.said == task },
		func(w weighed) bool { return w.said == reply },
		func(w weighed) bool { return w.said == nod },
	} {
		for _, w := range list {
			if !w.noise && isGoal(w) {
				return w.item
			}
		}
	}
	return nil
}

// sortRequest puts a request into its class, unless it has a line of its own or says nothing.
func (p *plan) sortRequest(w weighed, first bool) {
	it := w.item
	switch {
	case it == p.last || it == p.task:
		return
	case w.said == nod && strings.Contains(it.text, thatIs):
		p.put(decided(it))
		return
	case it == p.goal && units(it.text) <= maxGoal:
		return
	case it.noise && it.last:
		p.putInto(classPlan, it)
		return
	case it.noise || w.said == nod && len(it.cites) > 0 || p.held.holds(it):
		return
	}
	if first || it == p.goal {
		it.score += 6
	}
	p.put(it)
	p.keepWhole(it)
}

// mostLeaning is how many words of its own a question has at most that is about the task before it.
const mostLeaning = 5

// newestTask returns the newest task after the goal. One that ended is the task only right before a last request that says
// too little without it. What had ended in a previous summary was not right before it, though it may be now, without the
// messages between them that said nothing.
func (p *plan) newestTask(list []weighed) *item {
	leans := false
	for _, w := range slices.Backward(list) {
		it := w.item
		if it == p.goal {
			break
		}
		if it.noise {
			continue
		}
		isTask := w.said == task && !p.held.holds(it)
		if it == p.last {
			if isTask && w.words >= goalWords {
				return it
			}
			leans = w.said < task && leansOnTask(ownWords(it.text)) || contentUpTo(ownWords(it.text), goalWords) < goalWords
			continue
		}
		if isTask && (it.end == requestOpen || leans && it.end == requestFinished && !it.endedBefore) {
			return it
		}
		leans = false
	}
	return nil
}

// leansOnTask says whether a reply or a question is about the task before it: it is no question, or a short one that names
// nothing.
func leansOnTask(said string) bool {
	_, names := density(said)
	return !onlyAsks(said) || names == 0 && contentUpTo(said, mostLeaning+1) <= mostLeaning
}

// decided returns a choice of the user as a decision.
func decided(choice *item) *item {
	it := *choice
	it.kind, it.last, it.score = kindDecision, false, 8
	return &it
}

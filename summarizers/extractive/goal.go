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
	var last *item
	list := p.l.requests
	for _, it := range list {
		if it.last && (!it.noise || last == nil) {
			last = it
		}
	}
	if last == nil && len(list) > 0 {
		last = list[len(list)-1]
		last.last = true
	}
	p.last = last
	if len(list) > 0 {
		p.firstRequest = list[0]
	}
	said, words := make([]substance, len(list)), make([]int, len(list))
	for i, it := range list {
		if !it.noise {
			text := p.l.authors.unsigned(withoutRules(it.text, p.ruled.of(it)))
			said[i], words[i] = p.cues.substanceOf(text), contentUpTo(text, 2*goalWords)
			if i == 0 && said[i] < task && p.cues.ordersIn(it.text) {
				said[i], words[i] = task, contentUpTo(it.text, 2*goalWords)
			}
		}
		if it.goal && p.goal == nil {
			p.goal = it
		}
	}
	for _, isGoal := range []func(i int) bool{
		func(i int) bool { return said[i] >= reply && labelledAs(ownWords(list[i].text), goalLabels) },
		func(i int) bool {
			return said[i] >= reply && words[i] >= goalWords && (list[i].times == 0 || words[i] >= 2*goalWords)
		},
		func(i int) bool { return said[i] == task },
		func(i int) bool { return said[i] == reply },
		func(i int) bool { return said[i] == nod },
	} {
		for i := range list {
			if p.goal == nil && !list[i].noise && isGoal(i) {
				p.goal = list[i]
			}
		}
	}
	if p.goal == nil {
		p.goal = last
	}
	p.task = p.newestTask(said, words)
	for i, it := range list {
		switch {
		case it == last || it == p.task:
			continue
		case said[i] == nod && strings.Contains(it.text, thatIs):
			p.put(decided(it))
			continue
		case it == p.goal && units(it.text) <= maxGoal:
			continue
		case it.noise && it.last:
			p.putInto(classPlan, it)
			continue
		case it.noise || said[i] == nod && len(it.cites) > 0 || p.held.holds(it):
			continue
		}
		if i == 0 || it == p.goal {
			it.score += 6
		}
		p.put(it)
	}
}

// mostLeaning is how many words of its own a question has at most that is about the task before it.
const mostLeaning = 5

// newestTask returns the newest task after the goal. One that ended is the task only right before a last request that says
// too little without it. What had ended in a previous summary was not right before it, though it may be now, without the
// messages between them that said nothing.
func (p *plan) newestTask(said []substance, words []int) *item {
	leans := false
	for i, it := range slices.Backward(p.l.requests) {
		if it == p.goal {
			break
		}
		if it.noise {
			continue
		}
		isTask := said[i] == task && !p.held.holds(it)
		if it == p.last {
			if isTask && words[i] >= goalWords {
				return it
			}
			leans = said[i] < task && leansOnTask(ownWords(it.text)) || contentUpTo(ownWords(it.text), goalWords) < goalWords
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

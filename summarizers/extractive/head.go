package extractive

import "slices"

// head holds the lines of the goal and of the last request.
type head struct {
	// goal has limit 0 if it has no line of its own.
	goal chosen
	// lines is the last request as an item list, and last the choice from it.
	lines []*item
	last  take
	// inGoal says that the last request is shown in full in the goal's section.
	inGoal bool
	// short says that something was left out that a larger budget would include.
	short bool
	used  int
}

// goalShare is how many percent of its budget a long goal has, beside another last request.
const goalShare = 15

// head chooses the lines of the goal and of the last request. They leave out rules that have lines of their own. If they
// are one request, it has one line.
func (p *plan) head(budget, pool int, ruled ruleIndex) head {
	h := head{last: take{whole: true}}
	if p.goal == nil {
		return h
	}
	goal := *p.goal
	goal.text = p.unruledGoal(ruled)
	if p.goal == p.last && budget >= 4*maxGoal {
		h.lines, h.inGoal = []*item{&goal}, true
		h.last = p.take(classLast, h.lines, min(max(pool*termsOf[classLast].share/100, maxGoal+8+units(citation(goal.cites))), pool), true)
		h.used = h.last.used
		return h
	}
	limit := min(max(maxGoal, budget*goalShare/100), max(budget*2/5, 24))
	if p.goal != p.last {
		h.lines = p.lastLines(ruled)
	} else {
		h.short = units(goal.text) > maxGoal
	}
	limit = min(limit, max(pool-8-units(citation(goal.cites)), 0))
	if h.goal = (chosen{it: &goal, limit: limit, goal: true}); limit > 0 {
		h.used = p.overhead(h.goal) + min(units(goal.text), limit)
	}
	if h.lines != nil {
		rest := pool - h.used
		h.last = p.take(classLast, h.lines, min(max(rest*termsOf[classLast].share/100, p.shortest(h.lines)), rest), false)
		h.used += h.last.used
	}
	return h
}

// shortest returns how many units the short ones of some requests take as a whole.
func (p *plan) shortest(requests []*item) int {
	n := 0
	for _, it := range requests {
		if isShort(it) {
			n += p.overhead(chosen{it: it}) + units(it.text)
		}
	}
	return n
}

// lengthenGoal gives the goal's line up to a number of units more, and returns how many it took.
func (h *head) lengthenGoal(more int) int {
	if h.goal.limit <= 0 {
		return 0
	}
	more = min(more, max(units(h.goal.it.text)-h.goal.limit, 0))
	h.goal.limit += more
	return more
}

// withoutGoal returns the requests without that of the goal, which has a line of its own.
func (p *plan) withoutGoal(list []*item) []*item {
	if p.goal == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(it *item) bool {
		return it == p.goal || len(it.cites) > 0 && slices.Equal(it.cites, p.goal.cites)
	})
}

// lastLines returns the last request, and the newest task before it.
func (p *plan) lastLines(ruled ruleIndex) []*item {
	var lines []*item
	for _, it := range []*item{p.last, p.task} {
		if it == nil || it == p.last && len(lines) > 0 {
			continue
		}
		line := *it
		said := ownWords(line.text)
		if text := withoutRules(said, ruled.of(&line)); text != "" {
			line.text = text + line.text[len(said):]
		}
		if !p.l.followed {
			line.end = requestOpen
		}
		lines = append(lines, &line)
	}
	return lines
}

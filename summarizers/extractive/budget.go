package extractive

import (
	"slices"
	"strings"
)

// class is a group of items that share a part of the budget. The classes are served in this order.
type class uint8

const (
	classLast class = iota
	classUserRule
	classRule
	classPrefer
	// classSaid is for short messages of the user, which stay word for word, and classTold for longer ones.
	classSaid
	classTold
	classError
	classFocus
	classPlan
	classDecision
	// classChanged is for files that were changed, and classFile for those that were read.
	classChanged
	classFact
	classFile
	classWork
	// classCrowd is for the rules of a message with very many rules, beyond those that are served with other rules.
	classCrowd
	classSoft
	// classAnswered is for questions that were answered at once.
	classAnswered
	classes
)

// again is the order in which what is left goes to the classes. A long last request waits for what a few lines say.
var again = []class{
	classUserRule, classRule, classPrefer, classSaid, classError, classFocus, classPlan, classDecision, classChanged, classLast, classFact, classFile, classWork,
	classTold, classCrowd, classSoft, classAnswered,
}

// terms says how a class is served. Sizes are in units (see units).
type terms struct {
	// share is how many percent of the remaining budget it may use when it is served first.
	share int
	// sure is how many units it may use then in any case.
	sure int
	// most is the most units of one text, and least how short a text may become before it is left out. opening is the
	// most units when it is served first; 0 is no limit of its own.
	most, least, opening int
}

var termsOf = [classes]terms{
	classLast:     {share: 40, most: maxRequest, least: 60},
	classUserRule: {share: 40, sure: 800, most: maxRule, least: 160},
	classRule:     {share: 30, sure: 500, most: maxRule, least: 160},
	classPrefer:   {share: 30, sure: 700, most: maxRule, least: 160},
	classSaid:     {share: 50, most: maxSaid, least: maxSaid},
	classTold:     {share: 50, most: 1500, least: 160, opening: maxSaid},
	classError:    {share: 30, sure: 200, most: maxErrorText + maxCommand, least: 160},
	classFocus:    {share: 40, most: maxRule, least: 120},
	classPlan:     {share: 40, sure: 130, most: 400, least: 100},
	classDecision: {share: 35, most: maxRule, least: 160},
	classChanged:  {share: 35, most: 300, least: 240},
	classFact:     {share: 30, most: 400, least: 160},
	classFile:     {share: 25, most: 300, least: 240},
	classWork:     {share: 30, sure: 150, most: 560, least: 120},
	classCrowd:    {share: 0, most: maxRule, least: 160},
	classSoft:     {share: 0, most: 240, least: 160},
	classAnswered: {share: 0, most: maxSaid, least: maxSaid},
}

// share chooses the items for a narrative of at most budget units.
func (p *plan) share(budget int) narrative {
	var list []chosen
	pool := budget - p.frame()
	lists, ruled := p.lists(budget)
	own := budget - p.reserved(classLast, budget)
	h := p.head(own, pool-budget+own, nil)
	// If all rules fit, other lines need not repeat them.
	if p.rulesFit(lists, budget, pool-h.used) {
		h = p.head(own, pool-budget+own, ruled)
		lists[classTold], lists[classSaid] = unruled(lists[classTold], p.ruled), unruled(lists[classSaid], p.ruled)
	}
	lists[classTold], lists[classSaid] = p.withoutGoal(lists[classTold]), p.withoutGoal(lists[classSaid])
	all := !h.short && len(lists[classAnswered]) == len(p.byClass[classAnswered])
	lists[classLast] = h.lines
	pool -= h.used
	var takes [classes]take
	takes[classLast] = h.last
	for c := classLast + 1; c < classes; c++ {
		open := pool - p.reserved(c, budget)
		if c == classWork && !p.small {
			open = max(open, min(pool, doneUnits))
		}
		takes[c] = p.first(c, lists[c], budget, open)
		pool -= takes[c].used
	}
	for _, c := range again {
		if c == classTold {
			pool -= h.lengthenGoal(max(pool-p.reserved(c, budget), 0))
		}
		if takes[c].whole {
			continue
		}
		more := p.take(c, lists[c], takes[c].used+max(pool-p.reserved(c, budget), 0), h.inGoal && c == classLast)
		pool -= more.used - takes[c].used
		takes[c] = more
		all = all && more.whole
	}
	if h.goal.limit > 0 {
		all = all && h.goal.limit >= units(h.goal.it.text)
		list = append(list, h.goal)
	}
	for _, t := range takes {
		list = append(list, t.list...)
	}
	n := narrative{list: list, all: all, rules: true, work: true, small: p.small}
	for c, t := range takes {
		n.rules = n.rules && (t.whole || class(c) != classUserRule && class(c) != classPrefer)
		n.work = n.work && (t.whole || !isWork(class(c)) && !t.leavesOutCarried(lists[c], p.small))
	}
	return n
}

// reserved returns how much of the budget a class must leave to others. What is essential can have all of it. The user's
// words share the smallest budget that a narrative has with it, and what was done shares half of that.
func (p *plan) reserved(c class, budget int) int {
	smallest := min(budget, p.smallest)
	switch {
	case p.generous, isEssential(c) && (c != classChanged || !p.small), c == classFact && !p.small:
		return 0
	case c == classLast || c == classSaid || c == classTold:
		return budget - smallest
	default:
		return budget - smallest/2
	}
}

// doneUnits is what is always left for what was done, unless the budget is small.
const doneUnits = 240

// isEssential says whether a class is a reason for a larger narrative.
func isEssential(c class) bool { return c >= classUserRule && c <= classPrefer || isWork(c) }

// first serves a class for the first time, while later classes still wait.
func (p *plan) first(c class, list []*item, budget, pool int) take {
	open := pool
	if c <= classPrefer {
		// Keep some space for what was done: an agent that only knows rules cannot go on.
		open = max(pool-min(budget/6, 480), 0)
	}
	t := termsOf[c]
	if t.opening > 0 {
		t.most = t.opening
	}
	return p.takeBy(t, list, min(max(pool*t.share/100, t.sure), open), false)
}

// fewRules and crowdUnits are how many rules a message may have that never count as too many, and how many units.
const (
	fewRules   = 6
	crowdUnits = 400
)

// lists returns the items of each class, and the firm rules of each message. The rules of one message beyond
// a few wait in classCrowd until all other classes were served.
func (p *plan) lists(budget int) (lists [classes][]*item, ruled ruleIndex) {
	lists, ruled = p.byClass, ruleIndex{}
	if !p.generous {
		lists[classAnswered] = nil
	}
	if budget < 4*maxGoal {
		// The goal's sentence is enough of its request.
		lists[classTold] = slices.DeleteFunc(slices.Clone(lists[classTold]), func(it *item) bool { return it == p.goal })
	}
	type spent struct{ rules, units int }
	by := map[uint32]spent{}
	for c := classUserRule; c <= classPrefer; c++ {
		lists[c] = nil
		for _, it := range p.byClass[c] {
			s := by[it.oldest()]
			s.rules++
			s.units += p.overhead(chosen{it: it}) + units(it.text)
			if s.rules > fewRules && s.units > crowdUnits && len(it.cites) > 0 {
				lists[classCrowd] = append(lists[classCrowd], it)
				continue
			}
			by[it.oldest()] = s
			lists[c] = append(lists[c], it)
			ruled.add(it)
		}
	}
	return lists, ruled
}

// rulesFit says whether the first serving chooses all rules completely.
func (p *plan) rulesFit(lists [classes][]*item, budget, pool int) bool {
	for c := classUserRule; c <= classPrefer; c++ {
		t := p.first(c, lists[c], budget, pool)
		if !t.whole {
			return false
		}
		pool -= t.used
	}
	return true
}

// unruled returns requests without the rules in them. It drops requests of which only a word or two are left, and no task
// and no value.
func unruled(list []*item, ruled ruleIndex) []*item {
	var kept []*item
	for _, it := range list {
		text := withoutRules(it.text, ruled.of(it))
		if text == it.text {
			kept = append(kept, it)
		} else if contentOf(text) > 2 || hasValue(text) || opensTask(text) || requests(text) {
			rest := *it
			rest.text = text
			kept = append(kept, &rest)
		}
	}
	return kept
}

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

// withoutGoal returns the requests without that of the goal, which has a line of its own.
func (p *plan) withoutGoal(list []*item) []*item {
	if p.goal == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(it *item) bool {
		return it == p.goal || len(it.cites) > 0 && slices.Equal(it.cites, p.goal.cites)
	})
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
		h.last = p.take(classLast, h.lines, min(rest*termsOf[classLast].share/100, rest), false)
		h.used += h.last.used
	}
	return h
}

// unruledGoal returns the goal's text without the rules in it, as long as it still says what to do.
func (p *plan) unruledGoal(ruled ruleIndex) string {
	switch text := withoutRules(p.goal.text, afterOpening(p.goal.text, ruled.of(p.goal))); {
	case text == "":
		return p.cues.beforeRule(p.goal.text)
	case text == p.goal.text:
		return text
	case addsToATask(text), p.cues.ordersIn(p.goal.text) && !p.cues.ordersIn(text):
		// A rule is a part of the task.
		return p.goal.text
	default:
		return text
	}
}

// afterOpening returns the rules that do not begin a long text: its first line is its title.
func afterOpening(text string, rules []*item) []*item {
	if units(text) <= maxGoal {
		return rules
	}
	return slices.DeleteFunc(slices.Clone(rules), func(it *item) bool { return strings.HasPrefix(text, it.text) })
}

// lastLines returns the last request, and the newest task before it.
func (p *plan) lastLines(ruled ruleIndex) []*item {
	var lines []*item
	for _, it := range []*item{p.last, p.task} {
		if it == nil || it == p.last && len(lines) > 0 {
			continue
		}
		line := *it
		if text := withoutRules(line.text, ruled.of(&line)); text != "" {
			line.text = text
		}
		lines = append(lines, &line)
	}
	return lines
}

// frame returns the units of the headings of sections that can have lines.
func (p *plan) frame() int {
	used := make([]bool, len(p.ly.sections))
	for _, list := range p.byClass {
		for _, it := range list {
			used[p.ly.sectionOf(it)] = true
		}
	}
	if p.goal != nil {
		used[p.ly.goal] = true
	}
	n := 0
	for i, s := range p.ly.sections {
		if used[i] || s.group {
			n += units(s.heading.Line()) + 2
		}
	}
	return n
}

// overhead returns the units of a line beside its text.
func (p *plan) overhead(c chosen) int {
	before, after := p.ly.around(c, p.ly.sections[p.ly.at(c)].holds)
	return units(before) + units(after) + 1
}

// isWork says whether a class says where the work stands.
func isWork(c class) bool {
	switch c {
	case classError, classFocus, classPlan, classDecision, classChanged:
		return true
	default:
		return false
	}
}

// leavesOutCarried says whether an item of the previous summary was left out. In a small summary that counts only for
// items without citations: others can be recalled.
func (t take) leavesOutCarried(list []*item, small bool) bool {
	left := 0
	carried := func(it *item) bool { return it.carried && (!small || len(it.cites) == 0) }
	for _, it := range list {
		if carried(it) {
			left++
		}
	}
	for _, c := range t.list {
		if carried(c.it) {
			left--
		}
	}
	return left > 0
}

// take is the choice of items of one class.
type take struct {
	list  []chosen
	used  int
	whole bool
}

// take chooses items of a class for at most budget units: as many items as possible, each shortened at most as far as
// the class allows, and then each as long as fits. goal says that they are shown in the goal's section.
func (p *plan) take(c class, list []*item, budget int, goal bool) take {
	return p.takeBy(termsOf[c], list, budget, goal)
}

func (p *plan) takeBy(t terms, list []*item, budget int, goal bool) take {
	out := take{whole: true}
	var sizes []int
	overheads := 0
	floor := 0
	for _, it := range list {
		ch := chosen{it: it, goal: goal}
		over := p.overhead(ch)
		size := min(units(it.text), t.most)
		if floor+over+min(size, t.least) > budget {
			out.whole = false
			continue
		}
		floor += over + min(size, t.least)
		overheads += over
		sizes = append(sizes, size)
		out.list = append(out.list, ch)
	}
	lowest, highest := t.least, t.most
	fits := func(limit int) int {
		sum := overheads
		for _, s := range sizes {
			sum += min(s, limit)
		}
		return sum
	}
	for lowest < highest {
		mid := (lowest + highest + 1) / 2
		if fits(mid) <= budget {
			lowest = mid
		} else {
			highest = mid - 1
		}
	}
	for i := range out.list {
		out.list[i].limit = lowest
		out.whole = out.whole && units(out.list[i].it.text) <= lowest
	}
	out.used = fits(lowest)
	if len(out.list) == 0 {
		out.used = 0
	}
	return out
}

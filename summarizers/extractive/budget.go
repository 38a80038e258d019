package extractive

import "slices"

// share chooses the items for a narrative of at most budget units.
func (p *plan) share(budget int) narrative {
	pool := budget - p.frame()
	lists, ruled := p.lists(budget, p.inWhole)
	own := budget - p.reserved(classLast, budget)
	h := p.head(own, pool-budget+own, nil)
	fit := p.rulesFit(lists, budget, pool-h.used)
	if !fit && len(p.wholes) > 0 {
		lists, ruled = p.lists(budget, p.wholes)
		fit = p.rulesFit(lists, budget, pool-h.used)
	}
	// If all rules fit, other lines need not repeat them.
	if fit {
		h = p.head(own, pool-budget+own, ruled)
		for _, c := range saidClasses {
			lists[c] = unruled(lists[c], p.ruled)
		}
	}
	for _, c := range saidClasses {
		lists[c] = p.withoutGoal(lists[c])
	}
	all := !h.short && (p.generous || len(p.byClass[classAnswered]) == 0)
	lists[classLast] = h.lines
	pool -= h.used
	var takes [classes]take
	takes[classLast] = h.last
	for c := classLast + 1; c < classes; c++ {
		open := pool - p.reserved(c, budget)
		open = max(open, min(pool, p.floor(c, budget)))
		takes[c] = p.first(c, lists[c], budget, open)
		pool -= takes[c].used
	}
	for _, c := range again {
		if c == classTold && takes[classSaid].complete && takes[classTold].complete {
			pool -= h.lengthenGoal(max(pool-p.reserved(c, budget), 0))
		}
		if takes[c].whole {
			continue
		}
		reserved := p.reserved(c, budget)
		if c == classSaid && p.tight {
			// All rules that fit are there, and a few names are worth less than what the user said.
			reserved = 0
		}
		more := p.take(c, lists[c], takes[c].used+max(pool-reserved, 0), h.inGoal && c == classLast)
		pool -= more.used - takes[c].used
		takes[c] = more
		all = all && more.whole
	}
	n := p.narrative(h, lists, takes)
	n.all = n.all && all
	return n
}

// narrative puts together what was chosen for the goal and for each class.
func (p *plan) narrative(h head, lists [classes][]*item, takes [classes]take) narrative {
	n := narrative{all: true, rules: true, work: true, small: p.small}
	n.said = takes[classSaid].complete && takes[classTold].complete
	n.open = takes[classLast].complete && takes[classPlan].complete
	if h.goal.limit > 0 {
		n.all = h.goal.limit >= units(h.goal.it.text)
		n.list = append(n.list, h.goal)
	}
	for c, t := range takes {
		n.list = append(n.list, t.list...)
		n.rules = n.rules && (t.whole || class(c) != classUserRule && class(c) != classPrefer)
		if class(c) == classEarlier {
			n.earlier = t.whole
			continue
		}
		n.work = n.work && (t.whole || !isWork(class(c)) && !t.leavesOutCarried(lists[c], p.small))
	}
	return n
}

// reserved returns how much of the budget a class must leave to others. What is essential can have all of it. The user's
// words share the smallest budget that a narrative has with it, and what was done shares half of that.
func (p *plan) reserved(c class, budget int) int {
	smallest := min(budget, p.smallest)
	switch {
	case p.generous, c == classStated, isEssential(c) && (c != classChanged || !p.small), (c == classFact || c == classEarlier) && !p.small:
		return 0
	case c == classLast:
		return budget - smallest
	case c == classSaid || c == classTold:
		return budget - min(budget, smallest*4/3)
	default:
		return budget - smallest/2
	}
}

// doneUnits is what is always left for what was done, unless the budget is small. A small one has floors for the step
// that comes next, for the files that were changed most, and for what was done last.
const doneUnits = 240

var smallFloors = [classes]int{classPlan: 280, classChanged: 200, classWork: 100}

// floor returns what a class may use of a budget when it is served first, whatever others wait for.
func (p *plan) floor(c class, budget int) int {
	switch {
	case p.small:
		return min(smallFloors[c], budget/3)
	case c == classWork:
		return doneUnits
	default:
		return 0
	}
}

// first serves a class for the first time, while later classes still wait.
func (p *plan) first(c class, list []*item, budget, pool int) take {
	open := pool
	if c <= classPrefer {
		// Keep some space for what was done: an agent that only knows rules cannot go on.
		open = max(pool-min(budget/6, 480), 0)
	}
	if plan := p.byClass[classPlan]; c == classStated && len(plan) > 0 {
		// Where the work stands comes before statements.
		step := chosen{it: plan[0]}
		open = max(pool-p.overhead(step)-min(units(step.it.text), termsOf[classPlan].most), 0)
	}
	t := termsOf[c]
	if p.small {
		t.sure = max(t.sure, p.floor(c, budget))
	}
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

// lists returns the items of each class but some, and the firm rules of each message. The rules of one message beyond
// a few wait in classCrowd until all other classes were served.
func (p *plan) lists(budget int, without map[*item]bool) (lists [classes][]*item, ruled ruleIndex) {
	lists, ruled = p.byClass, ruleIndex{}
	if len(without) > 0 {
		for c := range lists {
			lists[c] = slices.DeleteFunc(slices.Clone(lists[c]), func(it *item) bool { return without[it] })
		}
	}
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
		list := lists[c]
		lists[c] = nil
		for _, it := range list {
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
	if p.small {
		lists[classStated], lists[classSaid] = p.apartStated(lists[classSaid])
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
	marks := 0
	if c.it.heard != nil || c.it.noise {
		marks = marksUnits
	}
	return units(before) + marks + units(after) + 1
}

package extractive

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// maxGoal is how many units the goal's sentence may have.
const maxGoal = maxSaid

// goalWords is how many words a request has at least that says what the work is about.
const goalWords = 3

// plan holds all items that could be in a summary, by class and rank.
type plan struct {
	ly   *layout
	l    *ledger
	cues cueReader
	// goal is the request that states the goal, task the newest other one that is a task, and last and firstRequest are the
	// last and the first one.
	goal, task, last, firstRequest *item
	byClass                        [classes][]*item
	// fresh ranks the user's newest messages.
	fresh map[*item]int
	// smallest is the smallest budget of a narrative, in units.
	smallest int
	// small says that the budget of the summary is small.
	small bool
	// generous says that there is more room than quotes need.
	generous bool
	// ruled are the firm rules of each message, and held those and its decisions.
	ruled, held ruleIndex
}

// newPlan sorts the ledger's items into classes.
func newPlan(l *ledger, ly *layout) *plan {
	p := &plan{ly: ly, l: l, ruled: firmRules(l.lists[kindRule]), held: firmRules(l.lists[kindRule])}
	for _, it := range l.lists[kindDecision] {
		p.held.add(it)
	}
	p.sortRequests()
	said := ""
	if p.goal != nil {
		said = p.goal.text + "\n" + p.last.text
	}
	for _, k := range []kind{kindRule, kindDone, kindDoing, kindDecision, kindNext, kindFact} {
		for _, it := range l.lists[k] {
			if it.kind == kindRule && it.tier == tierSoft && strings.Contains(said, it.text) {
				// A soft rule need not be repeated.
				continue
			}
			p.put(it)
		}
	}
	root := l.root()
	for _, it := range l.errors {
		p.put(withPath(it, root))
	}
	for _, it := range l.todos {
		p.put(it)
	}
	for _, key := range slices.Sorted(maps.Keys(l.commands)) {
		p.put(l.commands[key])
	}
	files, rootLine := l.relativeFiles(root)
	files, scratch := l.withoutScratch(files)
	for _, f := range files {
		p.putFile(f)
	}
	if scratch != nil {
		p.putInto(classFile, scratch)
	}
	if rootLine != nil {
		p.putInto(classChanged, rootLine)
	}
	for c := range p.byClass {
		if class(c) == classUserRule || class(c) == classRule || class(c) == classPrefer {
			slices.SortFunc(p.byClass[c], func(a, b *item) int {
				if a.focused != b.focused {
					if a.focused {
						return -1
					}
					return 1
				}
				return l.compare(a, b)
			})
			continue
		}
		p.sortByRank(p.byClass[c])
	}
	return p
}

// sortByRank sorts items by rank, the highest first. Ranking reads the texts, so it is done once for each.
func (p *plan) sortByRank(list []*item) {
	type ranked struct {
		*item
		rank int
	}
	all := make([]ranked, 0, len(list))
	for _, it := range list {
		all = append(all, ranked{it, p.rank(it)})
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.newest(), a.newest()), strings.Compare(a.text, b.text))
	})
	for i, r := range all {
		list[i] = r.item
	}
}

// put sorts one item into its class.
func (p *plan) put(it *item) {
	it.focused = p.l.matchesFocus(it.text)
	c := classWork
	switch it.kind {
	case kindRule:
		switch {
		case it.tier == tierSoft:
			c = classSoft
		case it.tier == tierPrefer && !it.listed:
			c = classPrefer
		case it.by == byUser && !it.listed:
			c = classUserRule
		default:
			c = classRule
		}
	case kindError:
		c = classError
	case kindDoing, kindNext:
		c = classPlan
	case kindDecision:
		c = classDecision
	case kindFact:
		c = classFact
	case kindRequest:
		switch {
		case it.end == requestAnswered, it.end == requestFinished && isShortOrder(it):
			c = classAnswered
		case units(it.text) <= maxSaid:
			c = classSaid
		default:
			c = classTold
		}
	default:
	}
	p.putInto(c, it)
}

func (p *plan) putFile(f *file) {
	it := f.line()
	it.focused = p.l.matchesFocus(it.text)
	c := classFile
	if f.modified {
		c = classChanged
	}
	p.putInto(c, it)
}

func (p *plan) putInto(c class, it *item) {
	if it.focused && c > classFocus {
		c = classFocus
	}
	p.byClass[c] = append(p.byClass[c], it)
}

// rank rates an item within its class: by its score, its age, and whether a previous summary had it.
func (p *plan) rank(it *item) int {
	if it.kind == kindRequest {
		if fresh := p.freshRank(it); fresh > 0 {
			return fresh
		}
		if units(it.text) <= maxSaid {
			return p.saidRank(it)
		}
	}
	r := 8 * it.score
	if p.l.newest > 0 {
		r += int(24 * uint64(it.newest()) / uint64(p.l.newest))
	}
	if it.carried {
		r += 16
	}
	if it.focused {
		r += 1000
	}
	if it.box == openBox {
		r += 200
	}
	if it.kind == kindDoing {
		r += 100
	}
	return r
}

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

// firmRules returns the rules of each message, without soft ones.
func firmRules(list []*item) ruleIndex {
	ruled := ruleIndex{}
	for _, it := range list {
		if it.tier != tierSoft {
			ruled.add(it)
		}
	}
	return ruled
}

// ruleIndex holds rules by the messages that they come from.
type ruleIndex map[uint32][]*item

func (x ruleIndex) add(it *item) {
	for _, c := range it.cites {
		x[c] = append(x[c], it)
	}
}

// of returns the rules of a request's message.
func (x ruleIndex) of(it *item) []*item {
	if len(it.cites) == 0 {
		return nil
	}
	return x[it.newest()]
}

// holds says whether one of its rules contains the whole request.
func (x ruleIndex) holds(it *item) bool {
	said := ownWords(it.text)
	for _, rule := range x.of(it) {
		if strings.Contains(rule.text, said) || rule.keyed() == it.keyed() {
			return true
		}
	}
	return false
}

// line returns the summary line of a file.
func (f *file) line() *item {
	it := &f.item
	it.carried = f.carried
	it.text = "`" + strings.ReplaceAll(f.path, "`", "'") + "` "
	it.score = min(f.uses, 8)
	if f.modified {
		it.text += stateModified
		it.score += 12
	} else {
		it.text += stateRead
	}
	if f.why != "" {
		it.text += ": " + f.why
	}
	return it
}

// matchesFocus says whether a text contains a word of the focus.
func (l *ledger) matchesFocus(text string) bool {
	if len(l.focus) == 0 {
		return false
	}
	lower := strings.ToLower(text)
	for _, w := range l.focus {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return false
}

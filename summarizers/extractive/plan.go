package extractive

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/compactord/compactord/session/quotation"
)

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
	// stated are the user's short messages that only state something.
	stated map[*item]bool
	// smallest is the smallest budget of a narrative, in units.
	smallest int
	// small says that the budget of the summary is small.
	small bool
	// tight says that the narrative has all of a small budget, so that of what else must be left out the beginning is shown.
	tight bool
	// generous says that there is more room than quotes need.
	generous bool
	// ruled are the firm rules of each message, and held those and its decisions.
	ruled, held ruleIndex
	// wholes are short messages as rules, with the requests and the rules that they are shown in place of.
	wholes, inWhole map[*item]bool
}

// newPlan sorts the ledger's items into classes.
func newPlan(l *ledger, ly *layout, small bool) *plan {
	p := &plan{
		ly: ly, l: l, small: small, ruled: firmRules(l.lists[kindRule]), held: firmRules(l.lists[kindRule]), wholes: map[*item]bool{}, inWhole: map[*item]bool{},
		stated: map[*item]bool{},
	}
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
	for _, it := range l.earlier.statements() {
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
				return l.compareRules(a, b)
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
		case it.tier == tierSoft && it.by == byUser:
			c = classWish
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
	case kindEarlier:
		c = classEarlier
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
	if p.l.silent {
		if it = it.quietly(); it == nil {
			return
		}
	}
	if it.focused && c > classFocus && c != classEarlier {
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
		weight := uint64(24)
		if it.kind == kindDone && p.small {
			// A few lines say where the work stands, and not how it began.
			weight = 48
		}
		r += int(weight * uint64(it.newest()) / uint64(p.l.newest))
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

// line returns the summary line of a file.
func (f *file) line() *item {
	it := &f.item
	it.carried = f.carried
	it.score = min(f.uses, 8)
	state := " " + stateRead
	if f.modified {
		state = " " + stateModified
		it.score += 12
	}
	if f.why != "" {
		state += ": " + f.why
	}
	if quotation.CanBeSentence(f.path) {
		it.hears("", f.path, state)
		return it
	}
	it.heard, it.text, it.key = nil, "`"+f.path+"`"+state, ""
	if dir := strings.TrimSuffix(f.path, "/"+f.said); f.said != "" && dir != f.path && dir != "" {
		// Nobody joined the two before, so that a search for the whole path would find nothing.
		it.text = "`" + f.said + "`" + inFolder + "`" + dir + "`" + state
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

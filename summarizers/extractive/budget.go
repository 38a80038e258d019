package extractive

import (
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// class is a group of items that share a part of the budget. Their order is the order in which they are served.
type class uint8

const (
	classLast class = iota
	classUserRule
	classRule
	classPrefer
	classError
	classFocus
	classPlan
	classDecision
	classFact
	classFile
	classWork
	classRequest
	classSoft
	classes
)

// terms are how a class is served.
type terms struct {
	// share is how much of what is left it may take at first, in per cent.
	share int
	// sure is how many units it may take at first in any case.
	sure int
	// most is the most units that a text of it takes, least how far it is shortened before it is left out.
	most, least int
}

var termsOf = [classes]terms{
	classLast:     {40, 0, maxRequest, 60},
	classUserRule: {40, 800, maxRule, 160},
	classRule:     {30, 500, maxRule, 160},
	classPrefer:   {30, 700, maxRule, 160},
	classError:    {30, 0, maxErrorText + maxCommand, 160},
	classFocus:    {40, 0, maxRule, 120},
	classPlan:     {40, 0, 400, 100},
	classDecision: {35, 0, maxRule, 160},
	classFact:     {30, 0, 400, 160},
	classFile:     {25, 0, 300, 240},
	classWork:     {30, 0, 300, 120},
	classRequest:  {80, 0, 1500, 120},
	classSoft:     {0, 0, 240, 160},
}

// share chooses what fits into so many units. all says that nothing was left out or shortened.
func (p *plan) share(room int) (list []chosen, all bool) {
	pool := room - p.frame()
	goalLimit := min(maxGoal, max(room*2/5, 24))
	if said := p.byClass[classLast]; len(said) > 0 && said[0] == p.goal && room >= 4*maxGoal {
		// It is said in full further down.
		goalLimit = maxGoal / 2
	}
	if p.goal != nil {
		goalLimit = min(goalLimit, max(pool-8-units(citation(p.goal.cites)), 0))
		if goalLimit > 0 {
			c := chosen{it: p.goal, limit: goalLimit, goal: true}
			list = append(list, c)
			pool -= p.overhead(c) + min(units(p.goal.text), goalLimit)
		}
	}
	var takes [classes]take
	for c := range takes {
		if class(c) == classLast && room < 4*maxGoal && len(p.byClass[c]) > 0 && p.byClass[c][0] == p.goal {
			// The goal says what there is room for.
			continue
		}
		takes[c] = p.take(class(c), min(max(pool*termsOf[c].share/100, termsOf[c].sure), pool))
		pool -= takes[c].used
	}
	marksRoom := pool / 3
	rows := p.rows(list, takes[:], min(marksRoom, room/10))
	for _, row := range rows {
		pool -= p.overhead(row) + units(row.it.text)
	}
	all = true
	for c := range takes {
		if takes[c].whole {
			continue
		}
		if takes[c].served {
			again := p.take(class(c), takes[c].used+max(pool, 0))
			pool -= again.used - takes[c].used
			takes[c] = again
		}
		all = all && takes[c].whole
	}
	for _, t := range takes {
		list = append(list, t.list...)
	}
	return append(list, rows...), all
}

// frame returns the units of the headings, with what stands in empty sections.
func (p *plan) frame() int {
	n := 0
	for _, s := range p.ly.sections {
		n += units(headingLine(s.heading)) + 2
		if !s.group {
			n += units(none) + 1
		}
	}
	return n
}

// overhead returns the units of a line beside its text.
func (p *plan) overhead(c chosen) int {
	before, after := p.ly.around(c, p.ly.sections[p.ly.sectionOf(c.it)].holds)
	return units(before) + units(after) + 1
}

// take is what a class got.
type take struct {
	list   []chosen
	used   int
	served bool
	whole  bool
}

// take chooses items of a class for so many units: as many as can be had, each shortened no further than the class
// allows, and then each as long as there is room for.
func (p *plan) take(c class, room int) take {
	t := termsOf[c]
	out := take{served: true, whole: true}
	var sizes []int
	overheads := 0
	floor := 0
	for _, it := range p.byClass[c] {
		ch := chosen{it: it}
		over := p.overhead(ch)
		size := min(units(it.text), t.most)
		if floor+over+min(size, t.least) > room {
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
		if fits(mid) <= room {
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

// rows makes lines of the identifiers that the chosen lines do not hold.
func (p *plan) rows(list []chosen, takes []take, room int) []chosen {
	if room < 40 || len(p.marks) == 0 {
		return nil
	}
	var b strings.Builder
	note := func(list []chosen) {
		for _, c := range list {
			b.WriteString(c.it.text)
			b.WriteByte('\n')
		}
	}
	note(list)
	for _, t := range takes {
		note(t.list)
	}
	text := b.String()
	byMessage := map[uint32]*item{}
	var rows []chosen
	for _, k := range p.marks {
		if strings.Contains(text, k.word) {
			continue
		}
		row := byMessage[k.first]
		cost := units(k.word) + 2
		if row == nil || units(row.text)+cost > 160 {
			row = &item{kind: kindMarks, cites: []uint32{k.first}}
			cost += p.overhead(chosen{it: row}) + 6
			if cost > room {
				break
			}
			byMessage[k.first] = row
			rows = append(rows, chosen{it: row, limit: 200})
		} else {
			if cost > room {
				break
			}
			row.text += ", "
		}
		room -= cost
		row.text += k.word
		row.addCites(k.last)
	}
	return rows
}

// fit writes the summary into the budget. The estimator is asked a few times: the plan is made in units, and drawn
// closer until the estimator agrees.
func fit(l *ledger, ly *layout, req *summarizers.Request) (pieces []string, ok bool) {
	p := newPlan(l, ly)
	budget := int64(req.MaxTokens)
	count := func(pieces []string) int64 { return int64(req.Count(strings.Join(pieces, ""))) }
	airy := req.MaxTokens >= 400
	room := int(min(4*budget, 1<<24))
	for range 8 {
		list, all := p.share(room)
		tried := ly.render(list, airy)
		n := count(tried)
		if n <= budget {
			pieces, ok = tried, true
			if all || n >= budget*9/10 || n == 0 {
				return pieces, true
			}
			grown := int(min(int64(room)*budget/n*97/100, 1<<24))
			if grown <= room {
				return pieces, true
			}
			room = grown
			continue
		}
		if ok {
			// The last step was too far; what was found before is near enough.
			return pieces, true
		}
		room = int(int64(room)*budget/n*97/100) - 8
		if room <= 0 {
			break
		}
	}
	if ok {
		return pieces, true
	}
	return p.least(req)
}

// least writes what can be written into a budget that hardly holds the headings: the goal as long as it may be below
// them, or, where not even they fit, alone.
func (p *plan) least(req *summarizers.Request) (pieces []string, ok bool) {
	fits := func(pieces []string) bool { return req.Count(strings.Join(pieces, "")) <= req.MaxTokens }
	best := func(write func(limit int) []string) []string {
		low, high := 0, maxGoal
		for low < high {
			mid := (low + high + 1) / 2
			if fits(write(mid)) {
				low = mid
			} else {
				high = mid - 1
			}
		}
		return write(low)
	}
	frame := p.ly.render(nil, false)
	if fits(frame) {
		if p.goal == nil {
			return frame, true
		}
		pieces = best(func(limit int) []string {
			if limit == 0 {
				return frame
			}
			return p.ly.render([]chosen{{it: p.goal, limit: limit, goal: true}}, false)
		})
		return pieces, fits(pieces)
	}
	if p.goal == nil {
		return nil, false
	}
	pieces = best(func(limit int) []string {
		return []string{p.ly.line(chosen{it: p.goal, limit: limit, goal: true}, kindRequest)}
	})
	return pieces, fits(pieces)
}

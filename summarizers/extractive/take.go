package extractive

import "strings"

// take is the choice of items of one class.
type take struct {
	list []chosen
	used int
	// whole says that all items are there and none is shortened; complete that all are there.
	whole, complete bool
}

// take chooses items of a class for at most budget units: as many items as possible, each shortened at most as far as
// the class allows, and then each as long as fits. goal says that they are shown in the goal's section.
func (p *plan) take(c class, list []*item, budget int, goal bool) take {
	t := termsOf[c]
	t.brief = p.tight && (c >= classUserRule && c <= classPrefer || c == classStated || c == classSaid)
	return p.takeBy(t, list, budget, goal)
}

func (p *plan) takeBy(t terms, list []*item, budget int, goal bool) take {
	out := take{whole: true, complete: true}
	// lows and sizes are how short and how long the text of each may be.
	var lows, sizes []int
	var left []chosen
	floor, overheads := 0, 0
	for _, it := range list {
		ch := chosen{it: it, goal: goal}
		over := p.overhead(ch)
		size := min(units(it.text), t.most)
		low := min(size, t.least)
		if isRequest(ch) && isShort(it) && floor+over+size <= budget {
			low = size
		}
		if floor+over+low > budget {
			out.whole, out.complete = false, false
			left = append(left, ch)
			if t.ranked {
				break
			}
			continue
		}
		floor += over + low
		overheads += over
		lows, sizes = append(lows, low), append(sizes, size)
		out.list = append(out.list, ch)
	}
	lowest, highest := t.least, t.most
	if t.ranked && !out.complete {
		highest = lowest
	}
	fits := func(limit int) int {
		sum := overheads
		for i, s := range sizes {
			sum += max(min(s, limit), lows[i])
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
		out.list[i].limit = max(lowest, lows[i])
		out.whole = out.whole && units(out.list[i].it.text) <= out.list[i].limit
	}
	out.used = fits(lowest)
	if len(out.list) == 0 {
		out.used = 0
	}
	if t.brief {
		p.addBriefly(&out, left, budget)
	}
	return out
}

// addBriefly adds the first sentences of items that do not fit.
func (p *plan) addBriefly(out *take, left []chosen, budget int) {
	for _, c := range left {
		c.brief = beginningOf(c.it)
		c.limit = units(c.brief)
		if over := p.overhead(c); c.brief != "" && out.used+over+c.limit <= budget {
			out.used += over + c.limit
			out.list = append(out.list, c)
		}
	}
}

// beginningOf returns the first of several sentences of an item, with a sign that more follows, or "".
func beginningOf(it *item) string {
	if it.heard != nil || strings.Contains(it.text, lineBreak) {
		return ""
	}
	first := ""
	eachSentence(it.text, func(sentence string, last bool) {
		if first == "" && !last {
			first = sentence + openGap
		}
	})
	return first
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

package extractive

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
	return p.takeBy(termsOf[c], list, budget, goal)
}

func (p *plan) takeBy(t terms, list []*item, budget int, goal bool) take {
	out := take{whole: true, complete: true}
	// lows and sizes are how short and how long the text of each may be.
	var lows, sizes []int
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
	return out
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

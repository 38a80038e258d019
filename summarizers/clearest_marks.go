package summarizers

import "slices"

// parentOf returns the section that this section is a part of, or -1.
func parentOf(headings []Heading, section int) int {
	for i := section - 1; i >= 0; i-- {
		if headings[i].Level < headings[section].Level {
			return i
		}
	}
	return -1
}

// clearest returns the clearest marks of each section. These have the style that most sections have, and among headings
// the level that most have, or else the highest. Other marks count as text, unless a section has no clearer ones.
func clearest(found []mark, headings []Heading) []mark {
	sections := len(headings)
	found = withoutItems(found)
	main, deeper := mainStyle(found, sections), mainLevel(found, headings)
	rank := func(m *mark) int {
		unclear := m.level
		if m.level == headings[m.section].Level+deeper {
			unclear = 0
		}
		if m.loose {
			unclear += 1 << 39
		}
		if m.within {
			unclear += 1 << 40
		}
		if m.style != main {
			unclear += 1 << 41
		}
		if m.style == inLabel {
			unclear += 1 << 42
		}
		return unclear
	}
	best := make([]int, sections)
	for i := range best {
		best[i] = 1 << 62
	}
	kept := found[:0]
	for _, m := range found {
		// Between the tags of another section, marks of another style are text.
		if !m.within || m.style == main {
			kept = append(kept, m)
			best[m.section] = min(best[m.section], rank(&m))
		}
	}
	left := kept[:0]
	for _, m := range kept {
		if rank(&m) == best[m.section] {
			left = append(left, m)
		}
	}
	return left
}

// mainStyle returns the style in which most sections are marked.
func mainStyle(found []mark, sections int) style {
	var count [styles]int
	seen := make([]bool, sections*int(styles))
	for _, m := range found {
		if at := m.section*int(styles) + int(m.style); !seen[at] {
			seen[at] = true
			count[m.style]++
		}
	}
	main := inHeading
	for s := inTag; s < inLabel; s++ {
		if count[s] > count[main] {
			main = s
		}
	}
	return main
}

// withoutItems removes the marks that look like list items, if there are other marks.
func withoutItems(found []mark) []mark {
	if !slices.ContainsFunc(found, func(m mark) bool { return !m.listed }) {
		return found
	}
	return slices.DeleteFunc(found, func(m mark) bool { return m.listed })
}

// mainLevel returns how much deeper than ours the headings of most sections are. Most counts, since a comment in code
// may look like a heading of a higher level.
func mainLevel(found []mark, headings []Heading) int {
	count := map[int]int{}
	seen := map[[2]int]bool{}
	main := 0
	for _, m := range found {
		deeper := m.level - headings[m.section].Level
		if at := [2]int{m.section, deeper}; m.level > 0 && !m.loose && !seen[at] {
			seen[at] = true
			count[deeper]++
		}
	}
	for deeper, n := range count {
		if n > count[main] || n == count[main] && deeper < main {
			main = deeper
		}
	}
	return main
}

package extractive

import (
	"slices"
	"strings"
)

// condensed is a request that is shown in part.
type condensed struct {
	of     string
	parts  *parts
	limit  int
	result string
}

// within returns the parts of a long request that say what it is about: the first one, the one that asks for something,
// and as many of the others as fit. What the user wrote comes before what is pasted, of which the first words are shown,
// and before what describes the surroundings. A larger limit shows all that a smaller one does.
//
// The same line is written several times until its summary fits, so it keeps what it made of a text.
func (c *condensed) within(text string, echoed map[string]bool, limit int) string {
	if units(text) <= limit {
		return text
	}
	if c.of != text || c.parts == nil {
		*c = condensed{of: text, parts: partsOf(text, echoed), limit: -1}
	}
	if c.limit != limit {
		c.limit, c.result = limit, c.parts.within(text, limit)
	}
	return c.result
}

// joinUnits is how many units join two parts at most: a gap and the end of a line.
const joinUnits = 5

// within chooses among the parts of a text. If there are none, it cuts the middle out of the text.
func (p *parts) within(text string, limit int) string {
	if len(p.list) == 0 {
		return shorten(text, limit)
	}
	shown := make([]string, len(p.list))
	used := p.essentials(shown, limit)
	for _, i := range p.order {
		cost := p.show(i, shown, false)
		if used+cost > limit {
			break
		}
		p.show(i, shown, true)
		used += cost
	}
	p.lengthen(shown, limit-used)
	return p.joined(shown)
}

// essentials shows the first part and the one that asks, shortened if they must be. It returns what they take.
func (p *parts) essentials(shown []string, limit int) int {
	room := limit - joinUnits
	if asked := p.asked; asked > 0 && asked != p.first {
		first, question := p.list[p.first].short(), p.list[asked].short()
		question = shorten(question, max(room/2, room-units(first)-joinUnits))
		shown[asked] = question
		room -= units(question) + joinUnits
	}
	shown[p.first] = shorten(p.list[p.first].short(), max(room, 4*gapUnits))
	return limit - room + units(shown[p.first])
}

// show shows a part and what introduces it, and returns what that takes. Without doing so, it only counts.
func (p *parts) show(at int, shown []string, really bool) (cost int) {
	for ; at >= 0 && shown[at] == ""; at = p.list[at].head {
		text := p.list[at].short()
		if cost += units(text) + joinUnits; really {
			shown[at] = text
		}
	}
	return cost
}

// lengthen gives the parts that are shown in short as much room as is left, the same to each.
func (p *parts) lengthen(shown []string, room int) {
	if len(p.list) == 0 || slices.Contains(shown, "") {
		return
	}
	longer := func(more int) (texts []string, extra int) {
		texts = slices.Clone(shown)
		for i, part := range p.list {
			texts[i] = part.within(part.limit() + more)
			extra += max(units(texts[i])-units(shown[i]), 0)
		}
		return texts, extra
	}
	low, high := 0, max(room, 0)
	for low < high {
		mid := (low + high + 1) / 2
		if _, extra := longer(mid); extra <= room {
			low = mid
		} else {
			high = mid - 1
		}
	}
	if texts, extra := longer(low); extra <= room {
		copy(shown, texts)
	}
}

// joined writes the shown parts on one line, and shows where others are left out.
func (p *parts) joined(shown []string) string {
	var b strings.Builder
	left, sameLine := false, true
	for i, part := range p.list {
		sameLine = sameLine && part.follows
		if shown[i] == "" {
			left = true
			continue
		}
		switch {
		case b.Len() == 0 && left:
			b.WriteString(strings.TrimLeft(gap, " "))
		case b.Len() == 0:
		case sameLine && left:
			b.WriteString(gap)
		case sameLine:
			b.WriteByte(' ')
		case left && !strings.HasSuffix(b.String(), "…"):
			b.WriteString(" …" + lineBreak)
		default:
			b.WriteString(lineBreak)
		}
		b.WriteString(shown[i])
		left, sameLine = false, true
	}
	if left && !strings.HasSuffix(b.String(), "…") {
		b.WriteString(" …")
	}
	return b.String()
}

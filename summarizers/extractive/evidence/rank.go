package evidence

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// The weights were chosen by hand on recordings of coding agents, by the share of what the agents went on to use that the
// quotes hold. contextWorth trades names for their surroundings.
const (
	// besideKnown is what sharing a line with a known name adds to the worth of a name, and likeKnown what it adds if
	// all of its words are words of known names.
	besideKnown, likeKnown = 1, 4
	// contextWorth is what showing a name in context is worth, where showing it alone is worth 1.
	contextWorth = 0.7
	// lengthPower lets a long line pay a little less than in proportion to its length.
	lengthPower = 0.85
	// lineCost is what a line costs beside its text, in bytes, and nameCost what a name alone does.
	lineCost, nameCost = 7, 2
)

// halfLife is after how many messages a mention of a name counts half. What somebody says holds for longer than output.
var halfLife = [voices]float64{User: 300, Agent: 300, Arguments: 150, Result: 110, Quoted: 300, inRow: 300, pasted: 300}

// voiceWeight is how much a mention counts. What the agent wrote itself, it uses again most often. Most names in rows
// come from results.
var voiceWeight = [voices]float64{User: 3, Agent: 4, Arguments: 5, Result: 1, Quoted: 4, inRow: 1.5, pasted: 1.2}

// Rank returns lines and names in the order in which a summary should quote them, until their texts have limit bytes or
// nothing is left. It leaves out what the summary shows already: said are statements, which show names in their context,
// and listed is a text that only names them.
func (c *Collector) Rank(said, listed string, limit int) []Pick {
	r := c.Ranking(said, listed, limit)
	var picks []Pick
	for pick, ok := r.Next(); ok; pick, ok = r.Next() {
		picks = append(picks, pick)
	}
	return picks
}

// Ranking returns what Rank does, one by one. Nothing may be added to the collector meanwhile.
func (c *Collector) Ranking(said, listed string, limit int) *Ranking {
	r := c.newRanking(limit)
	r.showAll(said, true)
	r.showAll(listed, false)
	return r
}

// showAll shows the names in a text.
func (r *Ranking) showAll(text string, inContext bool) {
	Names(text, func(n Name, _ int) {
		if id, ok := r.lookUp(n.Text); ok && id != known {
			r.show(shown{id, inContext})
		}
		eachWithin(n, func(part string) {
			if id, ok := r.lookUp(part); ok && id != known {
				r.show(shown{id, false})
			}
		})
	})
}

// Arrange returns picks in the order of the conversation, without names alone that a line or a longer name shows, too.
func Arrange(picks []Pick) []Pick {
	shown := map[int32]bool{}
	for _, p := range picks {
		within := p.shows
		if p.Alone {
			within = within[1:]
		}
		for _, id := range within {
			shown[id] = true
		}
	}
	var distinct []Pick
	for _, p := range picks {
		if !p.Alone || !shown[p.shows[0]] {
			distinct = append(distinct, p)
		}
	}
	slices.SortFunc(distinct, func(a, b Pick) int { return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.order, b.order)) })
	return joined(distinct)
}

// joined joins parts of a line that overlap, as far as they do not become too long, so that no text stands there twice.
func joined(picks []Pick) []Pick {
	var all []Pick
	for _, p := range picks {
		if n := len(all); n > 0 && p.follows(all[n-1].place) {
			before := &all[n-1]
			p.Text, p.start = p.Text[before.end-p.start:], before.end
			if len(before.Text)+len(p.Text) <= longestPart {
				before.Text, before.end = before.Text+p.Text, p.end
				continue
			}
			p.Text = strings.TrimSpace(p.Text)
		}
		all = append(all, p)
	}
	return all
}

// The bits say how a name was shown.
const (
	shownAlone uint8 = 1 << iota
	shownInContext
)

// Ranking finds lines and names in the order in which a summary should quote them.
type Ranking struct {
	*Collector
	*weighed
	// limit is how many bytes there is room for.
	limit int
	shown []uint8
	// candidates are a heap, by the gains that they had when they were last looked at.
	candidates []candidate
	// again counts in how many further lines each name was shown, once Further was called.
	again []uint8
	// forms are those of the lines that were returned.
	forms quotedForms
}

// weigh does what does not depend on what a summary shows, which is most of the work of the first Ranking.
func (c *Collector) weigh() {
	if c.weighed == nil {
		w := c.weighNames()
		c.rankAll(w)
		c.weighed = w
	}
}

// newRanking returns a ranking of which nothing is shown yet. Rankings begin with the same candidates: gains only fall, so
// those of the candidates whose names a summary shows already are corrected where they come first.
func (c *Collector) newRanking(limit int) *Ranking {
	c.weigh()
	return &Ranking{
		Collector: c, weighed: c.weighed, limit: limit,
		shown: make([]uint8, len(c.names)), candidates: slices.Clone(c.weighed.candidates),
		forms: quotedForms{map[uint64]bool{}, map[rowForm]int{}},
	}
}

// gain returns what quoting a candidate would add, for its length.
func (r *Ranking) gain(at int32) float64 {
	if at < 0 {
		return r.adds(shown{^at, false}) / cost(len(r.names[^at].Text)+nameCost)
	}
	l := &r.lines[at]
	gain := 0.0
	for _, s := range r.shows[l.from:l.to] {
		gain += r.adds(s)
	}
	return gain * lineShare[l.nature] / cost(len(l.text)+lineCost)
}

func (r *Ranking) adds(s shown) float64 {
	if r.again != nil {
		if !s.inContext {
			return 0
		}
		return r.worth[s.id] / float64(1+int(r.again[s.id]))
	}
	gain := 0.0
	if r.shown[s.id]&shownAlone == 0 {
		gain += r.worth[s.id]
	}
	if s.inContext && r.shown[s.id]&shownInContext == 0 {
		gain += contextWorth * r.worth[s.id]
	}
	for _, within := range r.holds.of(s.id) {
		if r.shown[within]&shownAlone == 0 {
			gain += r.worth[within]
		}
	}
	return gain
}

// Further lets Next go on with lines of tools of which all names are shown already, but which say more about these names. A
// name counts less with each of them.
func (r *Ranking) Further() {
	r.again = make([]uint8, len(r.names))
	lines := r.candidates[:0]
	for _, c := range r.candidates {
		if c.line >= 0 && r.lines[c.line].saysMore() {
			lines = append(lines, candidate{r.gain(c.line), c.line})
		}
	}
	r.candidates = lines
	r.order()
}

// saysMore says whether a line of which all names are shown can say more about them. What people and the agent say is for
// statements.
func (l *line) saysMore() bool {
	switch l.nature {
	case plain, match, failure:
		return l.byTool
	default:
		return false
	}
}

func (r *Ranking) show(s shown) {
	if r.again != nil && r.again[s.id] < math.MaxUint8 {
		r.again[s.id]++
	}
	r.shown[s.id] |= shownAlone
	if s.inContext {
		r.shown[s.id] |= shownInContext
	}
	for _, within := range r.holds.of(s.id) {
		r.shown[within] |= shownAlone
	}
}

// Next returns the candidate with the highest gain. Gains only fall, so the first whose gain is still true is the best.
func (r *Ranking) Next() (Pick, bool) {
	for r.limit > 0 && len(r.candidates) > 0 {
		top := &r.candidates[0]
		if gain := r.gain(top.line); gain < top.gain {
			top.gain = gain
			r.sink(0)
			continue
		}
		if top.gain <= 0 {
			return Pick{}, false
		}
		line, gain := top.line, top.gain
		last := len(r.candidates) - 1
		r.candidates[0] = r.candidates[last]
		r.candidates = r.candidates[:last]
		r.sink(0)
		if line >= 0 && r.forms.saysAgain(&r.lines[line], r.alike) {
			continue
		}
		pick := r.pick(line)
		pick.Gain = gain
		r.limit -= len(pick.Text) + lineCost
		return pick, true
	}
	return Pick{}, false
}

// pick shows the names of a candidate.
func (r *Ranking) pick(at int32) Pick {
	if at < 0 {
		id := ^at
		r.show(shown{id, false})
		n := &r.names[id]
		return Pick{First: n.first, Last: n.last, Text: n.shown(), Alone: true, order: id, shows: append([]int32{id}, r.holds.of(id)...)}
	}
	l := &r.lines[at]
	pick := Pick{First: l.message, Last: l.message, Text: l.text, ByTool: l.byTool, order: at, place: l.place}
	for _, s := range r.shows[l.from:l.to] {
		r.show(s)
		pick.shows = append(append(pick.shows, s.id), r.holds.of(s.id)...)
	}
	return pick
}

// rankAll makes a heap of all candidates, with their gains where nothing is shown.
func (c *Collector) rankAll(w *weighed) {
	r := &Ranking{Collector: c, weighed: w, shown: make([]uint8, len(c.names))}
	r.candidates = make([]candidate, 0, len(c.lines)+len(c.names))
	for i := range c.lines {
		if len(c.dropped) > 0 && c.dropped[dropped{c.lines[i].message, c.lines[i].text}] {
			continue
		}
		r.candidates = append(r.candidates, candidate{r.gain(int32(i)), int32(i)})
	}
	for i := range c.names {
		if c.names[i].alone {
			r.candidates = append(r.candidates, candidate{r.gain(^int32(i)), ^int32(i)})
		}
	}
	r.order()
	w.candidates = r.candidates
	w.alike = c.countAlike()
}

// order makes a heap of the candidates.
func (r *Ranking) order() {
	for i := len(r.candidates)/2 - 1; i >= 0; i-- {
		r.sink(i)
	}
}

// sink moves a candidate down the heap to where it belongs.
func (r *Ranking) sink(i int) {
	for {
		first := 2*i + 1
		if first >= len(r.candidates) {
			return
		}
		if second := first + 1; second < len(r.candidates) && r.before(r.candidates[second], r.candidates[first]) {
			first = second
		}
		if !r.before(r.candidates[first], r.candidates[i]) {
			return
		}
		r.candidates[i], r.candidates[first] = r.candidates[first], r.candidates[i]
		i = first
	}
}

// before says whether candidate a comes before b: the one with the higher gain, or of equals the newer one. Of a line and
// a name of one message, the line counts as newer.
func (r *Ranking) before(a, b candidate) bool {
	if a.gain != b.gain {
		return a.gain > b.gain
	}
	if ma, mb := r.messageOf(a.line), r.messageOf(b.line); ma != mb {
		return ma > mb
	}
	if a.line < 0 && b.line < 0 {
		return ^a.line > ^b.line
	}
	return a.line > b.line
}

func (r *Ranking) messageOf(at int32) uint32 {
	if at < 0 {
		return r.names[^at].last
	}
	return r.lines[at].message
}

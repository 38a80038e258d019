package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// levels are the parts of the budget that the narrative can have, the smallest first, each with what it must hold to be
// enough. The last one always is.
var levels = []struct {
	// share is in percent of the budget, and least in tokens.
	share, least int64
	enough       func(n narrative) bool
}{
	{25, 250, func(n narrative) bool { return n.rules && n.said && (n.work && n.earlier || n.open && n.small) }},
	{33, 300, func(n narrative) bool { return n.rules && (n.work && n.earlier || n.small) }},
	{55, 400, func(n narrative) bool { return n.rules }},
	{70, 0, func(n narrative) bool { return n.rules }},
	{85, 0, func(n narrative) bool { return n.rules }},
	{100, 0, func(narrative) bool { return true }},
}

// smallBudget is below how many tokens a budget is small. Names are worth more there than what was done.
const smallBudget = 1500

// fit writes the summary within the budget: a narrative of statements, and quotes of what it leaves out.
func fit(l *ledger, ly *layout, req *summarizers.Request) (pieces []string, ok bool) {
	l.dropRemoved()
	ly.silent = l.silent
	small := req.MaxTokens < smallBudget && req.Kind != summarizers.Range
	w := &fitting{plan: newPlan(l, ly, small), req: req, budget: int64(req.MaxTokens), space: dense, perToken: 4, parting: newParting()}
	if req.MaxTokens >= 400 {
		w.space = airy
	}
	if req.Kind == summarizers.Range {
		return w.fitRange()
	}
	if w.budget >= smallBudget {
		w.files = l.sourceFiles.below(l.root())
	}
	n, ok := w.narrative()
	if !ok {
		return w.least(req)
	}
	n.list = w.parting.withoutRepeats(n.list)
	ranked := w.rank(n)
	if longer, ok := w.inPlaceOfNames(n, ranked); ok {
		n, ranked = longer, w.rank(longer)
	}
	perToken := w.perToken
	quotes, where, all := w.quotes(n, ranked)
	pieces, lines := w.render(n.list, quotes, where)
	if !all {
		return pieces, true
	}
	if n.all {
		return w.fill(pieces, n.list, quotes, where, ranked), true
	}
	// What the quotes do not need is for statements. The heading of the quotes needs room, too; quotes that the statements
	// repeat need none.
	w.perToken = perToken
	room := w.budget - int64(req.Count(strings.Join(lines, "\n")))
	for range 4 {
		longer, ok := w.narrateGenerously(room)
		if !ok {
			break
		}
		both, _ := w.render(longer.list, quotes, where)
		left := w.budget - w.count(both)
		if left >= 0 {
			pieces, n = both, longer
			if longer.all || 50*left <= w.budget {
				break
			}
		}
		room += left
	}
	return w.fill(pieces, n.list, quotes, where, ranked), true
}

// leastGain is what a quote is worth at least if it takes the place of a statement. Chosen by hand: agents of other kinds
// than coding agents get long results with names that nobody uses.
const leastGain = 0.15

// leastAgain is the same for a quote of a message that the previous summary covers. Chosen by hand: the smallest of 0.3, 0.6
// and 1 with which no planted constraint gives way in five compactions.
const leastAgain = 0.6

// inPlaceOfNames returns a longer narrative in place of quotes that are worth too little. It returns false if there are
// none.
func (w *fitting) inPlaceOfNames(n narrative, ranked *quoteList) (longer narrative, ok bool) {
	if n.all {
		return n, false
	}
	left := float64(w.budget - n.tokens)
	for i := 0; ; i++ {
		p, ok := ranked.at(i)
		if !ok || p.Gain < leastGain {
			break
		}
		if w.l.again[p.Last] && p.Gain < leastAgain {
			continue
		}
		if left -= float64(units(p.Text)+lineBytes) / w.perToken; left <= 0 {
			return n, false
		}
	}
	return w.narrateGenerously(n.tokens + int64(left))
}

// narrateGenerously writes a narrative that need not leave anything to quotes.
func (w *fitting) narrateGenerously(budget int64) (n narrative, ok bool) {
	w.generous = true
	n, ok = w.narrate(budget)
	n.list = w.parting.withoutRepeats(n.list)
	return n, ok
}

// rank returns what a narrative leaves out, the best first.
func (w *fitting) rank(n narrative) *quoteList {
	said, listed := n.texts()
	return rankQuotes(w.l.quotes, said, listed, w.budget)
}

// render writes statements and quotes, without what stands in others of them. It also returns the lines below the
// statements.
func (w *fitting) render(list []chosen, quotes []evidence.Pick, where []string) (pieces, lines []string) {
	list, quotes = apartFrom(list, quotes)
	lines = append(w.l.quoteLines(quotes, w.files), where...)
	return w.ly.render(list, lines, w.space), lines
}

// fitting is a summary that is fitted into its budget.
type fitting struct {
	*plan
	req    *summarizers.Request
	budget int64
	space  spacing
	// perToken is how many units a token has, by the latest count.
	perToken float64
	// files are the files that results are of.
	files   sourceFiles
	parting *parting
}

// count returns the tokens of a summary.
func (w *fitting) count(pieces []string) int64 {
	text := strings.Join(pieces, "")
	tokens := int64(w.req.Count(text))
	w.perToken = float64(units(text)) / float64(max(tokens, 1))
	return tokens
}

// units returns how many units a number of tokens has.
func (w *fitting) units(tokens int64) int { return int(min(float64(tokens)*w.perToken, 1<<24)) }

// narrative is the part of a summary that says what happened.
type narrative struct {
	list []chosen
	// all says that nothing was left out or shortened; rules that no rule was but those of a crowd; work that no error,
	// plan, decision, changed file or line of a previous summary was; earlier that no line of an earlier summary was.
	// said says that all that the user said is there, and open all requests and plans.
	all, rules, work, said, open, earlier bool
	// small says that the budget is small.
	small bool
	// tokens is its size.
	tokens int64
}

// texts returns the statements, and the lists of files and commands.
func (n narrative) texts() (said, listed string) {
	var s, l strings.Builder
	for _, c := range n.list {
		text := c.text() + "\n"
		if c.it.kind == kindFile || c.it.kind == kindDone {
			l.WriteString(text)
		} else {
			s.WriteString(text)
		}
	}
	return s.String(), l.String()
}

// narrative returns the narrative in its part of the budget. Counting tokens is slow, so it writes none of which the plan
// says that it will not be enough.
func (w *fitting) narrative() (n narrative, ok bool) {
	w.smallest = w.units(w.level(0))
	w.count(w.ly.render(w.share(w.smallest).list, nil, w.space))
	for i, level := range levels {
		budget := w.level(i)
		w.smallest = w.units(w.level(0))
		if last := i == len(levels)-1; !last && !level.enough(w.share(w.units(budget))) {
			continue
		}
		if n, ok = w.narrate(budget); ok && level.enough(n) {
			break
		}
	}
	return n, ok
}

// level returns the tokens of a level.
func (w *fitting) level(i int) int64 {
	return min(max(w.budget*levels[i].share/100, levels[i].least), w.budget)
}

// narrate writes a narrative within a budget. It plans in units, and adapts the plan a few times to the estimator's
// count.
func (w *fitting) narrate(budget int64) (n narrative, ok bool) {
	if budget <= 0 {
		return n, false
	}
	unitBudget, fitted, before := w.units(budget), 0, int64(0)
	var written []string
	w.tight = budget == w.budget && w.small
	for range 8 {
		w.smallest = int(int64(unitBudget) * min(budget, w.level(0)) / budget)
		tried := w.share(unitBudget)
		if w.goal != nil && !slices.ContainsFunc(tried.list, isRequest) {
			// Headings with nothing below them would fit, but say nothing.
			return n, ok
		}
		pieces := w.ly.render(tried.list, nil, w.space)
		if ok && slices.Equal(pieces, written) {
			if tried.tokens = n.tokens; budget < w.budget || tried.all {
				// A larger plan has no more to say.
				return tried, true
			}
			// This one was not larger by a line.
			fitted, unitBudget = unitBudget, unitBudget+max(unitBudget/16, leastStep)
			continue
		}
		tokens := w.count(pieces)
		tried.tokens = tokens
		if tokens <= budget {
			n, ok, written = tried, true, pieces
			grown := int(min(int64(unitBudget)*budget/max(tokens, 1)*97/100, 1<<24))
			if n.all || tokens >= budget*w.filled(budget)/100 || tokens == before || grown <= unitBudget {
				return n, true
			}
			fitted, unitBudget, before = unitBudget, grown, tokens
			continue
		}
		if ok {
			// This step was too large. If the previous result is not close enough, there is one between them.
			middle := (fitted + unitBudget) / 2
			if budget < w.budget || middle-fitted < leastStep {
				return n, true
			}
			unitBudget = middle
			continue
		}
		if unitBudget = int(int64(unitBudget)*budget/tokens*97/100) - 8; unitBudget <= 0 {
			break
		}
	}
	return n, ok
}

// leastStep is by how many units a plan grows at least for the sake of another line.
const leastStep = 8

// filled returns how many percent of its budget a narrative fills at least, if there is more to say. What it leaves is for
// quotes, but for the whole budget, since then not even the rules fit.
func (w *fitting) filled(budget int64) int64 {
	if budget == w.budget {
		return 98
	}
	return 85
}

// quotes returns as many of the ranked quotes as fit beside a narrative, the best first, and lines that say where results
// are. all says that there are no more.
func (w *fitting) quotes(n narrative, ranked *quoteList) (quotes []evidence.Pick, where []string, all bool) {
	picks := newSources(w.req).withoutSecrets(ranked, 8*w.budget)
	budget := quotedBudget(w.req)
	if w.budget >= smallBudget {
		where = append(w.l.resultLines(), w.l.folderLines(n.list)...)
	}
	with := func(k int) []string {
		return w.ly.render(n.list, append(w.l.quoteLines(picks.first(k), w.files), where...), w.space)
	}
	size := func(k int) int64 { return w.count(with(k)) }
	tokens := size(0)
	if tokens > budget && where != nil {
		where, tokens = nil, size(0)
	}
	perByte := float64(tokens) / float64(len(strings.Join(with(0), "")))
	k := mostThatFit(picks, budget, tokens, perByte, size)
	_, more := picks.at(k)
	return picks.first(k), where, !more
}

// quotedBudget is the budget of a summary with quotes: one that quotes most of what it replaces is of no use.
func quotedBudget(req *summarizers.Request) int64 {
	if req.Replaces > 0 {
		return min(int64(req.MaxTokens), int64(req.Replaces/2))
	}
	return int64(req.MaxTokens)
}

func isRequest(c chosen) bool { return c.it.kind == kindRequest }

// least writes a summary for a budget that hardly holds the headings: the headings with as much of the goal as fits, or
// the goal alone if not even the headings fit.
func (w *fitting) least(req *summarizers.Request) (pieces []string, ok bool) {
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
	frame := w.ly.render(nil, nil, dense)
	if fits(frame) {
		if w.goal == nil {
			return frame, true
		}
		pieces = best(func(limit int) []string {
			if limit == 0 {
				return frame
			}
			return w.ly.render([]chosen{{it: w.goal, limit: limit, goal: true}}, nil, dense)
		})
		return pieces, fits(pieces)
	}
	if w.goal == nil {
		return nil, false
	}
	pieces = best(func(limit int) []string {
		return []string{alone(req, w.ly.line(chosen{it: w.goal, limit: limit, goal: true}, kindRequest))}
	})
	return pieces, fits(pieces)
}

package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// The parts of the budget that the narrative gets before quotes do, in percent: statedShare in any case, workShare if
// errors, plans, decisions and files need it, and the others if rules do. leastStated and leastWork are the least that
// the first two are, in tokens.
const (
	statedShare, leastStated = 25, 250
	workShare, leastWork     = 55, 400
)

var ruleShares = []int64{70, 85, 100}

// fit writes the summary within the budget: a narrative of statements, and quotes of what it leaves out.
func fit(l *ledger, ly *layout, req *summarizers.Request) (pieces []string, ok bool) {
	w := &fitting{plan: newPlan(l, ly), req: req, budget: int64(req.MaxTokens), space: dense}
	if req.MaxTokens >= 400 {
		w.space = airy
	}
	n, ok := w.narrative()
	if !ok {
		return w.least(req)
	}
	picks := l.quotes.Rank(strings.Join(w.ly.render(n.list, nil, w.space), "\n"), int(min(16*w.budget, 1<<24)))
	lines, all := w.quotes(n, (&sources{req: req}).withoutSecrets(picks, 8*w.budget))
	pieces = w.ly.render(n.list, lines, w.space)
	if !all || n.all {
		return pieces, true
	}
	// What the quotes do not need is for statements.
	longer, ok := w.narrate(w.budget - int64(req.Count(strings.Join(lines, "\n"))))
	if !ok {
		return pieces, true
	}
	if both := w.ly.render(longer.list, lines, w.space); w.count(both) <= w.budget {
		pieces = both
	}
	return pieces, true
}

// fitting is a summary that is fitted into its budget.
type fitting struct {
	*plan
	req    *summarizers.Request
	budget int64
	space  spacing
}

func (w *fitting) count(pieces []string) int64 {
	return int64(w.req.Count(strings.Join(pieces, "")))
}

// narrative is the part of a summary that says what happened.
type narrative struct {
	list []chosen
	// all says that nothing was left out or shortened, rules that no rule was, and work that neither an error, a plan, a
	// decision or a file was.
	all, rules, work bool
}

// narrative returns the narrative in its part of the budget.
func (w *fitting) narrative() (n narrative, ok bool) {
	stated := max(w.budget*statedShare/100, leastStated)
	if n, ok = w.narrate(stated); ok && n.rules && n.work {
		return n, true
	}
	work := max(w.budget*workShare/100, leastWork)
	if n, ok = w.narrate(work); ok && n.rules {
		return n, true
	}
	for _, share := range ruleShares {
		if n, ok = w.narrate(w.budget * share / 100); ok && n.rules {
			break
		}
	}
	return n, ok
}

// narrate writes a narrative within a budget. It plans in units, and adapts the plan a few times to the estimator's
// count.
func (w *fitting) narrate(budget int64) (n narrative, ok bool) {
	if budget = min(budget, w.budget); budget <= 0 {
		return n, false
	}
	unitBudget := int(min(4*budget, 1<<24))
	for range 8 {
		tried := w.share(unitBudget)
		if w.goal != nil && !slices.ContainsFunc(tried.list, isRequest) {
			// Headings with nothing below them would fit, but say nothing.
			return n, ok
		}
		tokens := w.count(w.ly.render(tried.list, nil, w.space))
		if tokens <= budget {
			n, ok = tried, true
			grown := int(min(int64(unitBudget)*budget/max(tokens, 1)*97/100, 1<<24))
			if n.all || tokens >= budget*9/10 || grown <= unitBudget {
				return n, true
			}
			unitBudget = grown
			continue
		}
		if ok {
			// This step was too large; the previous result is close enough.
			return n, true
		}
		if unitBudget = int(int64(unitBudget)*budget/tokens*97/100) - 8; unitBudget <= 0 {
			break
		}
	}
	return n, ok
}

// quotes returns the lines of as many picks as fit beside a narrative, up to a fiftieth of the budget, and whether these
// are all. It guesses how many fit from the counts so far, since counting tokens is slow.
func (w *fitting) quotes(n narrative, picks []evidence.Pick) (lines []string, all bool) {
	budget := w.budget
	if w.req.Replaces > 0 {
		// A summary that quotes most of what it replaces is of no use.
		budget = min(budget, int64(w.req.Replaces/2))
	}
	text := strings.Join(w.ly.render(n.list, nil, w.space), "")
	low, high := 0, len(picks)+1
	tokens := w.count([]string{text})
	perByte := float64(max(tokens, 1)) / float64(max(len(text), 1))
	for range maxGuesses {
		k, bytes := low, 0.0
		for ; k < high-1 && float64(tokens)+bytes*perByte < float64(budget)*0.99; k++ {
			bytes += float64(len(picks[k].Text) + lineBytes)
		}
		if k = max(k, low+1); k >= high {
			break
		}
		now := w.count(w.ly.render(n.list, quoteLines(picks[:k]), w.space))
		if now > tokens && bytes > 0 {
			perByte = float64(now-tokens) / bytes
		}
		if now > budget {
			high = k
			continue
		}
		low, tokens = k, now
		if 50*tokens >= 49*budget {
			break
		}
	}
	return quoteLines(picks[:low]), low == len(picks)
}

// maxGuesses is how often the tokens of quotes are counted at most, and lineBytes what a quote has beside its text.
const (
	maxGuesses = 8
	lineBytes  = 4
)

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
	frame := w.ly.render(nil, nil, tight)
	if fits(frame) {
		if w.goal == nil {
			return frame, true
		}
		pieces = best(func(limit int) []string {
			if limit == 0 {
				return frame
			}
			return w.ly.render([]chosen{{it: w.goal, limit: limit, goal: true}}, nil, tight)
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

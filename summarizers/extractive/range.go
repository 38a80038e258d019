package extractive

import (
	"slices"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// A range that is folded is work that has ended. What follows it in the view says what comes next, and has the newest
// to-do list.

// finish reads the end of a range as the end of its work: plans and steps in progress are dropped, and to-do items that
// were done before it. Without a request of the user, the item that was in progress says what the work was about.
func (l *ledger) finish() {
	var about *item
	for _, it := range l.todos {
		if it.kind == kindDoing && about == nil {
			about = it
		}
	}
	l.todos = nil
	all := func(*item) bool { return true }
	l.dropItems(kindNext, all)
	l.dropItems(kindDoing, all)
	l.dropItems(kindDone, func(it *item) bool { return it.box == doneBox && len(it.cites) < 2 })
	asked := slices.ContainsFunc(l.requests, func(it *item) bool { return !it.noise })
	if about != nil && !asked {
		l.requests, about.box = nil, noBox
		l.add(about)
	}
}

// beginsWithWork makes the first section begin with the work in place of a request.
func (ly *layout) beginsWithWork() {
	ly.sections[ly.goal].holds = kindDoing
	ly.place[kindDoing] = ly.goal
}

// quotedOfRange is how many tokens of quotes a range has at most: its best lines. In folds of recorded sessions, those after
// them only repeated code.
const quotedOfRange = 200

// fitRange writes the text of a range: the statements have the whole budget, and the best lines what is left, within
// their limit. What files hold can be read again, and names say nothing there without their lines.
func (w *fitting) fitRange() (pieces []string, ok bool) {
	n, ok := w.narrateGenerously(w.budget)
	if !ok {
		return w.least(w.req)
	}
	bounded := *w.req
	bounded.MaxTokens = uint32(min(w.budget, n.tokens+quotedOfRange))
	w.req, w.budget = &bounded, int64(bounded.MaxTokens)
	ranked := w.rank(n).without(func(p evidence.Pick) bool {
		return p.Alone || p.ByTool && w.l.sourceFiles[p.Last] != ""
	})
	quotes, _, _ := w.quotes(n, ranked)
	pieces, _ = w.render(n.list, quotes, nil)
	return pieces, true
}

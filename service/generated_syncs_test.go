package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// listHolder is an agent that holds its list as a framework does, and the naive model of what its session must hold.
type listHolder struct {
	t    *rapid.T
	d    *daemon
	s    *speaker
	c    *syncing
	list []listElement
	// ids is the number that the ids of the list's calls begin with.
	ids int
	// raw reports that the list was never taken from a view, so that the log must hold just the list. Else the view must.
	raw bool
	// unchanged reports that nothing of the list has changed since it was last taken from a view.
	unchanged bool
	counts    map[string]int
}

func (a *listHolder) draw(from, to int, label string) int {
	return rapid.IntRange(from, to).Draw(a.t, label)
}

// text returns one of few texts, so that elements are often equal, or a new one.
func (a *listHolder) text() string {
	if a.draw(0, 1, "known text") == 0 {
		return []string{"ok", "yes", "Go on."}[a.draw(0, 2, "text")]
	}
	return fmt.Sprintf("text %d %s", a.s.number(), strings.Repeat("and so on ", a.draw(0, 40, "long")))
}

func (a *listHolder) turn() {
	a.list = append(a.list, a.s.user(a.text()))
	for range a.draw(0, 3, "uses") {
		if a.draw(0, 2, "says why") == 0 {
			a.list = append(a.list, a.s.answer(a.text()))
		}
		use := a.s.use(fmt.Sprintf("call-%d-%d", a.ids, a.s.number()), a.text(), a.text())
		a.list = append(a.list, use...)
	}
	if a.draw(0, 3, "answers") > 0 {
		a.list = append(a.list, a.s.answer(a.text()))
	}
}

// step changes the list, or what the client remembers.
func (a *listHolder) step() {
	switch what := a.draw(0, 9, "what"); {
	case what <= 3:
		a.counts["turn"]++
		a.turn()
	case what == 4 && len(a.list) > 0:
		a.counts["drop the end"]++
		a.cut(a.draw(0, len(a.list)-1, "elements left"))
	case what == 5 && len(a.list) > 0:
		a.counts["regenerate"]++
		a.cut(len(a.list) - 1)
		a.list = append(a.list, a.s.answer(a.text()))
	case what == 6 && len(a.list) > 0:
		a.counts["edit"]++
		a.unchanged = false
		at := a.draw(0, len(a.list)-1, "edited")
		a.list = slices.Clone(a.list)
		a.list[at] = a.s.user(a.text())
		a.c.known = min(a.c.known, at)
	case what == 7:
		a.counts["restart"]++
		a.c.token, a.c.point = "", nil
		a.c.known = len(a.list) * a.draw(0, 1, "by digests")
	case what == 8:
		a.compact()
	default:
		a.takeView()
	}
}

func (a *listHolder) cut(left int) {
	a.unchanged = false
	a.list = a.list[:left:left]
	a.c.known = min(a.c.known, left)
}

func (a *listHolder) compact() {
	if a.d.session("s").GetReport().GetOpenCallCount() > 0 {
		return
	}
	a.compactTo(uint32(a.draw(1, 300, "recent")))
}

// compactTo compacts the session, so that about so many tokens are kept.
func (a *listHolder) compactTo(recent uint32) {
	if events, err := a.d.compact(compactRequest("s", small(recent))); err == nil &&
		len(events) > 0 && events[len(events)-1].GetCompleted() != nil {
		a.counts["compact"]++
	}
}

// goOnFromTheView adds to the list, and has it replaced by the view after a compaction, which another process goes on from. It
// draws nothing, so that each life has that, and kept failures stay what they are.
func (a *listHolder) goOnFromTheView() {
	for range 3 {
		a.list = append(a.list, a.s.user(strings.Repeat("and so on ", 40)), a.s.answer("ok"))
	}
	a.sync()
	a.compactTo(1)
	a.takeView()
	a.c.token, a.c.point, a.c.known = "", nil, 0
	a.list = append(a.list, a.s.user("Go on."))
	a.sync()
}

// takeView has the list replaced by the session's view, as a framework does that stores what it gets.
func (a *listHolder) takeView() {
	if len(a.list) == 0 {
		return
	}
	a.c.token = ""
	answer := a.c.sync(a.list)
	if answer.view == nil {
		return
	}
	a.counts["take a view"]++
	a.list, a.raw, a.unchanged = a.c.stored(answer.view), false, true
	a.c.known, a.c.lead = 0, 0
}

// sync syncs the list, and compares with the model.
func (a *listHolder) sync() {
	before := a.c.known
	answer := a.c.sync(a.list)
	if answer.view != nil {
		a.c.token = answer.view.GetViewToken()
	}
	if answer.GetRevert() != nil {
		a.counts["went back"]++
	}
	if answer.GetBeginsWithView() {
		a.counts["began with a view"]++
	}
	want := spokenIn(a.d, a.c.kind, a.list)
	if a.raw {
		require.Equal(a.t, want, spoken(a.d.active("s")))
	} else if a.unchanged {
		require.Nil(a.t, answer.GetRevert(), "the agent has changed nothing of the view")
		a.requireView(want)
	}
	if a.raw && a.c.calls == 1 && before > 0 {
		require.LessOrEqual(a.t, a.c.sent, len(a.list)-before, "what the daemon has is not sent")
	}
	// The same list changes nothing, whoever sends it.
	other := &syncing{t: a.t, d: a.d, id: "s", kind: a.c.kind}
	for _, again := range []*syncing{a.c, other} {
		same := again.sync(a.list)
		require.Nil(a.t, same.GetRevert())
		require.Zero(a.t, same.GetAppendedMessages())
		require.Equal(a.t, answer.GetPoint(), same.GetPoint())
	}
}

// requireView compares the view of the session with what an agent says that goes on from a view.
func (a *listHolder) requireView(want []string) {
	whole := &syncing{t: a.t, d: a.d, id: "s", kind: a.c.kind}
	answer, err := whole.try(a.list)
	require.NoError(a.t, err)
	if answer.view == nil {
		return
	}
	now := spokenIn(a.d, a.c.kind, whole.stored(answer.view))
	require.NotEmpty(a.t, now)
	if len(want) > 0 {
		require.Equal(a.t, want[len(want)-1], now[len(now)-1], "the view ends as the list does")
	}
}

// Whatever an agent does with its list, the session holds just that list, and only what is new is sent and written.
func TestGeneratedSyncs(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom(listDialects).Draw(rt, "dialect")
		d := start(t)
		defer d.stop()
		d.create("s", nil)
		a := &listHolder{
			t: rt, d: d, s: &speaker{kind: kind}, c: &syncing{t: rt, d: d, id: "s", kind: kind}, raw: true, counts: counts,
		}
		for range a.draw(1, 25, "steps") {
			a.step()
			if a.draw(0, 2, "sync") > 0 {
				a.sync()
			}
		}
		a.sync()
		a.goOnFromTheView()
	})
	for _, what := range []string{
		"turn", "drop the end", "regenerate", "edit", "restart", "compact", "take a view", "went back", "began with a view",
	} {
		require.NotZero(t, counts[what], "no agent did this: %s", what)
	}
	t.Log(counts)
}

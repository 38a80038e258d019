package sessiontest

import (
	"fmt"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// match finds the call that each result answers, from the start of the active messages on.
func (m *Model) match() {
	loop, answering := 0, false
	for i, a := range m.Messages {
		a.loop = loop
		switch {
		case a.is(compactordv1.Role_ROLE_ASSISTANT):
			if !a.Failed() {
				if m.SaidMeanwhile || !answering {
					m.closeOpen(a)
				}
				answering = true
			}
			m.addCalls(a)
		case a.is(compactordv1.Role_ROLE_TOOL):
			m.matchResult(i, a)
			answering = answering && a.Place == compactordv1.ResultPlace_RESULT_PLACE_VOID
		default:
			m.giveUp(a)
			answering = false
		}
		if a.endsLoop() {
			loop++
		}
	}
}

// endsLoop reports whether a message is the user's, or was said while calls waited for their results.
func (a *Active) endsLoop() bool {
	return a.is(compactordv1.Role_ROLE_USER) || len(a.Closes) > 0 && !a.is(compactordv1.Role_ROLE_ASSISTANT)
}

// giveUp notes that a message was said while calls waited: views show these as given up before it.
func (m *Model) giveUp(said *Active) {
	for _, c := range m.Calls {
		if c.Open && c.GivenUpBy == nil {
			c.GivenUpBy = said
			said.Closes = append(said.Closes, c)
		}
	}
	m.SaidMeanwhile = slices.ContainsFunc(m.Calls, func(c *Call) bool { return c.Open || c.Void })
}

// closeOpen closes the calls before an answer of the model, which was asked without their results.
func (m *Model) closeOpen(answer *Active) {
	for _, c := range m.Calls {
		if c.Open {
			c.Open, c.ClosedBy = false, answer
			if c.GivenUpBy == nil {
				c.GivenUpBy = answer
				answer.Closes = append(answer.Closes, c)
			}
		}
		c.Void = c.Void && !m.SaidMeanwhile
	}
	m.SaidMeanwhile = false
}

func (m *Model) addCalls(a *Active) {
	for part, p := range a.Message.GetParts() {
		call := p.GetToolCall()
		if call == nil {
			continue
		}
		c := &Call{
			Owner: a, Part: uint32(part), ID: call.GetId(), Name: call.GetName(),
			Open: !a.Failed(), Void: a.Failed(),
		}
		if c.ID == "" {
			c.ID, c.Nameless = fmt.Sprintf("call_%d_%d", a.Index, part), true
		}
		m.Calls, a.calls = append(m.Calls, c), append(a.calls, c)
	}
}

func (m *Model) matchResult(at int, a *Active) {
	id := a.Message.GetParts()[0].GetToolResult().GetCallId()
	fits := func(c *Call) bool { return c.ID == id || id == "" && c.Nameless }
	open := m.nearest(at, func(c *Call) bool { return c.Open && fits(c) })
	void := m.nearest(at, func(c *Call) bool { return c.Void && fits(c) })
	switch {
	case open != nil:
		a.Place, a.Answers = compactordv1.ResultPlace_RESULT_PLACE_ANSWER, open
		open.Open, open.Result, a.Late = false, a, open.GivenUpBy != nil
	case void != nil:
		a.Place, a.Answers = compactordv1.ResultPlace_RESULT_PLACE_VOID, void
		void.Void = false
	default:
		// Views quote it as something that was said to the model.
		a.Place = compactordv1.ResultPlace_RESULT_PLACE_STRAY
		m.giveUp(a)
	}
}

// nearest goes back to the nearest message with a call that fits. The calls of one message are answered in their order.
func (m *Model) nearest(at int, fits func(*Call) bool) *Call {
	for i := at - 1; i >= 0; i-- {
		for _, c := range m.Messages[i].calls {
			if fits(c) {
				return c
			}
		}
	}
	return nil
}

// OpenCalls returns the calls that still wait for a result.
func (m *Model) OpenCalls() []*Call {
	return slices.DeleteFunc(slices.Clone(m.Calls), func(c *Call) bool { return !c.Open })
}

// Awaited returns the open calls after which nothing was said.
func (m *Model) Awaited() []*Call {
	if m.SaidMeanwhile {
		return nil
	}
	return m.OpenCalls()
}

// leader returns the message that leads the group of a message; nil where it belongs to none.
func (a *Active) leader() *Active {
	switch {
	case a.is(compactordv1.Role_ROLE_ASSISTANT):
		return a
	case a.Place == compactordv1.ResultPlace_RESULT_PLACE_ANSWER:
		return a.Answers.Owner
	default:
		return nil
	}
}

// WithGroups returns those of the indexes that are active, with all other members of their tool groups, ascending.
func (m *Model) WithGroups(indexes []uint32) []uint32 {
	var all []uint32
	for _, index := range indexes {
		asked := m.Find(index)
		if asked == nil {
			continue
		}
		all = append(all, index)
		leader := asked.leader()
		for _, a := range m.Messages {
			if leader != nil && a.leader() == leader {
				all = append(all, a.Index)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// CutPlaces returns the indexes of the kept messages before which a cut is valid.
func (m *Model) CutPlaces() []uint32 {
	var places []uint32
	for _, a := range m.Kept() {
		if a.is(compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT) && !a.Failed() && !m.straddled(a.Index) &&
			!m.emptiedBy(a, m.editsOf(a)) {
			places = append(places, a.Index)
		}
	}
	return places
}

// straddled reports whether a tool group has members on both sides of a cut before the message with this index. An open
// group extends to the end of the log. A group with a call given up extends to the message before which its missing
// result is shown.
func (m *Model) straddled(cut uint32) bool {
	return slices.ContainsFunc(m.Calls, func(c *Call) bool {
		if c.Owner.Failed() || c.Owner.Index >= cut {
			return false
		}
		return c.Open || c.Result != nil && c.Result.Index >= cut || c.GivenUpBy != nil && c.GivenUpBy.Index > cut
	})
}

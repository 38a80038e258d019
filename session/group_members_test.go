package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// membersOf reads a log as the service does, and counts the messages that it must read.
func membersOf(w *sessiontest.Writer, indexes []uint32) (members []uint32, seen int) {
	g := session.NewGroupMembers()
	for _, index := range indexes {
		g.Ask(w.Messages[index])
	}
	for next, more := g.Next(0); more; {
		start, end := session.ActiveRun(w.Head, next)
		if start == end {
			break
		}
		g.See(w.Messages[start])
		seen++
		next, more = g.Next(start + 1)
	}
	return g.Members(), seen
}

// The members of groups are those that the model finds in the whole log.
func TestGroupMembersOverGeneratedLogs(t *testing.T) {
	counts := make(sessiontest.Counts)
	groups, asides := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, counts)
		for range sessiontest.Steps(t, 120) {
			g.Step(t)
			model := g.Model()
			if len(model.Messages) == 0 {
				continue
			}
			var indexes []uint32
			for range rapid.IntRange(1, 3).Draw(t, "asked") {
				indexes = append(indexes, rapid.SampledFrom(model.Messages).Draw(t, "message").Index)
			}
			want := model.WithGroups(indexes)
			got, seen := membersOf(g.W, indexes)
			require.Equal(t, want, got, "%v in\n%s", indexes, story(g.W.Log))
			require.LessOrEqual(t, seen, len(model.Messages), "each message is looked at once at the most")
			if len(want) > len(indexes) {
				groups++
			}
			if len(model.Messages) < len(g.W.Messages) {
				asides++
			}
		}
	})
	require.Greater(t, groups, 100)
	require.Greater(t, asides, 100)
}

// Messages before a group and after its last result are not read.
func TestGroupMembersReadNoMoreThanTheGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		for range sessiontest.Steps(t, 60) {
			g.Step(t)
		}
		for _, a := range g.Model().Messages {
			members, seen := membersOf(g.W, []uint32{a.Index})
			if a.Failed() {
				require.Equal(t, 1, seen, "the calls of a message that failed are closed at once")
			}
			if len(members) > 1 && !openGroup(g.Model(), members[0]) {
				last := members[len(members)-1]
				for _, call := range g.Model().Calls {
					if call.Owner.Index == members[0] && call.ClosedBy != nil {
						last = call.ClosedBy.Index
					}
				}
				require.LessOrEqual(t, seen, int(last-members[0])+1)
			}
		}
	})
}

func openGroup(m *sessiontest.Model, leader uint32) bool {
	for _, call := range m.OpenCalls() {
		if call.Owner.Index == leader {
			return true
		}
	}
	return false
}

package strategies_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
)

// What the strategies hide, computed independently of the code, for each result alone.

// observed is a log from the point of view of one result, with what the view shows of each message.
type observed struct {
	*session.State
	shown map[uint32]*compactordv1.ViewMessage
}

func observe(s *session.State) observed {
	o := observed{s, make(map[uint32]*compactordv1.ViewMessage)}
	for _, vm := range s.View(session.ViewOptions{}).Messages {
		switch origin := vm.GetOrigin().(type) {
		case *compactordv1.ViewMessage_Index:
			o.shown[origin.Index] = vm
		case *compactordv1.ViewMessage_LogRepair:
			if origin.LogRepair.GetKind() == compactordv1.LogRepairKind_LOG_REPAIR_KIND_STRAY_RESULT {
				o.shown[origin.LogRepair.GetIndex()] = vm
			}
		}
	}
	return o
}

// text returns the result's text in the view, without the text around a quotation.
func (o observed) text(l *compactordv1.LoggedMessage) string {
	var b strings.Builder
	m := o.shown[l.GetIndex()].GetMessage()
	if m.GetRole() == compactordv1.Role_ROLE_USER {
		for _, p := range m.GetParts()[1:] {
			b.WriteString(p.GetText().GetText())
		}
	}
	for _, rp := range m.GetParts()[0].GetToolResult().GetParts() {
		b.WriteString(rp.GetText().GetText())
	}
	return b.String()
}

// size returns the size of the result in the view, in the counter's units. Without edits it is the log's count,
// otherwise that of the text alone, since every edit removes media.
func (o observed) size(l *compactordv1.LoggedMessage) uint64 {
	if len(o.Edits[l.GetIndex()]) == 0 {
		return uint64(l.GetPartSizes()[0])
	}
	return uint64(o.Counter.TextSize(o.text(l)))
}

func (o observed) tokens(l *compactordv1.LoggedMessage) uint32 { return o.Counter.Tokens(o.size(l)) }

// callsAfter counts the calls after a part of a message that views show, so none of a fold.
func (o observed) callsAfter(index, part uint32) uint32 {
	var calls uint32
	for _, l := range o.Kept {
		if session.Failed(l.GetMessage()) || o.Folded(l) {
			continue
		}
		for i, p := range l.GetMessage().GetParts() {
			if p.GetToolCall() != nil && (l.GetIndex() > index || l.GetIndex() == index && uint32(i) > part) {
				calls++
			}
		}
	}
	return calls
}

// groupsFrom counts the messages with calls from an index on.
func (o observed) groupsFrom(index uint32) uint32 {
	var groups uint32
	for _, l := range o.Kept {
		if l.GetIndex() >= index && !session.Failed(l.GetMessage()) && !o.Folded(l) &&
			len(session.Calls(l.GetMessage(), l.GetIndex())) > 0 {
			groups++
		}
	}
	return groups
}

// lastOfGroup returns the index of the newest result in a result's group, or its own index if it has no group.
func (o observed) lastOfGroup(m *compactordv1.LoggedMessage) uint32 {
	last := m.GetIndex()
	for _, l := range o.Kept {
		if m.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER &&
			l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER &&
			l.GetAnswers().GetIndex() == m.GetAnswers().GetIndex() {
			last = max(last, l.GetIndex())
		}
	}
	return last
}

func (o observed) turnsAfter(index uint32) uint32 {
	var turns uint32
	for _, l := range o.Kept {
		if l.GetIndex() > index && session.StartsTurn(l.GetMessage()) {
			turns++
		}
	}
	return turns
}

// mayBeHidden checks a result by everything but its age. All placeholders are `[gone]`, which has 2 tokens.
func (o observed) mayBeHidden(l *compactordv1.LoggedMessage, tools []string) bool {
	if l.GetMessage().GetRole() != compactordv1.Role_ROLE_TOOL || session.Pinned(o.Head, l.GetIndex()) {
		return false
	}
	for _, e := range o.Edits[l.GetIndex()] {
		switch e.GetKind() {
		case compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT,
			compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, compactordv1.EditKind_EDIT_KIND_FOLD:
			return false
		default:
		}
	}
	for _, tool := range tools {
		if l.GetAnswers().GetName() == tool {
			return false
		}
	}
	switch l.GetResultPlace() {
	case compactordv1.ResultPlace_RESULT_PLACE_ANSWER:
		for _, e := range o.Edits[l.GetAnswers().GetIndex()] {
			if e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP {
				return false
			}
		}
		for _, call := range o.Head.GetOpenCalls() {
			if call.GetIndex() == l.GetAnswers().GetIndex() {
				return false
			}
		}
		return o.tokens(l) > 2
	case compactordv1.ResultPlace_RESULT_PLACE_STRAY:
		quoted := uint64(o.Counter.TextSize(wording.StrayResultHeading(l.GetMessage().GetParts()[0].GetToolResult())))
		return o.Counter.Tokens(quoted+o.size(l)) >
			o.Counter.Tokens(quoted+uint64(o.Counter.TextSize("[gone]")))
	default:
		return false
	}
}

// requireHides compares what a strategy hides with a rule for each result.
func requireHides(
	t *rapid.T, l *testLog, parameters *compactordv1.Strategy, minimum uint32, old func(observed, *compactordv1.LoggedMessage) bool,
) (hidden []uint32) {
	s := observe(l.state())
	made, err := registry().Plan(t.Context(), &strategies.Input{State: s.State, Policy: l.policy}, parameters)
	require.NoError(t, err)
	var want []uint32
	var holds uint32
	for _, m := range s.Kept {
		if m.GetMessage().GetRole() == compactordv1.Role_ROLE_TOOL && old(s, m) {
			want = append(want, m.GetIndex())
			holds += s.tokens(m)
		}
	}
	if holds <= minimum {
		want = nil
	}
	require.Equal(t, want, hiddenIn(made))
	return want
}

func TestHideRules(t *testing.T) {
	t.Parallel()
	did := seen{}
	checkRounds(t, func(t *rapid.T) {
		l, parameters := generate(t), hideOf(t)
		p := parameters.GetHideToolResults()
		p.Placeholder, p.KeepGroups, p.ClearArguments = proto.String("[gone]"), proto.Uint32(uint32(dice(t, 4))), nil
		hidden := requireHides(t, l, parameters, p.GetMinimumTokens(), func(s observed, m *compactordv1.LoggedMessage) bool {
			after := uint32(0)
			for _, other := range s.Kept {
				if other.GetIndex() > m.GetIndex() {
					after++
				}
			}
			old := s.groupsFrom(m.GetAnswers().GetIndex()+1) >= p.GetKeepGroups()
			if m.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_STRAY {
				all, newer := s.groupsFrom(0), s.groupsFrom(m.GetIndex())
				old = p.GetKeepGroups() == 0 || all > 0 && newer >= min(all, p.GetKeepGroups())
				did.count("stray", old && s.mayBeHidden(m, p.GetProtectedTools()))
			}
			return old && after >= p.GetKeepMessages() && s.mayBeHidden(m, p.GetProtectedTools()) &&
				utf8.RuneCountInString(s.text(m)) >= int(p.GetMinChars())
		})
		did.count("hidden", len(hidden) > 0)
	})
	did.require(t, 10, "hidden", "stray")
}

func TestMaskRulesOfTurns(t *testing.T) {
	t.Parallel()
	did := seen{}
	checkRounds(t, func(t *rapid.T) {
		l, parameters := generate(t), maskOf(t)
		p := parameters.GetMaskObservations()
		p.Placeholder, p.KeepTurns = proto.String("[gone]"), proto.Uint32(1+uint32(dice(t, 3)))
		p.KeepGroups, p.ClearArguments = nil, nil
		hidden := requireHides(t, l, parameters, p.GetMinimumTokens(), func(s observed, m *compactordv1.LoggedMessage) bool {
			return s.turnsAfter(s.lastOfGroup(m)) >= p.GetKeepTurns() && s.mayBeHidden(m, p.GetProtectedTools()) &&
				utf8.RuneCountInString(s.text(m)) >= int(p.GetMinChars())
		})
		did.count("hidden", len(hidden) > 0)
	})
	did.require(t, 10, "hidden")
}

func TestClearRules(t *testing.T) {
	t.Parallel()
	did := seen{}
	checkRounds(t, func(t *rapid.T) {
		l, parameters := generate(t), clearOf(t)
		p := parameters.GetClearToolUses()
		p.Placeholder, p.KeepCalls = proto.String("[gone]"), proto.Uint32(uint32(dice(t, 4)))
		p.ClearArguments = nil
		hidden := requireHides(t, l, parameters, p.GetMinimumTokens(), func(s observed, m *compactordv1.LoggedMessage) bool {
			if m.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_ANSWER ||
				s.Head.GetViewTokens() < p.GetTriggerTokens() {
				return false
			}
			newer := s.callsAfter(m.GetAnswers().GetIndex(), m.GetAnswers().GetPart())
			return newer >= p.GetKeepCalls() && s.mayBeHidden(m, p.GetProtectedTools()) &&
				utf8.RuneCountInString(s.text(m)) >= int(p.GetMinChars())
		})
		did.count("hidden", len(hidden) > 0)
	})
	did.require(t, 10, "hidden")
}

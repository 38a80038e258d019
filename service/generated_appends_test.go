package service_test

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// drawArrival sets on_append or on_user_message in a policy, or neither.
func (w *checkedService) drawArrival(policy *compactordv1.Policy) {
	policy.OnAppend, policy.OnUserMessage = nil, nil
	switch w.draw(0, 5, "on append") {
	case 0:
		policy.OnAppend = truncating(uint32(w.draw(1, 400, "max chars"))).GetOnAppend()
	case 1:
		policy.OnAppend = offloading(uint32(w.draw(1, 100, "over tokens"))).GetOnAppend()
	default:
	}
	var list []*compactordv1.Strategy
	for range max(0, w.draw(-3, 2, "on user message")) {
		list = append(list, w.drawOnUserMessage())
	}
	if len(list) > 0 {
		policy.OnUserMessage = listOf(list...)
	}
}

func (w *checkedService) drawOnUserMessage() *compactordv1.Strategy {
	switch w.draw(0, 3, "what") {
	case 0, 1:
		return &compactordv1.Strategy{Kind: &compactordv1.Strategy_DialogueOnly{
			DialogueOnly: &compactordv1.DialogueOnlyStrategy{
				KeepTurns:  proto.Uint32(uint32(w.draw(0, 1, "turns"))),
				ToolDigest: compactordv1.ToolDigest(w.draw(1, 2, "digest")).Enum(),
			},
		}}
	case 2:
		return &compactordv1.Strategy{Kind: &compactordv1.Strategy_HideToolResults{
			HideToolResults: &compactordv1.HideToolResultsStrategy{
				KeepGroups: proto.Uint32(uint32(w.draw(0, 3, "groups"))), Placeholder: proto.String("[hidden]"),
			},
		}}
	default:
		s := hideOld()
		s.GetPruneToolOutputs().KeepTurns = proto.Uint32(uint32(w.draw(0, 2, "turns")))
		return s
	}
}

// checkAppended compares what an append did with the policy of that time.
func (w *checkedService) checkAppended(policy *compactordv1.Policy, before uint32, log *sessiontest.Log) {
	appended := log.Items[before+1:]
	w.checkArrivalEdits(policy, appended[0], modelAt(log, before+1))
	prunes := 0
	for at, item := range appended[1:] {
		prunes++
		require.Equal(w.t, userMessage, item.Record.GetPrune().GetProvenance().GetReason())
		require.True(w.t, session.StartsTurn(appended[0].Message), "only what starts a turn shortens the view")
		then := modelAt(log, before+1+uint32(at)).View(session.ViewOptions{}).Tokens
		now := modelAt(log, log.Newest()).View(session.ViewOptions{}).Tokens
		require.Less(w.t, now, then)
		require.Equal(w.t, []uint32{then, now}, []uint32{
			item.Record.GetPrune().GetTokensBefore(), item.Record.GetPrune().GetTokensAfter(),
		})
		w.counts["shortened on a user's message"]++
	}
	require.LessOrEqual(w.t, prunes, 1)
	if session.StartsTurn(appended[0].Message) {
		for _, s := range policy.GetOnUserMessage().GetStrategies() {
			w.checkHidden(s, modelAt(log, log.Newest()))
		}
	}
}

// checkArrivalEdits asserts that exactly the results that the policy concerns were edited.
func (w *checkedService) checkArrivalEdits(policy *compactordv1.Policy, item sessiontest.Item, m *sessiontest.Model) {
	last := m.Messages[len(m.Messages)-1]
	if last.Place != compactordv1.ResultPlace_RESULT_PLACE_ANSWER || len(policy.GetOnAppend().GetStrategies()) == 0 {
		require.Empty(w.t, item.Arrival)
		return
	}
	r := item.Message.GetParts()[0].GetToolResult()
	var text strings.Builder
	for _, rp := range r.GetParts() {
		if rp.GetMedia() != nil {
			w.counts["media left on arrival"]++
			require.Empty(w.t, item.Arrival, "no model has seen the media yet")
			return
		}
		text.WriteString(rp.GetText().GetText())
	}
	if len(item.Arrival) > 0 {
		w.counts["edited on arrival"]++
	}
	s := policy.GetOnAppend().GetStrategies()[0]
	if t := s.GetTruncateToolOutputs(); t != nil {
		chars, most := utf8.RuneCountInString(text.String()), int(t.GetMaxChars()+t.GetTailChars())
		const mark = 200
		switch {
		case chars <= most && len(r.GetParts()) == 1:
			require.Empty(w.t, item.Arrival, "%d characters of %d", chars, most)
		case chars > most+mark:
			require.Len(w.t, item.Arrival, 1, "%d characters of %d", chars, most)
		}
	}
	if o := s.GetOffload(); o != nil {
		counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
		require.NoError(w.t, err)
		tokens := session.MessageTokens(counter, item.Message)
		const preview = 100
		switch {
		case tokens <= o.GetOverTokens() || r.GetIsError():
			require.Empty(w.t, item.Arrival, "%d tokens of %d", tokens, o.GetOverTokens())
		case tokens > max(o.GetOverTokens(), preview):
			require.Len(w.t, item.Arrival, 1, "%d tokens of %d", tokens, o.GetOverTokens())
		}
	}
}

// checkHidden asserts that the view shows nothing that the strategy hides and that could be shorter.
func (w *checkedService) checkHidden(s *compactordv1.Strategy, m *sessiontest.Model) {
	if s.GetDialogueOnly().GetToolDigest() == compactordv1.ToolDigest_TOOL_DIGEST_NOTHING {
		w.checkDialogueOnly(s.GetDialogueOnly(), m)
	}
	p := s.GetPruneToolOutputs()
	if p == nil {
		return
	}
	turns := int(p.GetKeepTurns())
	for i := len(m.Kept()) - 1; i >= 0; i-- {
		a := m.Kept()[i]
		if turns > 0 {
			if session.StartsTurn(a.Message) {
				turns--
			}
			continue
		}
		if a.Place != compactordv1.ResultPlace_RESULT_PLACE_ANSWER || m.Pinned(a.Index) ||
			a.Message.GetParts()[0].GetToolResult().GetIsError() || len(a.Arrival) > 0 || ofOpenGroup(m, a) {
			continue
		}
		for _, vm := range m.View(session.ViewOptions{}).Messages {
			if o, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ok && o.Index == a.Index && len(vm.GetEdits()) == 0 {
				require.LessOrEqual(w.t, vm.GetTokens(), uint32(2), "message %d could be hidden", a.Index)
			}
		}
	}
}

// ofOpenGroup says whether a result belongs to an open tool group, which no strategy edits.
func ofOpenGroup(m *sessiontest.Model, a *sessiontest.Active) bool {
	return slices.ContainsFunc(m.OpenCalls(), func(c *sessiontest.Call) bool { return c.Owner == a.Answers.Owner })
}

// checkDialogueOnly asserts that the view shows no answered result of a finished turn that is not pinned.
func (w *checkedService) checkDialogueOnly(p *compactordv1.DialogueOnlyStrategy, m *sessiontest.Model) {
	turns := int(p.GetKeepTurns()) + 1
	finished := false
	// A group belongs to the turn of its last result.
	recent := make(map[*sessiontest.Active]bool)
	for i := len(m.Kept()) - 1; i >= 0; i-- {
		a := m.Kept()[i]
		if !finished && a.Answers != nil {
			recent[a.Answers.Owner] = true
		}
		if finished && a.Place == compactordv1.ResultPlace_RESULT_PLACE_ANSWER && !m.Pinned(a.Index) &&
			!recent[a.Answers.Owner] && !ofOpenGroup(m, a) {
			require.True(w.t, m.Collapsed(a) || m.Folded(a) || a.Answers.Owner.Index == m.Kept()[0].Index, "message %d is shown", a.Index)
			w.counts["hidden by dialogue_only"]++
		}
		if session.StartsTurn(a.Message) {
			turns--
			finished = turns <= 0
		}
	}
}

package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// goingOn returns a policy under which automatic compactions tell the agent to go on.
func goingOn(keep uint32) *compactordv1.Policy {
	policy := keepMessages(keep)
	policy.Trigger = &compactordv1.Trigger{TriggerTokens: proto.Uint32(1000)}
	policy.Overflow = &compactordv1.OverflowPolicy{AutoContinue: proto.Bool(true)}
	return policy
}

// stepped returns a conversation over the trigger of goingOn that ends with an answer.
func stepped() []*compactordv1.Message {
	return []*compactordv1.Message{
		user("Begin. " + long(400)), assistant(long(400)), user("Go on."), assistant(long(400)), assistant("So far."),
	}
}

// Seed case 161: an automatic compaction without a replay tells the agent to go on, unless the policy does not want it;
// a manual one never does.
func TestCase161AutomaticCompactionsTellTheAgentToGoOn(t *testing.T) {
	t.Parallel()
	plain := session.Continue(false).GetParts()[0].GetText().GetText()
	after := session.Continue(true).GetParts()[0].GetText().GetText()
	require.NotEqual(t, plain, after)
	for name, of := range map[string]struct {
		reason   compactordv1.CompactionReason
		off      bool
		replay   *bool
		text     string
		replayed bool
	}{
		"threshold":            {reason: threshold, text: plain},
		"overflow":             {reason: tooLong, text: after},
		"manual":               {reason: manual},
		"off":                  {reason: threshold, off: true},
		"overflow with replay": {reason: tooLong, replay: proto.Bool(true), replayed: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			policy := goingOn(1)
			policy.Overflow.AutoContinue = proto.Bool(!of.off)
			d.create("s", policy)
			d.append("s", stepped()...)
			req := compactRequest("s", nil)
			req.Reason, req.Replay, req.RequestId = of.reason, of.replay, "once"
			events, err := d.compact(req)
			require.NoError(t, err)
			done := last(t, events).GetCompleted()
			require.Equal(t, of.replayed, done.GetCompaction().ReplayedIndex != nil)
			all := d.messages("s")
			if of.text == "" {
				require.Nil(t, done.ContinueIndex)
				require.Len(t, all, 5)
				return
			}
			require.Equal(t, proto.Uint32(5), done.ContinueIndex)
			require.Len(t, all, 6)
			l := all[5]
			require.Equal(t, done.GetCompaction().GetSequence()+1, l.GetSequence())
			require.Equal(t, compactordv1.Origin_ORIGIN_CONTINUE, l.GetMessage().GetOrigin())
			require.Equal(t, of.text, l.GetMessage().GetParts()[0].GetText().GetText())
			view := d.view("s")
			require.Equal(t, uint32(5), view[len(view)-1].GetIndex())
			require.False(t, session.StartsTurn(l.GetMessage()))
			// The entry's tokens_after is without the message that was appended.
			require.Equal(t, tokensOf(view)-l.GetTokens(), done.GetCompaction().GetTokensAfter())
			require.Equal(t, tokensOf(view), done.GetReport().GetTokens())
			again, err := d.compact(req)
			require.NoError(t, err)
			require.Equal(t, uint32(5), last(t, again).GetCompleted().GetContinueIndex())
			require.Len(t, d.messages("s"), 6)
			d.requireChecked()
		})
	}
}

// The agent is not told to go on where calls are open, or where a request of the user follows.
func TestNoContinueMessageBeforeResultsOrAfterARequest(t *testing.T) {
	t.Parallel()
	for name, messages := range map[string][]*compactordv1.Message{
		"open calls":        {assistant("I look.", call("a", "read", "{}"))},
		"request":           {user("And now?")},
		"refused request":   {user("And now?"), refused()},
		"own continuation":  {session.Continue(false)},
		"late tool result":  {toolResult("nobody", "late")},
		"half of the calls": {assistant("", call("a", "read", "{}"), call("b", "read", "{}")), toolResult("a", "x")},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", goingOn(1))
			d.append("s", append(stepped(), messages...)...)
			done := d.afterOverflow(nil, nil)
			require.NotNil(t, done.GetCompaction())
			require.Nil(t, done.ContinueIndex)
			require.Len(t, d.messages("s"), 5+len(messages))
		})
	}
}

// Without a cut the agent is not told to go on.
func TestPruneAloneHasNoContinueMessage(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := goingOn(1)
	policy.Strategy = hideAllBut(0).GetPruneStrategy()
	d.create("s", policy)
	d.append("s", working(3, 4000)...)
	done := d.afterOverflow(nil, nil)
	require.NotNil(t, done.GetPrune())
	require.Nil(t, done.ContinueIndex)
}

// Watchers see the compaction and then the message that was appended with it.
func TestWatchersSeeTheContinueMessage(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", goingOn(1))
	d.append("s", stepped()...)
	w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", FromSequence: proto.Uint32(6)})
	done := d.afterOverflow(nil, nil)
	var logged []*compactordv1.WatchSessionResponse
	for len(logged) < 2 {
		if answer := w.next(); answer.GetEvent() == nil {
			logged = append(logged, answer)
		}
	}
	require.Equal(t, done.GetCompaction().GetId(), logged[0].GetRecord().GetCompaction().GetId())
	require.Equal(t, done.GetContinueIndex(), logged[1].GetMessage().GetIndex())
}

package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var listDialects = []compactordv1.Dialect{
	compactordv1.Dialect_DIALECT_UNSPECIFIED, compactordv1.Dialect_DIALECT_OPENAI_CHAT,
	compactordv1.Dialect_DIALECT_OPENAI_RESPONSES, compactordv1.Dialect_DIALECT_ANTHROPIC,
	compactordv1.Dialect_DIALECT_GEMINI,
}

// inEachDialect runs a test with a session s of a new daemon.
func inEachDialect(t *testing.T, run func(c *syncing, s *speaker)) {
	t.Helper()
	for _, kind := range listDialects {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			d := start(t)
			d.create("s", nil)
			run(&syncing{t: t, d: d, id: "s", kind: kind}, &speaker{kind: kind})
		})
	}
}

// hello returns a short list: a question with a use of a tool, and another one.
func hello(s *speaker) []listElement {
	list := []listElement{s.user("What is in a.go?")}
	list = append(list, s.use("call-1", "a.go", "package a")...)
	return append(list, s.answer("A package."), s.user("And in b.go?"), s.answer("Another one."))
}

func TestSyncAppendsWhatIsNew(t *testing.T) {
	t.Parallel()
	inEachDialect(t, func(c *syncing, s *speaker) {
		list := hello(s)
		first := c.sync(list[:4])
		require.Equal(c.t, spokenIn(c.d, c.kind, list[:4]), spoken(c.d.active("s")))
		require.NotNil(c.t, first.view)
		c.token = first.view.GetViewToken()
		again := c.sync(list[:4])
		require.Zero(c.t, again.GetAppendedMessages())
		require.Equal(c.t, first.GetNextIndex(), again.GetNextIndex())
		require.Equal(c.t, first.GetPoint(), again.GetPoint())
		require.Zero(c.t, c.sent, "all elements were sent by their digest")

		c.known = 4
		more := c.sync(list)
		require.Equal(c.t, uint32(2), more.GetAppendedMessages())
		require.Nil(c.t, more.GetRevert())
		require.Equal(c.t, uint32(4), more.GetKnownElements())
		require.Equal(c.t, 2, c.sent)
		require.Equal(c.t, 1, c.calls)
		require.Equal(c.t, spokenIn(c.d, c.kind, list), spoken(c.d.active("s")))
	})
}

// A client that has lost its memory names all elements by their digest, or sends all of them.
func TestSyncAfterARestart(t *testing.T) {
	t.Parallel()
	inEachDialect(t, func(c *syncing, s *speaker) {
		list := hello(s)
		before := c.sync(list[:4])
		c.known = len(list)
		after := c.sync(list)
		require.Equal(c.t, 2, c.sent)
		require.Equal(c.t, 2, c.calls)
		require.Equal(c.t, uint32(2), after.GetAppendedMessages())
		require.Nil(c.t, after.GetRevert())
		require.NotEqual(c.t, before.GetPoint(), after.GetPoint())

		c.known = 0
		whole := c.sync(list)
		require.Zero(c.t, whole.GetAppendedMessages())
		require.Equal(c.t, after.GetPoint(), whole.GetPoint())
	})
}

func TestSyncGoesBackWhereTheEndWasChanged(t *testing.T) {
	t.Parallel()
	inEachDialect(t, func(c *syncing, s *speaker) {
		list := hello(s)
		c.token = c.sync(list).view.GetViewToken()

		cut := c.sync(list[:4])
		require.Equal(c.t, uint32(2), cut.GetMessagesPutAside())
		require.NotNil(c.t, cut.GetRevert().GetRevert())
		require.Zero(c.t, cut.GetAppendedMessages())
		require.Equal(c.t, spokenIn(c.d, c.kind, list[:4]), spoken(c.d.active("s")))
		c.token = cut.view.GetViewToken()

		edited := append(list[:3:3], s.answer("It is package a."), s.user("Go on."))
		c.known = 3
		changed := c.sync(edited)
		require.Equal(c.t, uint32(1), changed.GetMessagesPutAside())
		require.Equal(c.t, uint32(2), changed.GetAppendedMessages())
		require.Equal(c.t, spokenIn(c.d, c.kind, edited), spoken(c.d.active("s")))
		require.Equal(c.t, 2, c.sent, "what the log holds is named by its digest")

		c.known = 0
		require.Nil(c.t, c.sync(edited).GetRevert())
	})
}

// In some dialects an answer and its call are two elements, which read as one message where they are read together.
func TestSyncOfAnAnswerThatGoesOnInTheNextElement(t *testing.T) {
	t.Parallel()
	inEachDialect(t, func(c *syncing, s *speaker) {
		list := []listElement{s.user("What is in a.go?"), s.answer("I look.")}
		list = append(list, s.use("call-1", "a.go", "package a")...)
		c.sync(list[:2])
		c.known = 0
		c.sync(list[:3])
		require.Equal(c.t, spokenIn(c.d, c.kind, list[:3]), spoken(c.d.active("s")))
		c.known = 1
		c.sync(list)
		require.Equal(c.t, spokenIn(c.d, c.kind, list), spoken(c.d.active("s")))
	})
}

// Frameworks give calls new ids, and add fields of their own.
func TestSyncComparesByContent(t *testing.T) {
	t.Parallel()
	inEachDialect(t, func(c *syncing, s *speaker) {
		list := append([]listElement{s.user("What is in a.go?")}, s.use("call-1", "a.go", "package a")...)
		first := c.sync(list[:2])
		if c.kind == compactordv1.Dialect_DIALECT_UNSPECIFIED {
			require.NotNil(c.t, first.view, "neutral views show open calls")
		} else {
			require.Nil(c.t, first.view, "a view in a dialect waits for the result")
		}

		renamed := append([]listElement{s.user("What is in a.go?")}, s.use("other-7", "a.go", "package a")...)
		c.known = 0
		second := c.sync(renamed)
		require.Equal(c.t, uint32(1), second.GetAppendedMessages())
		require.Nil(c.t, second.GetRevert())
		require.Empty(c.t, second.GetFindings(), "the result answers the call of the log")
		require.NotNil(c.t, second.view)
		require.Zero(c.t, second.GetReport().GetOpenCallCount())
	})
}

// A framework that stores the views that it gets hands them back as its list.
func TestSyncRecognizesViews(t *testing.T) {
	t.Parallel()
	inEachDialect(t, func(c *syncing, s *speaker) {
		list := hello(s)
		for i := range 6 {
			list = append(list, s.user(fmt.Sprintf("Question %d: %s", i, strings.Repeat("why? ", 40))))
			list = append(list, s.use(fmt.Sprintf("c-%d", i), "x.go", strings.Repeat("line\n", 60))...)
			list = append(list, s.answer(fmt.Sprintf("Answer %d.", i)))
		}
		c.sync(list)
		_, err := c.d.compact(compactRequest("s", small(200)))
		require.NoError(c.t, err)

		raw := c.sync(list)
		require.Nil(c.t, raw.GetRevert(), "the whole list is still what the log holds")
		require.Zero(c.t, raw.GetAppendedMessages())

		stored := c.stored(raw.view)
		require.Less(c.t, len(stored), len(list))
		c.known = 0
		handed := c.sync(stored)
		require.Nil(c.t, handed.GetRevert())
		require.Zero(c.t, handed.GetAppendedMessages())
		require.True(c.t, handed.GetBeginsWithView())

		stored = append(stored, s.user("One more?"), s.answer("No."))
		c.known = len(stored) - 2
		more := c.sync(stored)
		require.Equal(c.t, uint32(2), more.GetAppendedMessages())
		require.Nil(c.t, more.GetRevert())
		require.Equal(c.t, 2, c.sent)
		c.known = 0
		require.Zero(c.t, c.sync(stored).GetAppendedMessages())

		// The view of before the next compaction is recognized, too.
		_, err = c.d.compact(compactRequest("s", small(20)))
		require.NoError(c.t, err)
		c.known, c.token = 0, ""
		old := c.sync(stored)
		require.Nil(c.t, old.GetRevert())
		require.Zero(c.t, old.GetAppendedMessages())

		// What the agent changes in a stored view goes back in the log.
		c.known = 0
		stored[len(stored)-1] = s.answer("Yes.")
		changed := c.sync(stored)
		require.Equal(c.t, uint32(1), changed.GetMessagesPutAside())
		require.Equal(c.t, uint32(1), changed.GetAppendedMessages())
	})
}

// A result whose call was edited away, or that came after other messages, stands elsewhere in views than in the log. A
// client that names what it has stored of such a view by digests has changed nothing.
func TestStoredViewWithResultsOutOfPlaceIsKnownByDigests(t *testing.T) {
	t.Parallel()
	inEachDialect(t, func(c *syncing, s *speaker) {
		use := s.use("call-1", "a.go", "text of a.go")
		asked, answered := use[:len(use)-1], use[len(use)-1]
		for name, list := range map[string][]listElement{
			"without-its-call": {s.user("Read a.go."), s.answer("I do."), s.user("Wait."), answered, s.answer("Done.")},
			"late": slices.Concat(
				[]listElement{s.user("Read a.go.")}, asked, []listElement{s.user("Wait."), answered, s.answer("Done.")}),
		} {
			c.id = name
			c.d.create(c.id, nil)
			c.known, c.token, c.point = 0, "", nil
			first := c.sync(list)
			require.NotNil(c.t, first.view, name)
			stored := c.stored(first.view)

			c.known, c.token, c.point = len(stored), "", nil
			again := c.sync(stored)
			require.Nil(c.t, again.GetRevert(), name)
			require.Zero(c.t, again.GetAppendedMessages(), name)
		}
	})
}

// stored returns the messages of a view as elements.
func (c *syncing) stored(view *compactordv1.GetLLMViewResponse) []listElement {
	require.False(c.t, view.GetHasMore())
	require.Zero(c.t, view.GetUnchangedPrefix())
	var list []listElement
	for _, raw := range view.GetMessagesJson() {
		list = append(list, listElement{json: raw})
	}
	for _, vm := range view.GetMessages() {
		m := proto.CloneOf(vm.GetMessage())
		m.Origin = compactordv1.Origin_ORIGIN_UNSPECIFIED
		list = append(list, listElement{message: m})
	}
	return list
}

// Two processes that run turns on one session do not mix them.
func TestSyncOfTwoProcessesIsAConflict(t *testing.T) {
	t.Parallel()
	inEachDialect(t, func(c *syncing, s *speaker) {
		list := hello(s)
		first := c.sync(list[:4])
		require.NotNil(c.t, first.view)
		other := *c
		c.sync(list)

		elsewhere := append(list[:4:4], s.user("Elsewhere?"))
		point := c.d.session("s").GetSession().GetPoint()
		_, err := other.try(elsewhere)
		info := requireReason(c.d.t, err, codes.Aborted, "SYNC_CONFLICT")
		require.Equal(c.t, "4", info.GetMetadata()["index"])
		require.Equal(c.t, point, c.d.session("s").GetSession().GetPoint(), "nothing was written")

		// The same list is no conflict, though the token is old: the answer may have been lost.
		require.Zero(c.t, other.sync(list).GetAppendedMessages())
		// With what the other process appended, the second one goes on.
		both := append(list[:len(list):len(list)], s.user("Elsewhere?"))
		other.known = 4
		require.Equal(c.t, uint32(1), other.sync(both).GetAppendedMessages())
	})
}

func TestSyncReplacesInstructions(t *testing.T) {
	t.Parallel()
	for _, kind := range []compactordv1.Dialect{
		compactordv1.Dialect_DIALECT_UNSPECIFIED, compactordv1.Dialect_DIALECT_OPENAI_CHAT,
	} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			d := start(t)
			d.create("s", nil)
			s := &speaker{kind: kind}
			c := &syncing{t: t, d: d, id: "s", kind: kind}
			list := append([]listElement{s.system("Be brief.")}, hello(s)...)
			first := c.sync(list)
			require.False(t, first.GetInstructionsReplaced(), "they were appended")
			require.Equal(t, spokenIn(d, kind, list), spoken(d.active("s")))

			c.known, c.lead = len(list), 1
			list[0] = s.system("Be long.")
			second := c.sync(list)
			require.True(t, second.GetInstructionsReplaced())
			require.Nil(t, second.GetRevert())
			require.Zero(t, second.GetAppendedMessages())
			require.Equal(t, 1, c.sent, "the messages that follow are not sent again")
			require.Contains(t, d.view("s")[0].GetMessage().GetParts()[0].GetText().GetText(), "Be long.")

			// A client that does not know that they have changed learns what to send.
			c.known, c.lead = len(list), 0
			list[0] = s.system("Be kind.")
			third := c.sync(list)
			require.True(t, third.GetInstructionsReplaced())
			require.Equal(t, 2, c.calls)
			require.Equal(t, 1, c.sent)
			c.known, c.lead = 0, 0
			require.False(t, c.sync(list).GetInstructionsReplaced())
		})
	}
}

func TestSyncReplacesASystemPromptThatStandsApart(t *testing.T) {
	t.Parallel()
	for kind, prompts := range map[compactordv1.Dialect][2]string{
		compactordv1.Dialect_DIALECT_ANTHROPIC: {
			`{"type":"text","text":"Be brief."}`, `{"type":"text","text":"Be long."}`,
		},
		compactordv1.Dialect_DIALECT_GEMINI:           {`{"parts":[{"text":"Be brief."}]}`, `{"parts":[{"text":"Be long."}]}`},
		compactordv1.Dialect_DIALECT_OPENAI_RESPONSES: {`"Be brief."`, `"Be long."`},
	} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			d := start(t)
			d.create("s", nil)
			s := &speaker{kind: kind}
			c := &syncing{t: t, d: d, id: "s", kind: kind}
			list := hello(s)
			first := c.sync(list, prompts[0])
			require.Equal(t, uint32(1+len(list)), first.GetAppendedMessages())
			require.Len(t, first.view.GetSystemJson(), 1)

			second := c.sync(list, prompts[1])
			require.True(t, second.GetInstructionsReplaced())
			require.Zero(t, c.sent)
			require.Contains(t, second.view.GetSystemJson()[0], "Be long.")
			point := second.GetPoint()
			require.Equal(t, point, c.sync(list, prompts[1]).GetPoint())
			require.Equal(t, point, c.sync(list).GetPoint(), "without a prompt the session keeps its own")
		})
	}
}

// A sync compacts where that is wanted and due, and returns the view after it.
func TestSyncCompacts(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := small(200)
	policy.ContextWindow = proto.Uint32(4000)
	policy.Trigger = &compactordv1.Trigger{TriggerTokens: proto.Uint32(1500)}
	d.create("s", policy)
	s := &speaker{kind: compactordv1.Dialect_DIALECT_OPENAI_CHAT}
	c := &syncing{t: t, d: d, id: "s", kind: s.kind}
	var list []listElement
	for i := range 30 {
		list = append(list, s.user(fmt.Sprintf("%d: %s", i, strings.Repeat("why? ", 80))), s.answer("So."))
	}
	require.Empty(t, c.sync(list).events, "not wanted")
	c.compact = true
	answer := c.sync(list)
	require.NotNil(t, last(t, answer.events).GetCompleted())
	require.Less(t, len(answer.view.GetMessagesJson()), len(list))
	require.Empty(t, c.sync(list).events, "not due")
}

// A malformed element is named by its position in the whole list, and nothing is written.
func TestSyncNamesMalformedElements(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	s := &speaker{kind: compactordv1.Dialect_DIALECT_OPENAI_CHAT}
	c := &syncing{t: t, d: d, id: "s", kind: s.kind}
	list := hello(s)
	point := c.sync(list).GetPoint()
	_, err := c.try(append(list, listElement{json: `{"role": "narrator", "content": "It rains."}`}))
	info := requireReason(t, err, codes.InvalidArgument, "INPUT_MALFORMED")
	require.Equal(t, "6", info.GetMetadata()["message"])
	require.Contains(t, status.Convert(err).Message(), "elements[6]: role")
	_, err = c.try(append(list, listElement{json: `{"role": `}))
	require.Contains(t, status.Convert(err).Message(), "elements[6].json")
	require.Equal(t, point, d.session("s").GetSession().GetPoint())
}

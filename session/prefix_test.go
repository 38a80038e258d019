package session_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// While no record changes views, each view is a prefix of the next one. Where a result came late, this holds up to its
// place, and where a new turn has moved context blocks, up to theirs.
func TestPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		for range sessiontest.Steps(t, 32) {
			at := len(g.W.Log.Items)
			before := g.W.State()
			g.Step(t)
			if changesViews(g.W.Log.Items[at:]) {
				continue
			}
			for _, opts := range everyOption {
				held := before.View(opts).Messages
				if late := g.W.Head.GetLastLateResult(); late > session.Point(before.Head) {
					held = beforeLate(g.Model(), held)
				}
				if blocksMoved(g.W.Head, session.Point(before.Head)) {
					held = beforeBlocks(held)
				}
				requirePrefix(t, held, g.W.State().View(opts).Messages)
			}
		}
	})
}

// beforeLate returns the part of a view before the place of a late result. It ends at the first missing result of the
// calls that were given up together with its own call.
func beforeLate(m *sessiontest.Model, view []*compactordv1.ViewMessage) []*compactordv1.ViewMessage {
	said := m.Newest().Answers.GivenUpBy
	return view[:slices.IndexFunc(view, func(vm *compactordv1.ViewMessage) bool {
		missing := vm.GetLogRepair().GetKind() == compactordv1.LogRepairKind_LOG_REPAIR_KIND_MISSING_RESULT
		return missing && slices.ContainsFunc(m.Calls, func(c *sessiontest.Call) bool {
			return c.GivenUpBy == said && c.Owner.Index == vm.GetLogRepair().GetIndex() && c.Part == vm.GetLogRepair().GetPart()
		})
	})]
}

func blocksMoved(h *storagev1.Head, point uint32) bool {
	return max(h.GetLastBlockMove(), h.GetLastBlockExpiry()) > point
}

// beforeBlocks returns the part of a view before its context blocks.
func beforeBlocks(view []*compactordv1.ViewMessage) []*compactordv1.ViewMessage {
	return view[:slices.IndexFunc(view, func(vm *compactordv1.ViewMessage) bool { return vm.GetContextBlock() != nil })]
}

func changesViews(items []sessiontest.Item) bool {
	return slices.ContainsFunc(items, sessiontest.Item.ChangesViews)
}

func requirePrefix(t require.TestingT, before, after []*compactordv1.ViewMessage) {
	require.GreaterOrEqual(t, len(after), len(before))
	sameView(t, before, after[:len(before)])
}

// held is a view that a client holds, with its token.
type held struct {
	token    session.ViewToken
	messages []*compactordv1.ViewMessage
}

// A client with the view of a token needs only what was appended since, unless a record has changed views. After a
// Revert it must ask for the whole view.
func TestDelta(t *testing.T) {
	const uid = "uid-1"
	seen := make(map[session.Delta]int)
	rapid.Check(t, func(t *rapid.T) {
		g := sessiontest.NewGenerator(t, make(sessiontest.Counts))
		var holds []held
		for range sessiontest.Steps(t, 32) {
			s := g.W.State()
			options := session.HashOptions(compactordv1.Dialect_DIALECT_UNSPECIFIED, s.Policy, session.ViewOptions{}, false)
			v := s.View(session.ViewOptions{})
			token := session.ViewToken{
				UID: uid, Point: session.Point(s.Head), NextIndex: s.Head.GetNextIndex(),
				Messages: uint32(len(v.Messages)), Options: options,
			}
			if len(s.Blocks) > 0 {
				token.BlocksAt = proto.Uint32(session.LatestPlace(s.Head))
			}
			holds = append(holds, held{token: token, messages: v.Messages})
			g.Step(t)
			for _, hold := range holds {
				seen[requireDelta(t, g, hold)]++
			}
		}
	})
	if testing.Short() {
		return
	}
	require.Greater(t, seen[session.DeltaAppended], 1000)
	require.Greater(t, seen[session.DeltaChanged], 1000)
	require.Greater(t, seen[session.DeltaNone], 1000)
}

func requireDelta(t *rapid.T, g *sessiontest.Generator, hold held) session.Delta {
	s := g.W.State()
	options := session.HashOptions(compactordv1.Dialect_DIALECT_UNSPECIFIED, s.Policy, session.ViewOptions{}, false)
	parsed, err := session.ParseViewToken(hold.token.String())
	require.NoError(t, err)
	require.Equal(t, hold.token, parsed)
	require.Equal(t, session.DeltaNone, parsed.Compare(s.Head, "another uid", options))

	since := g.W.Log.Items[hold.token.Point+1:]
	reverted := slices.ContainsFunc(since, func(i sessiontest.Item) bool { return i.Record.GetRevert() != nil })
	want := session.DeltaAppended
	switch {
	case reverted, hold.token.Options != options:
		want = session.DeltaNone
	case changesViews(since), s.Head.GetLastLateResult() > hold.token.Point, blocksMoved(s.Head, hold.token.Point):
		want = session.DeltaChanged
	}
	got := parsed.Compare(s.Head, uidOf(hold), options)
	require.Equal(t, want, got)
	if got == session.DeltaAppended && hold.token.NextIndex > 0 {
		drawing, from := g.W.DrawingAt(g.W.Log.Newest(), 3), session.PlaceAfter(s.Head, hold.token.NextIndex)
		more, _ := drawn(t, drawing.View(t.Context(), session.ViewOptions{}, from))
		sameView(t, s.View(session.ViewOptions{}).Messages, slices.Concat(hold.messages, more))
	}
	return got
}

func uidOf(h held) string { return h.token.UID }

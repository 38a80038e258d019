package session_test

import (
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// A client's token is either refused, or it is the same after it is read and written again.
func FuzzParseViewToken(f *testing.F) {
	f.Add("")
	f.Add(session.ViewToken{}.String())
	f.Add(session.ViewToken{UID: "0192-uid", Point: 7, NextIndex: 5, Messages: 4, Options: [8]byte{1, 2}}.String())
	f.Add(session.ViewToken{UID: "u", Resume: &session.Resume{At: session.Place{Index: 3, Skip: 1}, Leading: true}}.String())
	f.Add(session.ViewToken{UID: "u", Resume: &session.Resume{Figures: &session.ViewFigures{
		View: session.Figures{Tokens: 1}, Session: session.Figures{TailTokens: 2},
	}}}.String())
	f.Add("AQAAAAcAAAAFAAAABAECAAAAAAAAMDE5Mi11aWQ=")
	f.Fuzz(func(t *testing.T, s string) {
		token, err := session.ParseViewToken(s)
		if err != nil {
			require.ErrorIs(t, err, session.ErrToken)
			require.Zero(t, token)
			return
		}
		again, err := session.ParseViewToken(token.String())
		require.NoError(t, err)
		require.Equal(t, token, again)
	})
}

func TestTokenOfAnotherVersionIsRefused(t *testing.T) {
	_, err := session.ParseViewToken("Ag" + session.ViewToken{UID: "u"}.String()[2:])
	require.ErrorIs(t, err, session.ErrToken)
	_, err = session.ParseViewToken(session.ViewToken{}.String()[:20])
	require.ErrorIs(t, err, session.ErrToken)
}

// A view that an earlier program drew is of no use, though nothing in the log has changed since: names and words of tools
// were drawn differently.
func TestTokenOfAnEarlierProgram(t *testing.T) {
	w := newLog(user("1"))
	options := session.HashOptions(compactordv1.Dialect_DIALECT_UNSPECIFIED, w.Policy, session.ViewOptions{}, false)
	require.Equal(t, uint32(session.FirstViewFormat), w.Head.GetViewFormat())
	for thinking := range byte(8) {
		for placement := range byte(8) {
			var before [17]byte
			before[7], before[11], before[16] = thinking, placement, session.FirstViewFormat
			sum := sha256.Sum256(before[:])
			token := session.ViewToken{UID: "u", Point: session.Point(w.Head), NextIndex: w.Head.GetNextIndex(), Options: [8]byte(sum[:8])}
			require.Equal(t, session.DeltaNone, token.Compare(w.Head, "u", options))
		}
	}
}

// A page of a view as of an earlier point had the figures that another policy gave the page before it.
func TestTokensTellEveryPolicyThatChangesViews(t *testing.T) {
	policy := func(change func(*compactordv1.Policy)) *compactordv1.Policy {
		p := &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{}, ContextBlocks: &compactordv1.ContextBlockPolicy{}}
		change(p)
		return p
	}
	hash := func(p *compactordv1.Policy) [8]byte {
		opts := session.ViewOptions{Thinking: compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP}
		return session.HashOptions(compactordv1.Dialect_DIALECT_UNSPECIFIED, p, opts, false)
	}
	before := policy(func(*compactordv1.Policy) {})
	for name, change := range map[string]func(p *compactordv1.Policy){
		"thinking": func(p *compactordv1.Policy) { p.Thinking = compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_ALL.Enum() },
		"placement": func(p *compactordv1.Policy) {
			p.Summary.Placement = compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR.Enum()
		},
		"the blocks' limit":    func(p *compactordv1.Policy) { p.ContextBlocks.MaxTokens = proto.Uint32(100) },
		"the operator's voice": func(p *compactordv1.Policy) { p.ContextBlocks.AllowOperator = proto.Bool(true) },
	} {
		after := policy(change)
		require.True(t, session.ChangesView(before, after), name)
		require.NotEqual(t, hash(before), hash(after), name)
	}
	other := policy(func(p *compactordv1.Policy) { p.ContextWindow = proto.Uint32(100_000) })
	require.False(t, session.ChangesView(before, other))
	require.Equal(t, hash(before), hash(other))
}

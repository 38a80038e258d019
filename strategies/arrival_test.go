package strategies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// A result is edited on arrival exactly as the same strategy would edit it later. The first strategy that makes it
// shorter counts.
func TestOnAppendMakesOneEdit(t *testing.T) {
	t.Parallel()
	truncate := truncating(&compactordv1.TruncateToolOutputsStrategy{ProtectedTools: []string{"read"}})
	offload := offloading(nil)
	l := newLog().script("U")
	at := l.used("bash", `{}`, piece(textOf(3000)))
	for _, c := range []struct {
		policy *compactordv1.Policy
		as     *compactordv1.Strategy
		kind   compactordv1.EditKind
	}{
		{onAppend(truncate, offload), truncate, compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT},
		{onAppend(offload, truncate), offload, compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT},
	} {
		made := arriving(l, c.policy)
		require.Len(t, made, 1)
		later := planned(t, l, c.as).GetEdits()[0]
		requireEqual(t, &compactordv1.Edit{
			Index: at, Kind: c.kind, Replacement: later.GetReplacement(), TokensFreed: later.GetTokensFreed(),
		}, made[0])
		require.Equal(t, at, later.GetIndex())
	}

	l.used("read", `{"path":"a"}`, piece(textOf(3000)))
	require.Equal(t, compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT,
		arriving(l, onAppend(truncate, offload))[0].GetKind(), "the first passes it by")
	require.Empty(t, arriving(l, onAppend()))
	l.used("bash", `{}`, piece("short"))
	require.Empty(t, arriving(l, onAppend(truncate, offload)))
	l.used("bash", `{}`, piece(strings.Repeat("x", 2001)))
	require.Empty(t, arriving(l, onAppend(truncate)), "it would grow")
}

func TestOnAppendLeavesAlone(t *testing.T) {
	t.Parallel()
	policy := onAppend(truncating(nil), offloading(nil))
	for name, words := range map[string]string{
		"what a user says":                    "U3000",
		"what the agent says":                 "U A3000",
		"calls":                               "U T3000:a",
		"what answers no call":                "U R3000:a",
		"what answers a call that is no more": "U X:a R3000:a",
		"what was recalled":                   "U T:search_messages/a R3000:a",
	} {
		require.Empty(t, arriving(newLog().script(words), policy), name)
	}
	require.Len(t, arriving(newLog().script("U T:a R3000:a"), policy), 1)
}

// A result with media stays unchanged on arrival, however long its text is, since no view has shown the media yet. It
// is edited later.
func TestOnAppendLeavesMediaThatNobodyHasSeen(t *testing.T) {
	t.Parallel()
	policy := onAppend(truncating(nil), offloading(nil))
	for name, pieces := range map[string][]*compactordv1.ResultPart{
		"two images and a word":  {piece("word"), imagePiece("a.png"), imagePiece("")},
		"an image and long text": {imagePiece("a.png"), piece(textOf(3000))},
	} {
		l := newLog().script("U")
		at := l.used("shot", `{}`, pieces...)
		require.Empty(t, arriving(l, policy), name)
		require.Equal(t, []uint32{at}, indexesOf(planned(t, l, offloading(nil))), "%s, by the next prune", name)
	}
	l := newLog().script("U")
	l.used("shot", `{}`, piece(textOf(3000)), piece("word"))
	require.Len(t, arriving(l, policy), 1)
}

// Limits are in tokens of the model. The token counts of messages are not, if the session is calibrated.
func TestOnAppendTakesTokensOfTheModel(t *testing.T) {
	t.Parallel()
	l := newLog().script("U T:a R1500:a")
	last := l.messages[2]
	h := proto.CloneOf(l.heads[len(l.heads)-2])
	policy := onAppend(offloading(nil))
	require.Empty(t, strategies.OnAppend(h, l.counter, policy, last, nil))
	h.Estimator = compactordv1.Estimator_ESTIMATOR_CALIBRATED
	h.Calibration = &storagev1.Calibration{Permille: 1400, Samples: 1}
	require.Equal(t, uint32(1429), session.Stored(h, 2000))
	require.Len(t, strategies.OnAppend(h, l.counter, policy, last, nil), 1)
}

func TestCheckArrival(t *testing.T) {
	t.Parallel()
	require.NoError(t, strategies.CheckArrival(nil))
	require.NoError(t, strategies.CheckArrival(&compactordv1.Policy{
		OnAppend: listOf(truncating(nil), offloading(&compactordv1.OffloadStrategy{})),
		OnUserMessage: listOf(
			collapsing(nil), dropping(nil), ladder(rung(stripping(nil)), rung(firstEffective(hideTools(nil), offloading(nil)))),
			&compactordv1.Strategy{Kind: &compactordv1.Strategy_Custom{Custom: &compactordv1.CustomStrategy{Name: "ours"}}},
		),
	}))
	for _, c := range []struct {
		policy      *compactordv1.Policy
		field, what string
	}{
		{onAppend(truncating(nil), stripping(nil)), "policy.on_append.strategies[1]", "strip_media"},
		{onAppend(ladder(rung(truncating(nil)))), "policy.on_append.strategies[0]", "ladder"},
		{onAppend(&compactordv1.Strategy{}), "policy.on_append.strategies[0]", "no kind"},
		{
			&compactordv1.Policy{OnUserMessage: listOf(collapsing(nil), summarizing(keepTokens(9)))},
			"policy.on_user_message.strategies[1]", "summarize",
		},
		{
			&compactordv1.Policy{OnUserMessage: listOf(
				ladder(rung(dropping(nil)), rung(firstEffective(collapsing(nil), compressOver(9, 9)))),
			)},
			"policy.on_user_message.strategies[0]", "compress_observations",
		},
	} {
		err := strategies.CheckArrival(c.policy)
		var refused *strategies.PolicyError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, c.field, refused.Field)
		require.Contains(t, refused.What, c.what)
	}
}

// Whatever arguments a model writes and whatever a tool returns, nothing panics, and an edit makes the result shorter.
func FuzzOnAppend(f *testing.F) {
	f.Add("read", `{"path":"a.go","offset":"1e999"}`, strings.Repeat("line\n", 50), uint16(30))
	f.Add("view", `{"view_range":[1,`, strings.Repeat("字", 90), uint16(1))
	f.Add("{omitted}", `{"limit":-0}`, strings.Repeat("{index}", 40), uint16(0))
	f.Fuzz(func(t *testing.T, tool, arguments, text string, characters uint16) {
		tool, arguments, text = strings.ToValidUTF8(tool, "?"), strings.ToValidUTF8(arguments, "?"), strings.ToValidUTF8(text, "?")
		for _, policy := range []*compactordv1.Policy{
			onAppend(truncating(&compactordv1.TruncateToolOutputsStrategy{MaxChars: proto.Uint32(1 + uint32(characters))})),
			onAppend(offloading(&compactordv1.OffloadStrategy{
				OverTokens: proto.Uint32(1), PreviewChars: proto.Uint32(uint32(characters)),
			})),
		} {
			l := newLog().script("U")
			l.used(tool, arguments, piece(text))
			for _, e := range arriving(l, policy) {
				last := l.messages[len(l.messages)-1]
				require.Equal(t, last.GetTokens(), e.GetTokensFreed()+session.TextTokens(l.counter, e.GetReplacement()))
				require.NotZero(t, e.GetTokensFreed())
				require.NotEmpty(t, e.GetReplacement())
			}
		}
	})
}

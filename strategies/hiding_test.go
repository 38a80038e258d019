package strategies_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// sharedParameters are the parameters that mean the same in all strategies that hide results.
type sharedParameters struct {
	minimumTokens, minChars *uint32
	protectedTools          []string
	clearArguments          *bool
	placeholder             *string
}

// allHiding returns the strategies that hide results, with these parameters, and set to keep nothing.
func allHiding(p sharedParameters) map[string]*compactordv1.Strategy {
	none := proto.Uint32(0)
	minimum := p.minimumTokens
	if minimum == nil {
		// One strategy has another default.
		minimum = none
	}
	return map[string]*compactordv1.Strategy{
		"hide_tool_results": hideTools(&compactordv1.HideToolResultsStrategy{
			KeepGroups:    none,
			MinimumTokens: minimum, MinChars: p.minChars, ProtectedTools: p.protectedTools,
			ClearArguments: p.clearArguments, Placeholder: p.placeholder,
		}),
		"mask_observations of groups": mask(&compactordv1.MaskObservationsStrategy{
			KeepGroups:    none,
			MinimumTokens: minimum, MinChars: p.minChars, ProtectedTools: p.protectedTools,
			ClearArguments: p.clearArguments, Placeholder: p.placeholder,
		}),
		"mask_observations of turns": mask(&compactordv1.MaskObservationsStrategy{
			KeepTurns:     none,
			MinimumTokens: minimum, MinChars: p.minChars, ProtectedTools: p.protectedTools,
			ClearArguments: p.clearArguments, Placeholder: p.placeholder,
		}),
		"prune_tool_outputs": pruneTools(&compactordv1.PruneToolOutputsStrategy{
			KeepGroups: none, KeepTokens: none,
			MinimumTokens: minimum, MinChars: p.minChars, ProtectedTools: p.protectedTools,
			ClearArguments: p.clearArguments, Placeholder: p.placeholder,
		}),
		"clear_tool_uses": clearUses(&compactordv1.ClearToolUsesStrategy{
			KeepCalls: none, TriggerTokens: none,
			MinimumTokens: minimum, MinChars: p.minChars, ProtectedTools: p.protectedTools,
			ClearArguments: p.clearArguments, Placeholder: p.placeholder,
		}),
	}
}

// If all results are old, the four strategies plan the same for the same shared parameters.
func TestSharedParametersOfHiding(t *testing.T) {
	t.Parallel()
	// 2 has 400 characters, 4 has 800, 6 is a word that answers long arguments, 8 is pinned. 10 is hidden
	// already, and answers long arguments.
	const log = "U T2:read/a R100:a T2:bash/b R200:b T300:write/c R1:c T300:bash/d R100:d T300:edit/e R100:e U"
	type edit struct {
		index uint32
		kind  compactordv1.EditKind
	}
	const (
		hidden  = compactordv1.EditKind_EDIT_KIND_HIDE_RESULT
		cleared = compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS
	)
	for _, c := range []struct {
		name string
		p    sharedParameters
		want []edit
		skip compactordv1.SkipReason
	}{
		{"none given", sharedParameters{}, []edit{{2, hidden}, {4, hidden}}, 0},
		{"what holds more than the minimum", sharedParameters{minimumTokens: proto.Uint32(299)}, []edit{{2, hidden}, {4, hidden}}, 0},
		{"what holds the minimum alone", sharedParameters{minimumTokens: proto.Uint32(300)}, nil, tooFew},
		{"arguments count for the minimum", sharedParameters{
			minimumTokens: proto.Uint32(300), clearArguments: proto.Bool(true),
		}, []edit{{2, hidden}, {4, hidden}, {5, cleared}, {9, cleared}}, 0},
		{"short results stay, and long arguments go", sharedParameters{
			minChars: proto.Uint32(401), clearArguments: proto.Bool(true),
		}, []edit{{4, hidden}, {5, cleared}, {9, cleared}}, 0},
		{"results of so many characters", sharedParameters{minChars: proto.Uint32(400)}, []edit{{2, hidden}, {4, hidden}}, 0},
		{"tools that are protected", sharedParameters{
			protectedTools: []string{"bash", "write"}, clearArguments: proto.Bool(true),
		}, []edit{{2, hidden}, {9, cleared}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.p.placeholder = proto.String("[{tool} {tokens} {index} {part}]")
			for name, strategy := range allHiding(c.p) {
				l := newLog().script(log)
				l.pin(8)
				l.commit(&compactordv1.CompactionPlan{Edits: []*compactordv1.Edit{
					{Index: 10, Kind: hidden, Replacement: "[]"},
				}}, "")
				made := planned(t, l, strategy)
				require.Equal(t, c.skip, made.GetSkipReason(), name)
				var got []edit
				for _, e := range made.GetEdits() {
					got = append(got, edit{e.GetIndex(), e.GetKind()})
					if e.GetIndex() == 2 {
						require.Equal(t, "[read 100 2 0]", e.GetReplacement(), name)
					}
				}
				require.Equal(t, c.want, got, name)
			}
		})
	}
}

// A provider signs a call with its arguments. No strategy clears them, whichever dialect the signature came in.
func TestArgumentsOfSignedCallsStay(t *testing.T) {
	t.Parallel()
	for key, raw := range map[string]string{
		"thoughtSignature":  `"c2lnbmVk"`,
		"thought_signature": `"c2lnbmVk"`,
		"extra_content":     `{"google":{"thought_signature":"c2lnbmVk"}}`,
	} {
		for _, name := range strategies.PresetNames() {
			l := newLog().script("U")
			call := l.used("write_file", `{"path":"a.go","content":"`+strings.Repeat("x", 4000)+`"}`, piece(strings.Repeat("y", 4000))) - 1
			part := l.state().Kept[l.state().Position(call)].GetMessage().GetParts()[0]
			part.Attachments = []*compactordv1.Attachment{{Dialect: compactordv1.Dialect_DIALECT_GEMINI, Key: key, Json: raw}}
			for range 20 {
				l.used("bash", `{}`, piece(strings.Repeat("z", 4000)))
			}
			policy, err := strategies.Preset(name, strategies.Limits{Window: 10_000, MaxOutput: 1_000})
			require.NoError(t, err)
			l.policy = policy
			for _, s := range []*compactordv1.Strategy{policy.GetStrategy(), policy.GetPruneStrategy()} {
				for _, e := range planned(t, l, s).GetEdits() {
					require.False(t, e.GetIndex() == call && e.GetKind() == compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS, name)
				}
			}
		}
	}
}

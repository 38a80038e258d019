package strategies_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// requireGolden compares with testdata/FOLDER/NAME.json, where NAME is the name of the subtest.
func requireGolden(t *testing.T, folder string, got map[string]proto.Message) {
	t.Helper()
	values := make(map[string]json.RawMessage, len(got))
	for key, m := range got {
		b, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
		require.NoError(t, err)
		values[key] = b
	}
	// It compares plain values, since protojson varies its white space.
	var plain any
	b, err := json.Marshal(values)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &plain))
	b, err = json.MarshalIndent(plain, "", "  ")
	require.NoError(t, err)
	text := string(b) + "\n"

	_, name, _ := strings.Cut(t.Name(), "/")
	path := filepath.Join("testdata", folder, name+".json")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

// A session of a coding agent: two short turns, a long one with parallel, failing and aborted steps.
const workday = "S300 D40 U60 T30:read/a R900:a A120 U40 T25:bash/b R60:b T400:write/c R5:c A80 " +
	"U150 T30:read/d,read/e R2500:d R1800:e T60:bash/f E700:f X45:bash/g D30 T60:bash/h R3200:h " +
	"T350:edit/i R8:i T50:bash/j R2100:j A90 T45:read/k R1500:k T55:bash/l"

// A long turn by a to-do list of three, with one more thing to do in the middle of it.
const listed = "S300 U100 L:>.. R T60:read/a R2500:a T400:write/b R5:b A40 L:v>. R T60:bash/c R1800:c A20 L:v>>. R " +
	"T90:edit/d R700:d L:vv>. R T60:bash/e R900:e T80:edit/f R20:f L:vvv> R T60:read/g R1500:g L:vvvv R A200"

// Thinking and images after that.
const afternoon = "U20 H120 P15 T30:shot/m V60:m H80 U10 H40 T20:shot/n V20:n A30"

func TestPlansAreAsGolden(t *testing.T) {
	t.Parallel()
	for name, parameters := range map[string]*compactordv1.Strategy{
		"summarize/tokens":           summarizing(keepTokens(3000)),
		"summarize/at_most":          summarizing(keepAtMost(3000)),
		"summarize/joined":           summarizing(splitting(keepTokens(6000), compactordv1.SplitTurn_SPLIT_TURN_JOIN_HEAD)),
		"summarize/unsplit":          summarizing(splitting(keepTokens(6000), compactordv1.SplitTurn_SPLIT_TURN_OFF)),
		"summarize/groups":           summarizing(&compactordv1.SummarizeStrategy{RecentToolGroups: proto.Uint32(3)}),
		"summarize/too_many":         summarizing(&compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(9)}),
		"hide_tool_results/defaults": hideTools(nil),
		"hide_tool_results/sparing": hideTools(&compactordv1.HideToolResultsStrategy{
			KeepGroups: proto.Uint32(2), KeepMessages: proto.Uint32(12), MinChars: proto.Uint32(3000),
			MinimumTokens: proto.Uint32(1000), ProtectedTools: []string{"write"},
			Placeholder: proto.String("[{tool} said {tokens} tokens, kept as {index}.{part}]"),
		}),
		"hide_tool_results/below_minimum": hideTools(&compactordv1.HideToolResultsStrategy{
			MinimumTokens: proto.Uint32(10_000),
		}),
		"mask_observations/groups":   mask(masking(4)),
		"mask_observations/defaults": mask(nil),
		"mask_observations/turns": mask(&compactordv1.MaskObservationsStrategy{
			KeepTurns: proto.Uint32(1), MinChars: proto.Uint32(300),
		}),
		"clear_tool_uses/uses": clearUses(clearing(4)),
		"clear_tool_uses/arguments": clearUses(&compactordv1.ClearToolUsesStrategy{
			KeepCalls: proto.Uint32(2), TriggerTokens: proto.Uint32(10_000), MinimumTokens: proto.Uint32(5000),
			ProtectedTools: []string{"read"}, ClearArguments: proto.Bool(true), Placeholder: proto.String("[cleared]"),
		}),
		"clear_tool_uses/below_trigger": clearUses(nil),
		"prune_tool_outputs/groups": pruneTools(&compactordv1.PruneToolOutputsStrategy{
			KeepGroups: proto.Uint32(2), KeepTokens: proto.Uint32(3000), MinimumTokens: proto.Uint32(1000),
			ClearArguments: proto.Bool(true),
		}),
		"prune_tool_outputs/turns": pruneTools(&compactordv1.PruneToolOutputsStrategy{
			KeepTurns: proto.Uint32(1), KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(500),
			Placeholder: proto.String("[{tool} said {tokens} tokens, kept as {index}.{part}]"),
		}),
		"prune_tool_outputs/below_minimum": pruneTools(&compactordv1.PruneToolOutputsStrategy{
			KeepTurns: proto.Uint32(1), KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(1000),
		}),
		"prune_tool_outputs/defaults":    pruneTools(nil),
		"truncate_tool_outputs/defaults": truncating(nil),
		"truncate_tool_outputs/marked": truncating(&compactordv1.TruncateToolOutputsStrategy{
			MaxChars: proto.Uint32(200), ProtectedTools: []string{"bash"},
			Placeholder: proto.String("[{omitted} of {tokens} tokens of {tool} left out: {index}.{part}]"),
		}),
		"strip_media/all":                stripping(nil),
		"strip_media/newest":             keepMedia(2),
		"drop_thinking/all":              keepThinking(0),
		"drop_thinking/newest":           dropping(nil),
		"compress_observations/defaults": compressing(nil),
		"compress_observations/more":     compressOver(500, 1),
		"fold_subtasks/defaults":         foldingSubtasks(nil),
		"fold_subtasks/all": foldingSubtasks(&compactordv1.FoldSubtasksStrategy{
			KeepSubtasks: proto.Uint32(0), MinimumTokens: proto.Uint32(1),
		}),
		"offload/defaults": offloading(nil),
		"offload/by_bytes": offloading(&compactordv1.OffloadStrategy{
			OverTokens: proto.Uint32(10_000), OverBytes: proto.Uint32(3000), PreviewChars: proto.Uint32(40),
		}),
		"dialogue_only/lines": collapsingWithOutcome(30),
		"dialogue_only/nothing": collapsing(&compactordv1.DialogueOnlyStrategy{
			ToolDigest: compactordv1.ToolDigest_TOOL_DIGEST_NOTHING.Enum(),
		}),
		"dialogue_only/turns": collapsing(&compactordv1.DialogueOnlyStrategy{KeepTurns: proto.Uint32(2)}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLog().script(workday)
			switch kind, _, _ := strings.Cut(name, "/"); kind {
			case "strip_media", "drop_thinking":
				l.script(afternoon)
			case "fold_subtasks":
				l = newLog().script(listed)
			}
			requireGolden(t, "", map[string]proto.Message{
				"parameters": parameters, "plan": planned(t, l, parameters),
			})
		})
	}
}

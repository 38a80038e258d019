package session_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The wording of views belongs to their format: a change here needs a new session.ViewFormat.
func TestGoldenViews(t *testing.T) {
	for name, w := range map[string]*sessiontest.Writer{
		"repair":   repairConversation(),
		"repaired": repairedConversation(),
		"pinned":   pinnedConversation(),
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(viewLines(w), "\n") + "\n"
			file := filepath.Join("testdata", "views", name+".golden")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// repairConversation is compacted once, with slots, and has messages after that.
func repairConversation() *sessiontest.Writer {
	w := newLog(system("You repair programs."), developer("Prefer small changes."),
		user("The parser drops the last line. Fix it."),
		assistant(thinking("Look first."), calling("c1", "read", `{"path":"parse.go"}`)), answers("c1", "func parse() {}"),
		assistant(calling("c2", "edit", `{"path":"parse.go"}`)), answers("c2", "done"),
		says("Fixed."), user("Now test it."))
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
		Id: "entry-1", FirstKeptIndex: 7, Summary: "## Goal\nRepair the parser. [#2]\n",
		Slots: &compactordv1.Slots{
			OpenTodos:       []*compactordv1.Todo{{Text: "test", InProgress: true, Index: 5}, {Text: "release", Index: 5}},
			LastUserRequest: &compactordv1.UserRequest{Index: 2, Text: "The parser drops the last line. Fix it."},
		},
		Files: &compactordv1.FileLists{Modified: []string{"parse.go"}},
	}}})
	w.Append(assistant(calling("c3", "bash", `{"command":"go test"}`)), nil)
	return w
}

// repairedConversation needs every kind of repair.
func repairedConversation() *sessiontest.Writer {
	w := newLog(user("Do it."), assistant(calling("", "read", ""), calling("b", "bash", "{}")), answers("b", "ok"), user("Stop."),
		answers("", "late"), stopped(assistant(calling("x", "bash", "{}")), compactordv1.StopReason_STOP_REASON_ABORTED),
		answers("x", "of an aborted call"), answering("z", resultText("orphan"), resultPicture("shot.png")), says("Stopped."),
		user("Go on."), assistant(calling("c", "bash", "{}")), user("Never mind."), says("As you say."), answers("c", "too late"))
	return w
}

// pinnedConversation is pinned, pruned and compacted twice, as a pair.
func pinnedConversation() *sessiontest.Writer {
	w := newLog(system("s"), user("Remember 42."), assistant(calling("a", "read", ""), calling("b", "read", "")),
		answers("a", "first"), user("On."), assistant(calling("c", "bash", "")), answers("c", "a long listing"), says("Done."),
		user("More."), says("Sure."))
	prune(w, &compactordv1.Edit{Index: 6, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[6.0 hidden]"})
	pin(w, 1, 3)
	compact(w, 4, "first summary")
	compactReplaying(w, 8, 4)
	pair := compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR
	setPolicy(w, &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Placement: &pair}})
	return w
}

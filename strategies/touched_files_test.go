package strategies_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/strategies"
)

// piTools are the file tools of Pi.
func piTools() *compactordv1.FileTools {
	tools := &compactordv1.FileTools{}
	for tool, modifies := range map[string]bool{"read": false, "write": true, "edit": true} {
		tools.Tools = append(tools.Tools, &compactordv1.FileTool{
			Names: []string{tool}, PathArguments: []string{"path"}, Modifies: modifies,
		})
	}
	return tools
}

// callOf returns an ASSISTANT message with one call.
func callOf(tool, arguments string) *compactordv1.LoggedMessage {
	return &compactordv1.LoggedMessage{Message: &compactordv1.Message{
		Role: compactordv1.Role_ROLE_ASSISTANT,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolCall{
			ToolCall: &compactordv1.ToolCall{Name: tool, Arguments: arguments},
		}}},
	}}
}

func path(p string) string { return fmt.Sprintf(`{"path":%q}`, p) }

func requireFiles(t *testing.T, lists *compactordv1.FileLists, read, modified []string) {
	t.Helper()
	require.Equal(t, read, lists.GetRead(), "read")
	require.Equal(t, modified, lists.GetModified(), "modified")
}

func TestCase113ReadThenEditedIsModified(t *testing.T) {
	lists := strategies.TouchedFiles(nil, piTools(), []*compactordv1.LoggedMessage{
		callOf("read", path("a")), callOf("edit", path("a")),
	})
	requireFiles(t, lists, nil, []string{"a"})
}

func TestCase114ReadBeforeAndEditedNowMoves(t *testing.T) {
	before := &compactordv1.FileLists{Read: []string{"a", "b"}}
	requireFiles(t, strategies.TouchedFiles(before, piTools(), []*compactordv1.LoggedMessage{callOf("edit", path("a"))}),
		[]string{"b"}, []string{"a"})
}

func TestCase115PathMissingEmptyOrNoTextIsIgnored(t *testing.T) {
	lists := strategies.TouchedFiles(nil, piTools(), []*compactordv1.LoggedMessage{
		callOf("read", `{}`), callOf("read", path("")), callOf("read", `{"path":7}`), callOf("read", `{"file_path":"a"}`),
		callOf("read", `not JSON`), callOf("read", ``),
	})
	requireFiles(t, lists, nil, nil)
	tools := &compactordv1.FileTools{Tools: []*compactordv1.FileTool{{
		Names: []string{"read"}, PathArguments: []string{"file_path", "path"},
	}}}
	requireFiles(t, strategies.TouchedFiles(nil, tools, []*compactordv1.LoggedMessage{
		callOf("read", `{"file_path":"a"}`), callOf("read", `{"file_path":"","path":"b"}`),
	}), []string{"a", "b"}, nil)
}

func TestCase116ToolNamesAreConfigurationAndCaseSensitive(t *testing.T) {
	calls := []*compactordv1.LoggedMessage{callOf("Read", path("a"))}
	requireFiles(t, strategies.TouchedFiles(nil, piTools(), calls), nil, nil)
	tools := &compactordv1.FileTools{Tools: []*compactordv1.FileTool{{
		Names: []string{"Read"}, PathArguments: []string{"file_path", "path"},
	}}}
	requireFiles(t, strategies.TouchedFiles(nil, tools, calls), []string{"a"}, nil)
}

func TestCase117FailedCallsCount(t *testing.T) {
	call := callOf("edit", path("a"))
	failed := &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{resultPart("a", "no such file")}}
	failed.GetParts()[0].GetToolResult().IsError = true
	requireFiles(t, strategies.TouchedFiles(nil, piTools(), []*compactordv1.LoggedMessage{call, {Message: failed}}),
		nil, []string{"a"})
	call.Message.StopReason = compactordv1.StopReason_STOP_REASON_ERROR
	requireFiles(t, strategies.TouchedFiles(nil, piTools(), []*compactordv1.LoggedMessage{call}), nil, []string{"a"})
}

func TestCase119NothingTouchedGivesNoLists(t *testing.T) {
	requireFiles(t, strategies.TouchedFiles(nil, piTools(), nil), nil, nil)
	requireFiles(t, strategies.TouchedFiles(nil, nil, []*compactordv1.LoggedMessage{callOf("read", path("a"))}), nil, nil)
}

// Paths are ordered by UTF-16 code units: an astral character comes before the last ones of the basic plane.
func TestCase120ListsAreSortedByCodeUnitAndWithoutDoubles(t *testing.T) {
	lists := strategies.TouchedFiles(nil, piTools(), []*compactordv1.LoggedMessage{
		callOf("read", path("\uFFFD")), callOf("read", path("b")), callOf("read", path("😀")), callOf("read", path("B")),
		callOf("read", path("b")),
	})
	requireFiles(t, lists, []string{"B", "b", "😀", "\uFFFD"}, nil)
}

func TestPatchesNameTheFilesThatTheyModify(t *testing.T) {
	lists := strategies.TouchedFiles(nil, nil, []*compactordv1.LoggedMessage{callOf("apply_patch",
		`{"input":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: b.go\n+z\n*** End Patch"}`)})
	requireFiles(t, lists, nil, []string{"a.go", "b.go"})
}

func TestResultsDeclareFiles(t *testing.T) {
	declared := &compactordv1.LoggedMessage{Message: &compactordv1.Message{
		Role: compactordv1.Role_ROLE_TOOL,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			Files: []*compactordv1.FileTouch{{Path: "r"}, {Path: "m", Modified: true}},
		}}}},
	}}
	requireFiles(t, strategies.TouchedFiles(nil, nil, []*compactordv1.LoggedMessage{declared}), []string{"r"}, []string{"m"})
}

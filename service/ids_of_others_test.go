package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// attempt is a request of a tenant that names a thing which is not its own. The words in capitals are replaced: VALUE by
// what names the thing, SESSION, CHILD and PLAN by things of the caller.
type attempt struct {
	rpc, request string
	// kind says which of the things it names; see things.
	kind string
}

const oneMessage = `"messages": [{"role": "ROLE_USER", "parts": [{"text": {"text": "x"}}]}]`

// inline is a request for the view of a history that the request holds itself.
func inline(rest string) string { return `{"history": {` + oneMessage + `, ` + rest + `}}` }

// attempts are, for each field of a request in which a text or a number names a thing that the daemon keeps, requests in
// which it names one of another tenant.
var attempts = map[protoreflect.FullName][]attempt{
	"AppendMessagesRequest.request_id":           {{"AppendMessages", `{"session_id": "SESSION", "request_id": "VALUE", ` + oneMessage + `}`, "request"}},
	"AppendMessagesRequest.view_token":           {{"AppendMessages", `{"session_id": "SESSION", "view_token": "VALUE", ` + oneMessage + `}`, "view"}},
	"CancelCompactionRequest.operation_id":       {{"CancelCompaction", `{"session_id": "SESSION", "operation_id": "VALUE"}`, "operation"}},
	"ChildContext.blocks":                        {{"ForkSession", `{"session_id": "SESSION", "child": {"sees": "CHILD_SEES_NOTHING", "blocks": ["VALUE"]}}`, "block"}},
	"ClearSessionRequest.request_id":             {{"ClearSession", `{"session_id": "SESSION", "request_id": "VALUE"}`, "request"}},
	"CommitCompactionRequest.plan_token":         {{"CommitCompaction", `{"session_id": "SESSION", "plan_token": "VALUE", "summary": "x"}`, "plan"}},
	"CommitCompactionRequest.request_id":         {{"CommitCompaction", `{"session_id": "SESSION", "plan_token": "PLAN", "client_plan": {"strategy": "x", "first_kept_index": 17}, "answers": ["## Goal\nx"], "request_id": "VALUE"}`, "request"}},
	"CompactRequest.request_id":                  {{"Compact", `{"session_id": "SESSION", "request_id": "VALUE"}`, "request"}},
	"CompactionEntry.id":                         {{"GetLLMView", inline(`"compaction": {"id": "VALUE", "summary": "s"}`), "compaction"}},
	"CompactionEntry.previous_entry_id":          {{"GetLLMView", inline(`"compaction": {"previous_entry_id": "VALUE", "summary": "s"}`), "compaction"}},
	"ContextBlock.name":                          {{"UpdateContextBlocks", `{"session_id": "SESSION", "set": [{"name": "VALUE", "parts": [{"text": {"text": "x"}}]}]}`, "block"}},
	"CreateCheckpointRequest.request_id":         {{"CreateCheckpoint", `{"session_id": "SESSION", "request_id": "VALUE"}`, "request"}},
	"CreateSessionRequest.request_id":            {{"CreateSession", `{"session_id": "SESSION-made", "request_id": "VALUE"}`, "request"}},
	"CreateSessionRequest.session_id":            {{"CreateSession", `{"session_id": "VALUE"}`, "session"}, {"CreateSession", `{"session_id": "VALUE"}`, "child"}},
	"EndChildRequest.call_id":                    {{"EndChild", `{"session_id": "CHILD", "call_id": "VALUE", "result": "x"}`, "call"}},
	"EndChildRequest.request_id":                 {{"EndChild", `{"session_id": "CHILD", "request_id": "VALUE", "result": "x"}`, "request"}},
	"FoldRange.checkpoint_id":                    {{"Compact", `{"session_id": "SESSION", "fold": {"checkpoint_id": VALUE}}`, "checkpoint"}},
	"ForkSessionRequest.checkpoint_id":           {{"ForkSession", `{"session_id": "SESSION", "checkpoint_id": "VALUE"}`, "checkpoint"}},
	"ForkSessionRequest.new_session_id":          {{"ForkSession", `{"session_id": "SESSION", "new_session_id": "VALUE"}`, "session"}},
	"ForkSessionRequest.request_id":              {{"ForkSession", `{"session_id": "SESSION", "new_session_id": "SESSION-fork", "request_id": "VALUE"}`, "request"}},
	"GetLLMViewRequest.view_token":               {{"GetLLMView", `{"session_id": "SESSION", "view_token": "VALUE"}`, "view"}, {"GetLLMView", strings.Replace(inline(`"strict": true`), "{", `{"view_token": "VALUE", `, 1), "view"}},
	"ListContextBlocksRequest.names":             {{"ListContextBlocks", `{"session_id": "SESSION", "names": ["VALUE"]}`, "block"}},
	"ListContextBlocksRequest.page_token":        {{"ListContextBlocks", `{"session_id": "SESSION", "page_token": "VALUE"}`, "page of blocks"}},
	"ListMessagesRequest.page_token":             {{"ListMessages", `{"session_id": "SESSION", "page_token": "VALUE"}`, "page of messages"}},
	"ListRecordsRequest.compaction_id":           {{"ListRecords", `{"session_id": "SESSION", "compaction_id": "VALUE"}`, "compaction"}},
	"ListRecordsRequest.page_token":              {{"ListRecords", `{"session_id": "SESSION", "page_token": "VALUE"}`, "page of records"}},
	"ListSessionsRequest.forked_from_session_id": {{"ListSessions", `{"forked_from_session_id": "VALUE"}`, "session"}},
	"ListSessionsRequest.labels":                 {{"ListSessions", `{"labels": {"of": "VALUE"}}`, "label"}},
	"ListSessionsRequest.page_token":             {{"ListSessions", `{"page_size": 1, "page_token": "VALUE"}`, "page of sessions"}},
	"ListSessionsRequest.parent_session_id":      {{"ListSessions", `{"parent_session_id": "VALUE"}`, "session"}},
	"PinMessagesRequest.request_id":              {{"PinMessages", `{"session_id": "SESSION", "indexes": [1], "request_id": "VALUE"}`, "request"}},
	"Provenance.operation_id":                    {{"GetLLMView", inline(`"compaction": {"summary": "s", "provenance": {"operation_id": "VALUE"}}`), "operation"}},
	"PruneEntry.id":                              {{"GetLLMView", inline(`"prunes": [{"id": "VALUE"}]`), "prune"}},
	"PruneRequest.request_id":                    {{"Prune", `{"session_id": "SESSION", "request_id": "VALUE"}`, "request"}},
	"RecallContentRequest.reference":             {{"RecallContent", `{"session_id": "SESSION", "reference": "VALUE#0"}`, "child"}, {"RecallContent", `{"session_id": "SESSION", "reference": "block VALUE"}`, "block"}},
	"ReplaceInstructionsRequest.request_id":      {{"ReplaceInstructions", `{"session_id": "SESSION", "request_id": "VALUE", "messages": [{"role": "ROLE_SYSTEM", "parts": [{"text": {"text": "x"}}]}]}`, "request"}},
	"RevertToCheckpointRequest.checkpoint_id":    {{"RevertToCheckpoint", `{"session_id": "SESSION", "checkpoint_id": "VALUE"}`, "checkpoint"}},
	"RevertToCheckpointRequest.request_id":       {{"RevertToCheckpoint", `{"session_id": "SESSION", "checkpoint_id": 1, "request_id": "VALUE"}`, "request"}},
	"SearchMessagesRequest.child_session_id":     {{"SearchMessages", `{"session_id": "SESSION", "words": "needle", "child_session_id": "VALUE"}`, "child"}},
	"SearchMessagesRequest.page_token":           {{"SearchMessages", `{"session_id": "SESSION", "words": "needle", "page_token": "VALUE"}`, "page of hits"}, {"SearchMessages", `{"session_id": "SESSION", "words": "needle", "include_children": true, "page_token": "VALUE"}`, "page of hits in a child"}},
	"SyncMessagesRequest.view_token":             {{"SyncMessages", `{"session_id": "SESSION", "view_token": "VALUE", "elements": [{"message": {"role": "ROLE_USER", "parts": [{"text": {"text": "x"}}]}}]}`, "view"}},
	"ToolCall.id":                                {{"AppendMessages", `{"session_id": "SESSION", "messages": [{"role": "ROLE_ASSISTANT", "parts": [{"tool_call": {"id": "VALUE", "name": "x", "arguments": "{}"}}]}]}`, "call"}},
	"ToolResult.call_id":                         {{"AppendMessages", `{"session_id": "SESSION", "messages": [{"role": "ROLE_TOOL", "parts": [{"tool_result": {"call_id": "VALUE"}}]}]}`, "call"}},
	"UnpinMessagesRequest.request_id":            {{"UnpinMessages", `{"session_id": "SESSION", "indexes": [1], "request_id": "VALUE"}`, "request"}},
	"UpdateContextBlocksRequest.remove":          {{"UpdateContextBlocks", `{"session_id": "SESSION", "remove": ["VALUE"]}`, "block"}},
	"UpdateContextBlocksRequest.request_id":      {{"UpdateContextBlocks", `{"session_id": "SESSION", "remove": ["x"], "request_id": "VALUE"}`, "request"}},
	"UpdateSessionRequest.request_id":            {{"UpdateSession", `{"session_id": "SESSION", "title": "x", "update_mask": "title", "request_id": "VALUE"}`, "request"}},
	"WatchSessionRequest.uid":                    {{"WatchSession", `{"session_id": "SESSION", "uid": "VALUE"}`, "uid"}},
}

// noIDs are the fields with texts that name nothing which a tenant has, by what they hold.
var noIDs = map[string][]protoreflect.FullName{
	"content of the conversation, and what a client or a provider says of it": {
		"Attachment.json", "Attachment.key", "ClassifyErrorRequest.error_text", "ClassifyErrorRequest.provider_stop_reason",
		"CommitCompactionRequest.answers", "CommitCompactionRequest.summary", "CompactionEntry.summary", "CountTokensRequest.text",
		"Edit.replacement", "EndChildRequest.result", "FileLists.modified", "FileLists.read", "FileTouch.path", "FoldRange.text",
		"ListElement.digest", "ListElement.json", "SyncMessagesRequest.system_json",
		"ImportedCompaction.summary", "MediaPart.data", "MediaPart.mime_type", "MediaPart.name", "MediaPart.uri", "Message.error_text",
		"Message.name", "OpaquePart.json", "OpaquePart.type", "ProviderJson.json", "RevertToCheckpointRequest.message_from_future",
		"Section.title", "TextList.texts", "TextPart.text", "ThinkingPart.text", "Todo.text", "ToolCall.arguments", "ToolCall.name",
		"ToolResult.name", "UserRequest.text",
	},
	"titles and labels that are only shown": {
		"CreateCheckpointRequest.title", "CreateSessionRequest.title", "CreateSessionRequest.labels", "ForkSessionRequest.title",
		"ForkSessionRequest.labels", "ImportedCheckpoint.title", "UpdateSessionRequest.title", "UpdateSessionRequest.labels",
	},
	"what is asked for in the caller's own session": {
		"CompactRequest.focus", "LineMatch.pattern", "PlanCompactionRequest.focus", "RevertToCheckpointRequest.focus",
		"SearchMessagesRequest.pattern", "SearchMessagesRequest.words", "google.protobuf.FieldMask.paths",
	},
	"texts and tools of a policy": {
		"ClearToolUsesStrategy.placeholder", "ClearToolUsesStrategy.protected_tools", "CompressObservationsStrategy.guidelines",
		"CustomStrategy.parameters_json", "FileTool.names", "FileTool.path_arguments", "FoldSubtasksStrategy.guidelines",
		"HideToolResultsStrategy.placeholder", "HideToolResultsStrategy.protected_tools", "MaskObservationsStrategy.placeholder",
		"MaskObservationsStrategy.protected_tools", "OffloadStrategy.protected_tools", "PruneToolOutputsStrategy.placeholder",
		"PruneToolOutputsStrategy.protected_tools", "SummaryPolicy.prompt_override", "SummaryPolicy.tools_json",
		"TruncateToolOutputsStrategy.placeholder", "TruncateToolOutputsStrategy.protected_tools",
	},
	"names of the operator's things, the same for all tenants": {"CustomStrategy.name", "Policy.preset", "SummaryPolicy.summarizer"},
	"names in another program, or of the client's own choice, that the daemon looks up nowhere": {
		"ClientPlan.strategy", "CommitCompactionRequest.model", "CompactionEntry.imported_from", "ImportedCompaction.tool",
		"MediaPart.file_id", "Message.model", "Provenance.client_strategy", "Provenance.fallback_cause", "Provenance.focus",
		"Provenance.model", "Provenance.summarizer", "ProviderJson.model", "Todo.id",
	},
}

// namingFields are all fields of the contract's requests, at any depth, that could name something: texts, bytes, and
// numbers that are called ids. Names of the contract stand without their package.
func namingFields(t *testing.T) (all []protoreflect.FieldDescriptor) {
	t.Helper()
	seen := map[protoreflect.FullName]bool{}
	var walk func(m protoreflect.MessageDescriptor)
	walk = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] {
			return
		}
		seen[m.FullName()] = true
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			switch {
			case f.IsMap(), f.Kind() == protoreflect.StringKind, f.Kind() == protoreflect.BytesKind:
				all = append(all, f)
			case f.Message() != nil:
				walk(f.Message())
			case strings.HasSuffix(string(f.Name()), "_id"):
				all = append(all, f)
			default:
			}
		}
	}
	for _, m := range methods(t) {
		if m.ParentFile().Package() == "compactord.v1" {
			walk(m.Input())
		}
	}
	return all
}

func withoutPackage(name protoreflect.FullName) protoreflect.FullName {
	return protoreflect.FullName(strings.TrimPrefix(string(name), "compactord.v1."))
}

// A new field with a text needs a decision: either attempts show that it tells nothing of other tenants, or it names
// nothing that they have.
func TestEveryTextOfARequestIsAnIDOrNone(t *testing.T) {
	t.Parallel()
	known := map[protoreflect.FullName]int{}
	for name := range attempts {
		known[name]++
	}
	for _, names := range noIDs {
		for _, name := range names {
			known[name]++
		}
	}
	there := map[protoreflect.FullName]bool{}
	for _, f := range namingFields(t) {
		name := withoutPackage(f.FullName())
		there[name] = true
		if f.Name() == "session_id" && known[name] == 0 {
			// TestNoAnswerTellsOfSessionsOfOtherTenants tries these.
			require.True(t, namesSession(f), name)
			continue
		}
		require.Equal(t, 1, known[name], "%s must be in attempts or in noIDs", name)
	}
	for name := range known {
		require.True(t, there[name], "there is no field %s", name)
	}
	for name, all := range attempts {
		require.NotEmpty(t, all, name)
	}
}

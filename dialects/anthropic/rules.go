package anthropic

import (
	"github.com/compactord/compactord/dialects/dialect"
)

// The ids of the rules.
const (
	ruleShape              = "anthropic.shape"
	ruleRequestSize        = "anthropic.request-size"
	ruleMessagesNotEmpty   = "anthropic.messages-not-empty"
	ruleMessageFields      = "anthropic.message-fields"
	ruleFirstMessageUser   = "anthropic.first-message-user"
	ruleLastMessageUser    = "anthropic.last-message-user"
	ruleAlternateRoles     = "anthropic.alternate-roles"
	ruleSystemText         = "anthropic.system-text"
	ruleSystemMessagePlace = "anthropic.system-message-place"
	ruleContentNotEmpty    = "anthropic.content-not-empty"
	ruleTextNotBlank       = "anthropic.text-not-blank"
	ruleWholeCharacters    = "anthropic.whole-characters"
	rulePartsOfRole        = "anthropic.block-of-role"
	ruleCallsAnswered      = "anthropic.results-follow-calls"
	ruleResultsHaveCalls   = "anthropic.results-have-calls"
	ruleOneResultACall     = "anthropic.one-result-a-call"
	ruleResultsFirst       = "anthropic.results-first"
	ruleCallIDs            = "anthropic.call-ids"
	ruleCallIDsUnique      = "anthropic.call-ids-unique"
	ruleToolNames          = "anthropic.tool-names"
	ruleArgumentsObject    = "anthropic.input-object"
	ruleFailedResults      = "anthropic.failed-results"
	ruleResultContent      = "anthropic.result-content"
	ruleMediaSource        = "anthropic.media-source"
	ruleMediaSize          = "anthropic.image-size"
	ruleThinkingSigned     = "anthropic.thinking-signed"
	ruleThinkingNotLast    = "anthropic.thinking-not-last"
	ruleServerTools        = "anthropic.server-tool-results"
	ruleProgramResults     = "anthropic.program-results-alone"
	ruleCompactionContent  = "anthropic.compaction-content"
	ruleCacheCount         = "anthropic.cache-control-count"
	ruleCachePlace         = "anthropic.cache-control-place"
	ruleCacheOrder         = "anthropic.cache-control-order"
)

// The provider's documents with the rules. Some rules are known only from error messages. Their source is a thread that
// quotes one.
const (
	docsRoot      = "https://platform.claude.com/docs/en/"
	docsReference = docsRoot + "api/messages"
	docsErrors    = docsRoot + "api/errors"
	docsTools     = docsRoot + "agents-and-tools/tool-use/implement-tool-use"
	docsPrograms  = docsRoot + "agents-and-tools/tool-use/programmatic-tool-calling"
	docsThinking  = docsRoot + "build-with-claude/extended-thinking"
	docsSystem    = docsRoot + "build-with-claude/mid-conversation-system-messages"
	docsVision    = docsRoot + "build-with-claude/vision"
	docsPDF       = docsRoot + "build-with-claude/pdf-support"
	docsCaching   = docsRoot + "build-with-claude/prompt-caching"
	docsCompact   = docsRoot + "build-with-claude/compaction"
	docsMigration = docsRoot + "about-claude/models/migration-guide"
)

// The provider's bounds.
const (
	maxRequest  = 32 << 20
	maxToolName = 128
	// maxImage is in bytes of base64.
	maxImage = 5 << 20
)

// checks is the table of rules, the general ones first. A list does not show whether the thinking of its last message
// is unchanged, so no check covers that. Rendering does not change it.
var checks = []dialect.Check[*decoded]{
	{Rule: dialect.Rule{
		ID: ruleShape, Source: docsReference,
		Sentence: "Messages and blocks are objects whose fields have the types that the provider demands.",
	}, Check: checkShape},
	{Rule: dialect.Rule{
		ID: ruleRequestSize, Source: docsErrors, Sentence: "A request is at most 32 MB large.",
	}, Check: checkRequestSize},
	{Rule: dialect.Rule{
		ID: ruleWholeCharacters, Source: "https://github.com/anthropics/claude-code/issues/1709",
		Sentence: "There are no unpaired halves of surrogate pairs.",
	}, Check: checkWholeCharacters},
	{Rule: dialect.Rule{
		ID: ruleMessagesNotEmpty, Source: docsReference, RequestOnly: true, Sentence: "There is at least one message.",
	}, Check: checkMessagesNotEmpty},
	{Rule: dialect.Rule{
		ID: ruleMessageFields, Source: docsReference,
		Sentence: "A message has no fields but role and content, and one of role system clear_at and output_config.",
	}, Check: checkMessageFields},
	{Rule: dialect.Rule{
		ID: ruleFirstMessageUser, Source: docsReference,
		Sentence: "The first message is the user's, unless the assistant's begins with a compaction.",
	}, Check: checkFirstMessageUser},
	{Rule: dialect.Rule{
		ID: ruleLastMessageUser, Source: docsMigration, RequestOnly: true,
		Sentence: "The last message is not the assistant's, unless it is a turn that was paused at a server tool.",
	}, Check: checkLastMessageUser},
	{Rule: dialect.Rule{
		ID: ruleAlternateRoles, Source: docsReference, Sentence: "Messages of user and assistant alternate.",
	}, Check: checkAlternateRoles},
	{Rule: dialect.Rule{
		ID: ruleSystemText, Source: docsSystem,
		Sentence: "The system prompt holds text only, and a message of role system text and changes of the tools.",
	}, Check: checkSystemText},
	{Rule: dialect.Rule{
		ID: ruleSystemMessagePlace, Source: docsSystem,
		Sentence: "A message of role system follows one of the user, and is the last or is followed by one of the assistant.",
	}, Check: checkSystemMessagePlace},
	{Rule: dialect.Rule{
		ID: ruleContentNotEmpty, Source: "https://github.com/microsoft/autogen/issues/6083",
		Sentence: "All messages have content, except the last if it is the assistant's.",
	}, Check: checkContentNotEmpty},
	{Rule: dialect.Rule{
		ID: ruleTextNotBlank, Source: "https://github.com/anthropics/claude-code/issues/23369",
		Sentence: "A block of text has more than white space.",
	}, Check: checkTextNotBlank},
	{Rule: dialect.Rule{
		ID: rulePartsOfRole, Source: docsReference,
		Sentence: "Results, images and documents are in messages of the user; thinking, calls and server tools in the assistant's.",
	}, Check: checkPartsOfRole},
	{Rule: dialect.Rule{
		ID: ruleCallsAnswered, Source: docsTools,
		Sentence: "All calls of a message have their results in the next message, which is the user's.",
	}, Check: checkCallsAnswered},
	{Rule: dialect.Rule{
		ID: ruleResultsHaveCalls, Source: docsTools, Sentence: "A result answers a call of the message before.",
	}, Check: checkResultsHaveCalls},
	{Rule: dialect.Rule{
		ID: ruleOneResultACall, Source: docsTools, Sentence: "A call has exactly one result.",
	}, Check: checkOneResultACall},
	{Rule: dialect.Rule{
		ID: ruleResultsFirst, Source: docsTools, Sentence: "In a message, results come before all other blocks.",
	}, Check: checkResultsFirst},
	{Rule: dialect.Rule{
		ID: ruleCallIDs, Source: docsReference, Sentence: "The id of a call has only letters, digits, underscores and hyphens.",
	}, Check: checkCallIDs},
	{Rule: dialect.Rule{
		ID: ruleCallIDsUnique, Source: docsReference, Sentence: "No two calls have the same id.",
	}, Check: checkCallIDsUnique},
	{Rule: dialect.Rule{
		ID: ruleToolNames, Source: docsTools,
		Sentence: "The name of a tool is 1 to 128 letters, digits, underscores and hyphens.",
	}, Check: checkToolNames},
	{Rule: dialect.Rule{
		ID: ruleArgumentsObject, Source: docsReference, Sentence: "The input of a call is an object.",
	}, Check: checkArgumentsObject},
	{Rule: dialect.Rule{
		ID: ruleFailedResults, Source: "https://github.com/jlevy/markform/issues/153",
		Sentence: "The result of a tool that failed has content, and only text.",
	}, Check: checkFailedResults},
	{Rule: dialect.Rule{
		ID: ruleResultContent, Source: docsTools,
		Sentence: "A result has no blocks that only messages can have, such as calls and thinking.",
	}, Check: checkResultContent},
	{Rule: dialect.Rule{
		ID: ruleMediaSource, Source: docsPDF,
		Sentence: "An image is a JPEG, PNG, GIF or WebP, a document a PDF or plain text. Its source is not empty.",
	}, Check: checkMediaSource},
	{Rule: dialect.Rule{
		ID: ruleMediaSize, Source: docsVision, Sentence: "An image is at most 5 MB of base64 large.",
	}, Check: checkMediaSize},
	{Rule: dialect.Rule{
		ID: ruleThinkingSigned, Source: docsThinking, Sentence: "Thinking has a signature, redacted thinking its data.",
	}, Check: checkThinkingSigned},
	{Rule: dialect.Rule{
		ID: ruleThinkingNotLast, Source: "https://github.com/anthropics/claude-code/issues/11514",
		Sentence: "No message but the last ends with thinking.",
	}, Check: checkThinkingNotLast},
	{Rule: dialect.Rule{
		ID: ruleServerTools, Source: docsReference,
		Sentence: "The use of a server tool is followed by its result in the same message, unless it waits for calls or ends the list.",
	}, Check: checkServerTools},
	{Rule: dialect.Rule{
		ID: ruleProgramResults, Source: docsPrograms,
		Sentence: "A message that answers the calls of a program has only results.",
	}, Check: checkProgramResults},
	{Rule: dialect.Rule{
		ID: ruleCompactionContent, Source: docsCompact, Sentence: "The content of a compaction is null or not empty.",
	}, Check: checkCompactionContent},
	{Rule: dialect.Rule{
		ID: ruleCacheCount, Source: docsCaching, Sentence: "At most 4 blocks have a cache breakpoint.",
	}, Check: checkCacheCount},
	{Rule: dialect.Rule{
		ID: ruleCachePlace, Source: docsCaching, Sentence: "Thinking has no cache breakpoint.",
	}, Check: checkCachePlace},
	{Rule: dialect.Rule{
		ID: ruleCacheOrder, Source: docsCaching,
		Sentence: "A cache breakpoint of one hour does not come after one of less.",
	}, Check: checkCacheOrder},
}

// report reports a place that breaks a rule.
type report = func(message, part int, detail string)

package openairesponses

import (
	"github.com/compactord/compactord/dialects/dialect"
)

// The ids of the rules.
const (
	ruleShape              = "openai_responses.shape"
	ruleMessagesNotEmpty   = "openai_responses.input-not-empty"
	ruleSystemText         = "openai_responses.instructions"
	ruleRoles              = "openai_responses.roles"
	ruleContentNotEmpty    = "openai_responses.content-not-empty"
	rulePartsOfRole        = "openai_responses.content-types"
	ruleMediaSource        = "openai_responses.media-source"
	ruleMediaSize          = "openai_responses.media-size"
	ruleTextLength         = "openai_responses.text-length"
	ruleItemIDs            = "openai_responses.item-ids"
	ruleItemIDsUnique      = "openai_responses.item-ids-unique"
	ruleCallIDs            = "openai_responses.call-ids"
	ruleCallIDsUnique      = "openai_responses.call-ids-unique"
	ruleToolNames          = "openai_responses.tool-names"
	ruleArgumentsObject    = "openai_responses.arguments-are-json"
	ruleCallsAnswered      = "openai_responses.calls-answered"
	ruleLastCallsAnswered  = "openai_responses.last-calls-answered"
	ruleResultsHaveCalls   = "openai_responses.outputs-have-calls"
	ruleOneResultACall     = "openai_responses.one-output"
	ruleResultTypes        = "openai_responses.output-types"
	ruleResultsFollowCalls = "openai_responses.outputs-follow-calls"
	ruleThinkingFollowed   = "openai_responses.reasoning-followed"
	ruleThinkingResolvable = "openai_responses.reasoning-resolvable"
	ruleCompactionContent  = "openai_responses.compaction-length"
)

// The provider's documents with the rules.
const (
	docsReference     = "https://platform.openai.com/docs/api-reference/responses/create"
	docsOpenResponses = "https://www.openresponses.org/specification"
	docsReasoning     = "https://platform.openai.com/docs/guides/reasoning"
	docsConversation  = "https://platform.openai.com/docs/guides/conversation-state"
)

// checks is the table of rules, in the order in which people read a list.
var checks = []dialect.Check[*decoded]{
	{Rule: dialect.Rule{
		ID: ruleShape, Source: docsReference,
		Sentence: "An item is an object with a type, or a message, with the fields that its type demands.",
	}, Check: checkShape},
	{Rule: dialect.Rule{
		ID: ruleMessagesNotEmpty, Source: "decolua/9router#389", RequestOnly: true,
		Sentence: "A request has at least one item.",
	}, Check: checkMessagesNotEmpty},
	{Rule: dialect.Rule{
		ID: ruleSystemText, Source: docsReference,
		Sentence: "The instructions are one text that is not empty.",
	}, Check: checkSystemText},
	{Rule: dialect.Rule{
		ID: ruleRoles, Source: docsReference,
		Sentence: "The role of a message is user, assistant, system or developer.",
	}, Check: checkRoles},
	{Rule: dialect.Rule{
		ID: ruleContentNotEmpty, Source: "langchain-ai/langchain#34272",
		Sentence: "The content of a message is not empty.",
	}, Check: checkContentNotEmpty},
	{Rule: dialect.Rule{
		ID: rulePartsOfRole, Source: "google/adk-go#1197",
		Sentence: "Messages of the assistant have output_text and refusal, instructions input_text. The user's messages and the outputs of tools have types that begin with input.",
	}, Check: checkPartsOfRole},
	{Rule: dialect.Rule{
		ID: ruleMediaSource, Source: docsReference,
		Sentence: "An image names a web address, a data URL or a file id, a file one of these or its content.",
	}, Check: checkMediaSource},
	{Rule: dialect.Rule{
		ID: ruleMediaSize, Source: docsOpenResponses,
		Sentence: "The address of an image has at most 20,971,520 characters, the content of a file 33,554,432.",
	}, Check: checkMediaSize},
	{Rule: dialect.Rule{
		ID: ruleTextLength, Source: "VectorlyApp/bluebox#31",
		Sentence: "A text has at most 10,485,760 characters.",
	}, Check: checkTextLength},
	{Rule: dialect.Rule{
		ID: ruleItemIDs, Source: "openai/codex#33176",
		Sentence: "The id of an item has 1 to 64 letters, digits, underscores and dashes. It begins with msg for a message, rs for reasoning and fc for a function call.",
	}, Check: checkItemIDs},
	{Rule: dialect.Rule{
		ID: ruleItemIDsUnique, Source: "vercel/ai#13307",
		Sentence: "No two items have the same id.",
	}, Check: checkItemIDsUnique},
	{Rule: dialect.Rule{
		ID: ruleCallIDs, Source: "decolua/9router#393",
		Sentence: "The id of a call, which its output names, has 1 to 64 characters.",
	}, Check: checkCallIDs},
	{Rule: dialect.Rule{
		ID: ruleCallIDsUnique, Source: "earendil-works/pi#9057",
		Sentence: "No two calls have the same id.",
	}, Check: checkCallIDsUnique},
	{Rule: dialect.Rule{
		ID: ruleToolNames, Source: docsOpenResponses,
		Sentence: "The name of a tool has 1 to 64 letters, digits, underscores and dashes.",
	}, Check: checkToolNames},
	{Rule: dialect.Rule{
		ID: ruleArgumentsObject, Source: "meituan-longcat/LongCat-2.0#14",
		Sentence: "The arguments of a function call are a JSON object, written as a text.",
	}, Check: checkArgumentsObject},
	{Rule: dialect.Rule{
		ID: ruleCallsAnswered, Source: "continuedev/continue#11785",
		Sentence: "A call has an output.",
	}, Check: checkCallsAnswered},
	{Rule: dialect.Rule{
		ID: ruleLastCallsAnswered, Source: "continuedev/continue#11785", RequestOnly: true,
		Sentence: "The calls at the end of a request have their outputs.",
	}, Check: checkLastCallsAnswered},
	{Rule: dialect.Rule{
		ID: ruleResultsHaveCalls, Source: "continuedev/continue#11785",
		Sentence: "An output comes after the call that it answers.",
	}, Check: checkResultsHaveCalls},
	{Rule: dialect.Rule{
		ID: ruleOneResultACall, Source: "continuedev/continue#11785",
		Sentence: "A call has one output.",
	}, Check: checkOneResultACall},
	{Rule: dialect.Rule{
		ID: ruleResultTypes, Source: docsReference,
		Sentence: "The output of a call has the type that belongs to the type of the call.",
	}, Check: checkResultTypes},
	{Rule: dialect.Rule{
		ID: ruleResultsFollowCalls, Source: "deepseek-ai/deepseek-integration#740",
		Sentence: "The outputs of calls come directly after the calls and the model's other items with them.",
	}, Check: checkResultsFollowCalls},
	{Rule: dialect.Rule{
		ID: ruleThinkingFollowed, Source: "vercel/ai#7099",
		Sentence: "Reasoning is followed by the model's item that belongs to it.",
	}, Check: checkThinkingFollowed},
	{Rule: dialect.Rule{
		ID: ruleThinkingResolvable, Source: docsReasoning,
		Sentence: "Reasoning has an id, by which a stored response is found, or encrypted content.",
	}, Check: checkThinkingResolvable},
	{Rule: dialect.Rule{
		ID: ruleCompactionContent, Source: docsConversation,
		Sentence: "The encrypted content of a compaction has 1 to 10,485,760 characters.",
	}, Check: checkCompactionContent},
}

// report reports a place that breaks a rule.
type report = func(message, part int, detail string)

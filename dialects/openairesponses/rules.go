package openairesponses

import (
	"github.com/compactord/compactord/dialects/dialect"
)

const prefix = "openai_responses."

// The rules that a rendering can repair; the others are told in the table alone.
const (
	ruleShape             = prefix + "shape"
	ruleContentNotEmpty   = prefix + "content-not-empty"
	ruleTextLength        = prefix + "text-length"
	ruleItemIDs           = prefix + "item-ids"
	ruleCallIDs           = prefix + "call-ids"
	ruleToolNames         = prefix + "tool-names"
	ruleArguments         = prefix + "arguments-are-json"
	ruleOutputsFollow     = prefix + "outputs-follow-calls"
	ruleReasoningFollowed = prefix + "reasoning-followed"
)

// Sources of the rules.
const (
	reference  = "https://platform.openai.com/docs/api-reference/responses/create"
	openSpec   = "https://www.openresponses.org/specification"
	reasoning  = "https://platform.openai.com/docs/guides/reasoning"
	compaction = "https://platform.openai.com/docs/guides/conversation-state"
)

var table = []dialect.Check[*input]{
	{Rule: dialect.Rule{
		ID: ruleShape, Source: reference,
		Sentence: "An item is an object with a type, or a message, with the fields that its type demands.",
	}, Check: (*input).shape},
	{Rule: dialect.Rule{
		ID: prefix + "input-not-empty", Source: "decolua/9router#389", RequestOnly: true,
		Sentence: "A request has at least one item.",
	}, Check: (*input).notEmpty},
	{Rule: dialect.Rule{
		ID: prefix + "instructions", Source: reference,
		Sentence: "The instructions are one text that is not empty.",
	}, Check: (*input).instructions},
	{Rule: dialect.Rule{
		ID: prefix + "roles", Source: reference,
		Sentence: "The role of a message is user, assistant, system or developer.",
	}, Check: (*input).roles},
	{Rule: dialect.Rule{
		ID: ruleContentNotEmpty, Source: "langchain-ai/langchain#34272",
		Sentence: "The content of a message is not empty.",
	}, Check: (*input).contentNotEmpty},
	{Rule: dialect.Rule{
		ID: prefix + "content-types", Source: "google/adk-go#1197",
		Sentence: "Messages of the assistant hold output_text and refusal, instructions input_text, the user's messages and the outputs of tools what begins with input.",
	}, Check: (*input).contentTypes},
	{Rule: dialect.Rule{
		ID: prefix + "media-source", Source: reference,
		Sentence: "An image names a web address, a data URL or a file id, a file one of these or its content.",
	}, Check: (*input).mediaSource},
	{Rule: dialect.Rule{
		ID: prefix + "media-size", Source: openSpec,
		Sentence: "The address of an image has at most 20,971,520 characters, the content of a file 33,554,432.",
	}, Check: (*input).mediaSize},
	{Rule: dialect.Rule{
		ID: ruleTextLength, Source: "VectorlyApp/bluebox#31",
		Sentence: "A text has at most 10,485,760 characters.",
	}, Check: (*input).textLength},
	{Rule: dialect.Rule{
		ID: ruleItemIDs, Source: "openai/codex#33176",
		Sentence: "The id of an item has 1 to 64 letters, digits, underscores and dashes, and begins with msg at a message, rs at reasoning and fc at a function call.",
	}, Check: (*input).itemIDs},
	{Rule: dialect.Rule{
		ID: prefix + "item-ids-unique", Source: "vercel/ai#13307",
		Sentence: "No two items have the same id.",
	}, Check: (*input).itemIDsUnique},
	{Rule: dialect.Rule{
		ID: ruleCallIDs, Source: "decolua/9router#393",
		Sentence: "The id of a call, which its output names, has 1 to 64 characters.",
	}, Check: (*input).callIDs},
	{Rule: dialect.Rule{
		ID: prefix + "call-ids-unique", Source: "earendil-works/pi#9057",
		Sentence: "No two calls have the same id.",
	}, Check: (*input).callIDsUnique},
	{Rule: dialect.Rule{
		ID: ruleToolNames, Source: openSpec,
		Sentence: "The name of a tool has 1 to 64 letters, digits, underscores and dashes.",
	}, Check: (*input).toolNames},
	{Rule: dialect.Rule{
		ID: ruleArguments, Source: "meituan-longcat/LongCat-2.0#14",
		Sentence: "The arguments of a function call are a JSON object, written as a text.",
	}, Check: (*input).arguments},
	{Rule: dialect.Rule{
		ID: prefix + "calls-answered", Source: "continuedev/continue#11785",
		Sentence: "A call has an output.",
	}, Check: (*input).callsAnswered},
	{Rule: dialect.Rule{
		ID: prefix + "last-calls-answered", Source: "continuedev/continue#11785", RequestOnly: true,
		Sentence: "The calls at the end of a request have their outputs.",
	}, Check: (*input).lastCallsAnswered},
	{Rule: dialect.Rule{
		ID: prefix + "outputs-have-calls", Source: "continuedev/continue#11785",
		Sentence: "An output stands behind the call that it answers.",
	}, Check: (*input).outputsHaveCalls},
	{Rule: dialect.Rule{
		ID: prefix + "one-output", Source: "continuedev/continue#11785",
		Sentence: "A call has one output.",
	}, Check: (*input).oneOutput},
	{Rule: dialect.Rule{
		ID: prefix + "output-types", Source: reference,
		Sentence: "The output of a call is of the type that answers the type of the call.",
	}, Check: (*input).outputTypes},
	{Rule: dialect.Rule{
		ID: ruleOutputsFollow, Source: "deepseek-ai/deepseek-integration#740",
		Sentence: "The outputs of calls stand directly behind what the model said with these calls.",
	}, Check: (*input).outputsFollowCalls},
	{Rule: dialect.Rule{
		ID: ruleReasoningFollowed, Source: "vercel/ai#7099",
		Sentence: "Reasoning is followed by what the model said or did upon it.",
	}, Check: (*input).reasoningFollowed},
	{Rule: dialect.Rule{
		ID: prefix + "reasoning-resolvable", Source: reasoning,
		Sentence: "Reasoning has an id, by which a stored response is found, or encrypted content.",
	}, Check: (*input).reasoningResolvable},
	{Rule: dialect.Rule{
		ID: prefix + "compaction-length", Source: compaction,
		Sentence: "The encrypted content of a compaction has 1 to 10,485,760 characters.",
	}, Check: (*input).compactionLength},
}

// Rules is the table of rules.
func (responses) Rules() []dialect.Rule { return dialect.RulesOf(table) }

// Validate checks a list by the rules.
func (responses) Validate(list *dialect.List, mode dialect.Mode) []dialect.Violation {
	return dialect.Run(table, decode(list), mode)
}

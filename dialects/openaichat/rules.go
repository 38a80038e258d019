package openaichat

import (
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
)

// The ids of the rules.
const (
	ruleShape             = "openai_chat.shape"
	ruleMessagesNotEmpty  = "openai_chat.messages-present"
	ruleContentRequired   = "openai_chat.content-required"
	ruleAssistantContent  = "openai_chat.assistant-content"
	ruleContentNotEmpty   = "openai_chat.content-not-empty"
	rulePartsOfRole       = "openai_chat.parts-of-role"
	ruleRefusalAlone      = "openai_chat.refusal-alone"
	ruleImageSource       = "openai_chat.image-source"
	ruleAudioFormat       = "openai_chat.audio-format"
	ruleFileSource        = "openai_chat.file-source"
	ruleCallsNotEmpty     = "openai_chat.calls-not-empty"
	ruleCallIDs           = "openai_chat.call-id"
	ruleCallIDLength      = "openai_chat.call-id-length"
	ruleCallIDsUnique     = "openai_chat.call-ids-unique"
	ruleToolNames         = "openai_chat.tool-name"
	ruleParticipantNames  = "openai_chat.participant-name"
	ruleArgumentsString   = "openai_chat.arguments-string"
	ruleArgumentsObject   = "openai_chat.arguments-object"
	ruleCallsAnswered     = "openai_chat.calls-answered"
	ruleLastCallsAnswered = "openai_chat.last-calls-answered"
	ruleResultsHaveCalls  = "openai_chat.results-follow-calls"
	ruleOneResultACall    = "openai_chat.result-once"
	ruleTranscriptFields  = "openai_chat.transcript-fields"
)

// maxToolName is the most bytes that a name can have.
const maxToolName = 64

var errCallType = errors.New("is neither function nor custom")

// docsReference is the provider's reference of messages.
const docsReference = "https://platform.openai.com/docs/api-reference/chat/create"

// checks is the table of rules, in the order in which people read a list: messages, contents, calls, results.
var checks = []dialect.Check[*decoded]{
	{Check: checkShape, Rule: dialect.Rule{
		ID: ruleShape, Source: docsReference,
		Sentence: "A message is an object with a known role, and its fields are of the types of the reference.",
	}},
	{Check: checkMessagesNotEmpty, Rule: dialect.Rule{
		ID: ruleMessagesNotEmpty, Source: "https://github.com/CopilotKit/CopilotKit/issues/529", RequestOnly: true,
		Sentence: "There is at least one message.",
	}},
	{Check: checkContentRequired, Rule: dialect.Rule{
		ID: ruleContentRequired, Source: docsReference,
		Sentence: "A message that is not the assistant's has content.",
	}},
	{Check: checkAssistantContent, Rule: dialect.Rule{
		ID: ruleAssistantContent, Source: docsReference,
		Sentence: "A message of the assistant has content, calls, or a recording to refer to.",
	}},
	{Check: checkContentNotEmpty, Rule: dialect.Rule{
		ID: ruleContentNotEmpty, Source: "https://github.com/BerriAI/litellm/issues/42186",
		Sentence: "No text part is empty, no list of parts, and no text of system, developer or user.",
	}},
	{Check: checkPartsOfRole, Rule: dialect.Rule{
		ID: rulePartsOfRole, Source: "https://github.com/openai/openai-node/issues/1030",
		Sentence: "Images, recordings and files are the user's, refusals the assistant's; system, developer and tool hold only text.",
	}},
	{Check: checkRefusalAlone, Rule: dialect.Rule{
		ID: ruleRefusalAlone, Source: docsReference,
		Sentence: "The content of the assistant is either texts or exactly one refusal.",
	}},
	{Check: checkImageSource, Rule: dialect.Rule{
		ID: ruleImageSource, Source: "https://platform.openai.com/docs/guides/images-vision",
		Sentence: "An image is a web address, or a data URL in base64 of a PNG, JPEG, GIF or WebP.",
	}},
	{Check: checkAudioFormat, Rule: dialect.Rule{
		ID: ruleAudioFormat, Source: docsReference,
		Sentence: "A recording is base64 in the format wav or mp3.",
	}},
	{Check: checkFileSource, Rule: dialect.Rule{
		ID: ruleFileSource, Source: "https://github.com/vercel/ai/issues/7266",
		Sentence: "A file is the id of an uploaded one, or a data URL in base64 of a PDF.",
	}},
	{Check: checkCallsNotEmpty, Rule: dialect.Rule{
		ID: ruleCallsNotEmpty, Source: "https://github.com/openai/openai-python/issues/2061",
		Sentence: "A list of calls has at least one. Without calls it is left out.",
	}},
	{Check: checkCallIDs, Rule: dialect.Rule{
		ID: ruleCallIDs, Source: docsReference,
		Sentence: "Each call has an id, and each result the id of its call.",
	}},
	{Check: checkCallIDLength, Rule: dialect.Rule{
		ID: ruleCallIDLength, Source: "https://github.com/agno-agi/agno/issues/5382",
		Sentence: "The id of a call is at most 40 characters long.",
	}},
	{Check: checkCallIDsUnique, Rule: dialect.Rule{
		ID: ruleCallIDsUnique, Source: "https://github.com/can1357/oh-my-pi/issues/2055",
		Sentence: "No two calls of a list have the same id.",
	}},
	{Check: checkToolNames, Rule: dialect.Rule{
		ID: ruleToolNames, Source: docsReference,
		Sentence: "The name of a tool is 1 to 64 ASCII letters, digits, underscores and hyphens.",
	}},
	{Check: checkParticipantNames, Rule: dialect.Rule{
		ID: ruleParticipantNames, Source: "https://github.com/jekalmin/extended_openai_conversation/issues/251",
		Sentence: "The name of a participant is 1 to 64 ASCII letters, digits, underscores and hyphens.",
	}},
	{Check: checkArgumentsString, Rule: dialect.Rule{
		ID: ruleArgumentsString, Source: docsReference,
		Sentence: "The arguments of a call are a string.",
	}},
	{Check: checkArgumentsObject, Rule: dialect.Rule{
		ID: ruleArgumentsObject, Source: "https://github.com/HKUDS/nanobot/issues/1487",
		Sentence: "The arguments of a call hold a JSON object.",
	}},
	{Check: checkCallsAnswered, Rule: dialect.Rule{
		ID: ruleCallsAnswered, Source: "https://github.com/agno-agi/agno/issues/3105",
		Sentence: "Calls are followed by one message of role tool for each, before any message of another role.",
	}},
	{Check: checkLastCallsAnswered, Rule: dialect.Rule{
		ID: ruleLastCallsAnswered, Source: "https://github.com/agno-agi/agno/issues/3105", RequestOnly: true,
		Sentence: "The calls at the end of the list have results before the model's next message.",
	}},
	{Check: checkResultsHaveCalls, Rule: dialect.Rule{
		ID: ruleResultsHaveCalls, Source: "https://github.com/langchain-ai/langchain/issues/38352",
		Sentence: "A message of role tool follows the assistant's message with its call.",
	}},
	{Check: checkOneResultACall, Rule: dialect.Rule{
		ID: ruleOneResultACall, Source: "https://github.com/agno-agi/agno/issues/5116",
		Sentence: "A call has one result.",
	}},
	{Check: checkTranscriptFields, Rule: dialect.Rule{
		ID: ruleTranscriptFields, Source: "https://github.com/transitive-bullshit/agentic/issues/531",
		Sentence: "Fields that tools add to recorded messages and to streamed calls are left out.",
	}},
}

type report = func(message, part int, detail string)

package gemini

import (
	"github.com/compactord/compactord/dialects/dialect"
)

// The ids of the rules.
const (
	ruleShape             = "gemini.shape"
	ruleMessagesNotEmpty  = "gemini.not-empty"
	ruleSystemText        = "gemini.system-is-text"
	ruleMessageFields     = "gemini.known-fields"
	ruleRoles             = "gemini.roles"
	ruleFirstMessageUser  = "gemini.begins-with-user"
	ruleLastMessageUser   = "gemini.ends-with-user"
	ruleAlternateRoles    = "gemini.roles-alternate"
	ruleCallsFollowUser   = "gemini.calls-follow-user"
	ruleCallsByModel      = "gemini.calls-by-model"
	ruleCallsAnswered     = "gemini.calls-answered"
	ruleLastCallsAnswered = "gemini.last-calls-answered"
	ruleResultsHaveCalls  = "gemini.responses-follow-calls"
	ruleResultNames       = "gemini.response-names"
	ruleResultsAlone      = "gemini.responses-alone"
	ruleCallsSigned       = "gemini.first-call-signed"
	ruleSignatures        = "gemini.signatures-are-bytes"
	ruleNoThinking        = "gemini.no-thoughts"
	ruleContentNotEmpty   = "gemini.parts-not-empty"
	ruleOneKind           = "gemini.one-kind-of-data"
	ruleToolNames         = "gemini.function-names"
	ruleArgumentsObject   = "gemini.args-are-objects"
	ruleResultObject      = "gemini.responses-are-objects"
	ruleMimeTypes         = "gemini.mime-types"
	ruleMediaSource       = "gemini.media-sources"
)

// The provider's documents with the rules.
const (
	docsReference  = "https://ai.google.dev/api/caching#Content"
	docsRequest    = "https://ai.google.dev/api/generate-content#request-body"
	docsCalling    = "https://ai.google.dev/gemini-api/docs/function-calling"
	docsSignatures = "https://ai.google.dev/gemini-api/docs/thought-signatures"
	docsThinking   = "https://ai.google.dev/gemini-api/docs/thinking"
	docsFiles      = "https://ai.google.dev/gemini-api/docs/file-input-methods"
	docsHardening  = "google-gemini/gemini-cli: packages/core/src/utils/historyHardening.ts"
	docsEnds       = "https://github.com/envoyproxy/ai-gateway/pull/2686"
	docsAlone      = "https://github.com/Prism-Shadow/agenthub/pull/189"
	docsCallTurn   = "https://github.com/google-gemini/gemini-cli/issues/26486"
	docsCount      = "https://github.com/google-gemini/gemini-cli/issues/4217"
)

// checks is the table of Gemini's rules.
var checks = []dialect.Check[*decoded]{
	{Rule: dialect.Rule{
		ID: ruleShape, Source: docsReference,
		Sentence: "A content is an object with a list of parts, and all its fields have the types of the reference.",
	}, Check: checkShape},
	{Rule: dialect.Rule{
		ID: ruleMessagesNotEmpty, Source: docsRequest, RequestOnly: true, Sentence: "A request has at least one content.",
	}, Check: checkMessagesNotEmpty},
	{Rule: dialect.Rule{
		ID: ruleSystemText, Source: docsRequest,
		Sentence: "The systemInstruction is one content of texts that are not empty.",
	}, Check: checkSystemText},
	{Rule: dialect.Rule{
		ID: ruleMessageFields, Source: docsHardening, Sentence: "A content has no fields but role and parts.",
	}, Check: checkMessageFields},
	{Rule: dialect.Rule{
		ID: ruleRoles, Source: docsReference, Sentence: "The role of a content is user or model; without one it is the user's.",
	}, Check: checkRoles},
	{Rule: dialect.Rule{
		ID: ruleFirstMessageUser, Source: docsHardening, Sentence: "The first content is the user's.",
	}, Check: checkFirstMessageUser},
	{Rule: dialect.Rule{
		ID: ruleLastMessageUser, Source: docsEnds, RequestOnly: true, Sentence: "The last content is the user's.",
	}, Check: checkLastMessageUser},
	{Rule: dialect.Rule{
		ID: ruleAlternateRoles, Source: docsHardening,
		Sentence: "User and model alternate. Only after function responses another content of the user can follow.",
	}, Check: checkAlternateRoles},
	{Rule: dialect.Rule{
		ID: ruleCallsFollowUser, Source: docsCallTurn,
		Sentence: "A content with function calls comes directly after one of the user or of function responses.",
	}, Check: checkCallsFollowUser},
	{Rule: dialect.Rule{
		ID: ruleCallsByModel, Source: docsCalling, Sentence: "Function calls are in contents of the model.",
	}, Check: checkCallsByModel},
	{Rule: dialect.Rule{
		ID: ruleCallsAnswered, Source: docsCount,
		Sentence: "The content after function calls answers each of them, by its id, or by its name where it has no id.",
	}, Check: checkCallsAnswered},
	{Rule: dialect.Rule{
		ID: ruleLastCallsAnswered, Source: docsCount, RequestOnly: true,
		Sentence: "Where the last content answers function calls, it answers each of them.",
	}, Check: checkLastCallsAnswered},
	{Rule: dialect.Rule{
		ID: ruleResultsHaveCalls, Source: docsCount,
		Sentence: "Each function response answers a function call of the content before, and no other answers the same.",
	}, Check: checkResultsHaveCalls},
	{Rule: dialect.Rule{
		ID: ruleResultNames, Source: docsCalling, Sentence: "A function response has the name of the call with its id.",
	}, Check: checkResultNames},
	{Rule: dialect.Rule{
		ID: ruleResultsAlone, Source: docsAlone,
		Sentence: "A content with function responses has no other parts.",
	}, Check: checkResultsAlone},
	{Rule: dialect.Rule{
		ID: ruleCallsSigned, Source: docsSignatures,
		Sentence: "From the first thought signature on, the first function call of each content carries one; before it, " +
			"nothing shows that the model signs.",
	}, Check: checkCallsSigned},
	{Rule: dialect.Rule{
		ID: ruleSignatures, Source: docsReference, Sentence: "A thought signature is bytes in base64.",
	}, Check: checkSignatures},
	{Rule: dialect.Rule{
		ID: ruleNoThinking, Source: docsThinking, Sentence: "Thoughts are not sent back.",
	}, Check: checkNoThinking},
	{Rule: dialect.Rule{
		ID: ruleContentNotEmpty, Source: docsEnds,
		Sentence: "A content has parts, and no part is empty. Only a text with a thought signature can be empty.",
	}, Check: checkContentNotEmpty},
	{Rule: dialect.Rule{
		ID: ruleOneKind, Source: docsReference, Sentence: "A part holds one kind of data.",
	}, Check: checkOneKind},
	{Rule: dialect.Rule{
		ID: ruleToolNames, Source: docsCalling,
		Sentence: "The name of a function begins with a letter or an underscore, holds but letters, digits, underscores, dots, " +
			"colons and dashes, and is at most 128 characters long.",
	}, Check: checkToolNames},
	{Rule: dialect.Rule{
		ID: ruleArgumentsObject, Source: docsReference, Sentence: "The args of a function call are an object, or are left out.",
	}, Check: checkArgumentsObject},
	{Rule: dialect.Rule{
		ID: ruleResultObject, Source: docsReference, Sentence: "The response of a function is an object.",
	}, Check: checkResultObject},
	{Rule: dialect.Rule{
		ID: ruleMimeTypes, Source: docsFiles,
		Sentence: "Media have a MIME type that Gemini reads, without parameters. Only uploaded files can have none.",
	}, Check: checkMimeTypes},
	{Rule: dialect.Rule{
		ID: ruleMediaSource, Source: docsFiles,
		Sentence: "Media hold bytes in base64, or an address that begins with gs, https or http.",
	}, Check: checkMediaSource},
}

// report reports a place that breaks a rule.
type report = func(message, part int, detail string)

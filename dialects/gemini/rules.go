package gemini

import (
	"github.com/compactord/compactord/dialects/dialect"
)

// The ids of the rules.
const (
	ruleShape                = "gemini.shape"
	ruleNotEmpty             = "gemini.not-empty"
	ruleSystem               = "gemini.system-is-text"
	ruleKnownFields          = "gemini.known-fields"
	ruleRoles                = "gemini.roles"
	ruleBeginsWithUser       = "gemini.begins-with-user"
	ruleEndsWithUser         = "gemini.ends-with-user"
	ruleRolesAlternate       = "gemini.roles-alternate"
	ruleCallsFollowUser      = "gemini.calls-follow-user"
	ruleCallsByModel         = "gemini.calls-by-model"
	ruleCallsAnswered        = "gemini.calls-answered"
	ruleLastCallsAnswered    = "gemini.last-calls-answered"
	ruleResponsesFollowCalls = "gemini.responses-follow-calls"
	ruleResponseNames        = "gemini.response-names"
	ruleResponsesAlone       = "gemini.responses-alone"
	ruleCallsSigned          = "gemini.first-call-signed"
	ruleSignatures           = "gemini.signatures-are-bytes"
	ruleNoThoughts           = "gemini.no-thoughts"
	rulePartsNotEmpty        = "gemini.parts-not-empty"
	ruleOneKind              = "gemini.one-kind-of-data"
	ruleFunctionNames        = "gemini.function-names"
	ruleArguments            = "gemini.args-are-objects"
	ruleResponses            = "gemini.responses-are-objects"
	ruleMimeTypes            = "gemini.mime-types"
	ruleMediaSources         = "gemini.media-sources"
)

// Where the rules are written down.
const (
	sourceReference  = "https://ai.google.dev/api/caching#Content"
	sourceInstruct   = "https://ai.google.dev/api/generate-content#request-body"
	sourceCalling    = "https://ai.google.dev/gemini-api/docs/function-calling"
	sourceSignatures = "https://ai.google.dev/gemini-api/docs/thought-signatures"
	sourceThinking   = "https://ai.google.dev/gemini-api/docs/thinking"
	sourceFiles      = "https://ai.google.dev/gemini-api/docs/file-input-methods"
	sourceHardening  = "google-gemini/gemini-cli: packages/core/src/utils/historyHardening.ts"
	sourceEnds       = "https://github.com/envoyproxy/ai-gateway/pull/2686"
	sourceAlone      = "https://github.com/Prism-Shadow/agenthub/pull/189"
	sourceCallTurn   = "https://github.com/google-gemini/gemini-cli/issues/26486"
	sourceCount      = "https://github.com/google-gemini/gemini-cli/issues/4217"
)

// checks is the table of Gemini's rules.
var checks = []dialect.Check[*judged]{
	{Rule: dialect.Rule{
		ID: ruleShape, Source: sourceReference,
		Sentence: "A content is an object with a list of parts, and all fields in it have the types that the reference tells.",
	}, Check: checkShape},
	{Rule: dialect.Rule{
		ID: ruleNotEmpty, Source: sourceInstruct, RequestOnly: true, Sentence: "A request has at least one content.",
	}, Check: checkNotEmpty},
	{Rule: dialect.Rule{
		ID: ruleSystem, Source: sourceInstruct,
		Sentence: "The systemInstruction is one content of texts that say something.",
	}, Check: checkSystem},
	{Rule: dialect.Rule{
		ID: ruleKnownFields, Source: sourceHardening, Sentence: "A content has no fields but role and parts.",
	}, Check: checkKnownFields},
	{Rule: dialect.Rule{
		ID: ruleRoles, Source: sourceReference, Sentence: "The role of a content is user or model; without one it is the user's.",
	}, Check: checkRoles},
	{Rule: dialect.Rule{
		ID: ruleBeginsWithUser, Source: sourceHardening, Sentence: "The first content is the user's.",
	}, Check: checkBeginning},
	{Rule: dialect.Rule{
		ID: ruleEndsWithUser, Source: sourceEnds, RequestOnly: true, Sentence: "The last content is the user's.",
	}, Check: checkEnd},
	{Rule: dialect.Rule{
		ID: ruleRolesAlternate, Source: sourceHardening,
		Sentence: "User and model take turns; only behind function responses the user may go on in another content.",
	}, Check: checkAlternation},
	{Rule: dialect.Rule{
		ID: ruleCallsFollowUser, Source: sourceCallTurn,
		Sentence: "A content with function calls stands directly behind one of the user or of function responses.",
	}, Check: checkCallTurns},
	{Rule: dialect.Rule{
		ID: ruleCallsByModel, Source: sourceCalling, Sentence: "Function calls stand in contents of the model.",
	}, Check: checkCallers},
	{Rule: dialect.Rule{
		ID: ruleCallsAnswered, Source: sourceCount,
		Sentence: "The content behind function calls answers each of them, by its id, or by its name where it has none.",
	}, Check: checkAnswered},
	{Rule: dialect.Rule{
		ID: ruleLastCallsAnswered, Source: sourceCount, RequestOnly: true,
		Sentence: "Where the last content answers function calls, it answers each of them.",
	}, Check: checkLastAnswered},
	{Rule: dialect.Rule{
		ID: ruleResponsesFollowCalls, Source: sourceCount,
		Sentence: "Each function response answers a function call of the content before, and no other answers the same.",
	}, Check: checkResponses},
	{Rule: dialect.Rule{
		ID: ruleResponseNames, Source: sourceCalling, Sentence: "A function response has the name of the call with its id.",
	}, Check: checkResponseNames},
	{Rule: dialect.Rule{
		ID: ruleResponsesAlone, Source: sourceAlone,
		Sentence: "A content with function responses holds nothing else.",
	}, Check: checkAlone},
	{Rule: dialect.Rule{
		ID: ruleCallsSigned, Source: sourceSignatures,
		Sentence: "From the first thought signature on, the first function call of each content carries one; before it, " +
			"nothing tells that the model signs.",
	}, Check: checkSigned},
	{Rule: dialect.Rule{
		ID: ruleSignatures, Source: sourceReference, Sentence: "A thought signature is bytes in base64.",
	}, Check: checkSignatures},
	{Rule: dialect.Rule{
		ID: ruleNoThoughts, Source: sourceThinking, Sentence: "Thoughts are not sent back.",
	}, Check: checkThoughts},
	{Rule: dialect.Rule{
		ID: rulePartsNotEmpty, Source: sourceEnds,
		Sentence: "A content has parts, and each says something; a text may be empty where it carries a thought signature.",
	}, Check: checkEmpty},
	{Rule: dialect.Rule{
		ID: ruleOneKind, Source: sourceReference, Sentence: "A part holds one kind of data.",
	}, Check: checkKinds},
	{Rule: dialect.Rule{
		ID: ruleFunctionNames, Source: sourceCalling,
		Sentence: "The name of a function begins with a letter or an underscore, holds but letters, digits, underscores, dots, " +
			"colons and dashes, and is at most 128 characters long.",
	}, Check: checkNames},
	{Rule: dialect.Rule{
		ID: ruleArguments, Source: sourceReference, Sentence: "The args of a function call are an object, or are left out.",
	}, Check: checkArguments},
	{Rule: dialect.Rule{
		ID: ruleResponses, Source: sourceReference, Sentence: "The response of a function is an object.",
	}, Check: checkResponseObjects},
	{Rule: dialect.Rule{
		ID: ruleMimeTypes, Source: sourceFiles,
		Sentence: "Media have a MIME type that Gemini reads, without parameters; only uploaded files may go without.",
	}, Check: checkMimeTypes},
	{Rule: dialect.Rule{
		ID: ruleMediaSources, Source: sourceFiles,
		Sentence: "Media hold bytes in base64, or an address that begins with gs, https or http.",
	}, Check: checkMediaSources},
}

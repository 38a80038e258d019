package dialecttest

import "github.com/compactord/compactord/session/sessiontest"

// The classes of things that a Generator makes and that dialects are likely to get wrong.
const (
	EmptyHistory       sessiontest.Class = "history without messages"
	BeginsAssistant    sessiontest.Class = "history that begins with ASSISTANT"
	BeginsTool         sessiontest.Class = "history without a USER message before its first result"
	SummaryUser        sessiontest.Class = "summary as a USER message"
	SummarySystem      sessiontest.Class = "summary as a SYSTEM message"
	SummaryPair        sessiontest.Class = "summary as a pair"
	LaterInstruction   sessiontest.Class = "SYSTEM or DEVELOPER message in mid-conversation"
	UserInARow         sessiontest.Class = "USER message after a USER message"
	AssistantInARow    sessiontest.Class = "ASSISTANT message after an ASSISTANT message"
	WithoutParts       sessiontest.Class = "message without parts"
	OnlyBlank          sessiontest.Class = "message of nothing but blank texts"
	EmptyText          sessiontest.Class = "empty text"
	BlankText          sessiontest.Class = "text of nothing but white space"
	ControlCharacters  sessiontest.Class = "text with control characters"
	BeyondASCII        sessiontest.Class = "text beyond ASCII"
	Refusal            sessiontest.Class = "refusal"
	OneCall            sessiontest.Class = "message with one call"
	ManyCalls          sessiontest.Class = "message with several calls"
	EightCalls         sessiontest.Class = "message with eight calls"
	TextAfterCalls     sessiontest.Class = "text after calls"
	CallID             sessiontest.Class = "id that all providers take"
	CallIDEmpty        sessiontest.Class = "empty id"
	CallIDForeign      sessiontest.Class = "id that not all providers take"
	CallIDLong         sessiontest.Class = "id as long as the contract allows"
	CallIDWithin       sessiontest.Class = "id used again within a message"
	CallIDLater        sessiontest.Class = "id used again in a later message"
	NameRefused        sessiontest.Class = "tool's name that no provider takes"
	ArgumentsEmpty     sessiontest.Class = "no arguments"
	ArgumentsNoObject  sessiontest.Class = "arguments that are JSON, but no object"
	ArgumentsNoJSON    sessiontest.Class = "arguments that are no JSON"
	ArgumentsNumbers   sessiontest.Class = "arguments with numbers that no float holds"
	ResultsInOrder     sessiontest.Class = "results in the order of their calls"
	ResultsOutOfOrder  sessiontest.Class = "results out of the order of their calls"
	ResultFailed       sessiontest.Class = "failed result"
	ResultWithoutParts sessiontest.Class = "result without parts"
	ResultMedia        sessiontest.Class = "result with media"
	ResultOpaque       sessiontest.Class = "result with an opaque part"
	BetweenResults     sessiontest.Class = "message between a call and its result"
	CallsInterleaved   sessiontest.Class = "calls while earlier ones wait"
	ThinkingSigned     sessiontest.Class = "signed thinking"
	ThinkingRedacted   sessiontest.Class = "redacted thinking"
	ThinkingUnsigned   sessiontest.Class = "unsigned thinking"
	ThinkingForeign    sessiontest.Class = "thinking of another provider"
	ThinkingBetween    sessiontest.Class = "thinking between texts and calls"
	MediaData          sessiontest.Class = "media by value"
	MediaURI           sessiontest.Class = "media by address"
	MediaFileID        sessiontest.Class = "media by file id"
	MediaOwned         sessiontest.Class = "media of one provider"
	MediaAssistant     sessiontest.Class = "media of the ASSISTANT"
	OpaqueKnown        sessiontest.Class = "opaque part of a known type"
	OpaqueNonsense     sessiontest.Class = "opaque part of no known type"
	OpaqueNoJSON       sessiontest.Class = "opaque part that is no JSON"
	AttachmentKnown    sessiontest.Class = "attachment of a known field"
	AttachmentUnknown  sessiontest.Class = "attachment of an unknown field"
	AttachmentNoJSON   sessiontest.Class = "attachment that is no JSON"
	AttachmentMissing  sessiontest.Class = "attachment of a field left out"
	EndsUser           sessiontest.Class = "history that ends with USER"
	EndsTool           sessiontest.Class = "history that ends with TOOL"
	EndsAssistant      sessiontest.Class = "history that ends with ASSISTANT"
	EndsInstruction    sessiontest.Class = "history that ends with SYSTEM or DEVELOPER"
)

// Classes returns all classes.
func Classes() []sessiontest.Class {
	return []sessiontest.Class{
		EmptyHistory, BeginsAssistant, BeginsTool, SummaryUser, SummarySystem, SummaryPair, LaterInstruction, UserInARow,
		AssistantInARow, WithoutParts, OnlyBlank, EmptyText, BlankText, ControlCharacters, BeyondASCII, Refusal,
		OneCall, ManyCalls, EightCalls, TextAfterCalls, CallID, CallIDEmpty, CallIDForeign, CallIDLong, CallIDWithin,
		CallIDLater, NameRefused, ArgumentsEmpty, ArgumentsNoObject, ArgumentsNoJSON, ArgumentsNumbers, ResultsInOrder,
		ResultsOutOfOrder, ResultFailed, ResultWithoutParts, ResultMedia, ResultOpaque, BetweenResults, CallsInterleaved,
		ThinkingSigned, ThinkingRedacted, ThinkingUnsigned, ThinkingForeign, ThinkingBetween, MediaData, MediaURI,
		MediaFileID, MediaOwned, MediaAssistant, OpaqueKnown, OpaqueNonsense, OpaqueNoJSON, AttachmentKnown,
		AttachmentUnknown, AttachmentNoJSON, AttachmentMissing, EndsUser, EndsTool, EndsAssistant, EndsInstruction,
	}
}

package overflow

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Rule is one way to classify an error. The rules are tried in the order of the table, and the first match decides.
type Rule struct {
	// ID is the rule's id in answers.
	ID string
	// Class is the class of the errors that match.
	Class compactordv1.ErrorClass
	// Pattern is an RE2 expression that is searched for in the lower-case text. Empty where the rule does not search the
	// text.
	Pattern string
	// Sentence says when the rule matches.
	Sentence string
	// Source names the providers, gateways and programs with this wording.
	Source string
	// ClientError reports that the wording is too common to count without an HTTP status of 400 to 499.
	ClientError bool
}

// The ids of the rules that do not search the text.
const (
	Status429       = "status-429"
	StatusRefused   = "status-refused"
	Status413       = "status-413"
	ProviderStopped = "provider-stop-reason"
	UsageOverWindow = "usage-over-window"
	UsageNoOutput   = "usage-no-output"
)

const (
	other           = compactordv1.ErrorClass_ERROR_CLASS_OTHER
	contextOverflow = compactordv1.ErrorClass_ERROR_CLASS_CONTEXT_OVERFLOW
	tooLarge        = compactordv1.ErrorClass_ERROR_CLASS_REQUEST_TOO_LARGE
	rateLimit       = compactordv1.ErrorClass_ERROR_CLASS_RATE_LIMIT
)

// Rules returns the built-in rules in the order in which they are tried. Those of a configuration come before the
// built-in ones of their kind.
func Rules() []Rule {
	return slices.Concat(
		[]Rule{tooManyRequests, windowFull}, exclusions, []Rule{refused}, tokenRules, byteRules,
		[]Rule{tooLargeStatus, overWindow, noOutput},
	)
}

var tooManyRequests = Rule{
	ID: Status429, Class: rateLimit, Source: "HTTP",
	Sentence: "The HTTP status is 429, whatever the text says about tokens.",
}

var windowFull = Rule{
	ID: ProviderStopped, Class: contextOverflow, Source: "Anthropic, Amazon Bedrock, z.ai, LM Studio",
	Sentence: "The provider's own stop reason says that the context window is full.",
}

// refused comes after the exclusions, since some gateways use status 403 for an exceeded quota.
var refused = Rule{
	ID: StatusRefused, Class: other, Source: "HTTP",
	Sentence: "The HTTP status is 401, 403 or 404: access is refused or the address is wrong, whatever the text says about " +
		"tokens.",
}

// exclusions look like overflows, or occur beside such words, but are none.
var exclusions = []Rule{
	{
		ID: "text-429", Class: rateLimit, Source: "SDKs that put the status into the text",
		Pattern:  `^\W*(?:api |http )?(?:error:? ?)?\W?429\b|\b(?:status|code)(?:[ _]?code)?\W{1,4}429\b`,
		Sentence: "The text has the status 429.",
	},
	{
		ID: "rate-limit", Class: rateLimit, Source: "OpenAI, Anthropic, Groq and others",
		Pattern: `\brate[ _-]?limit`, Sentence: "The text mentions a rate limit.",
	},
	{
		ID: "too-many-requests", Class: rateLimit, Source: "HTTP, Azure",
		Pattern: `too[ _]?many[ _]?requests`, Sentence: "The text mentions too many requests.",
	},
	{
		ID: "throttled", Class: rateLimit, Source: "Amazon Bedrock",
		Pattern: `\bthrottl(?:ed|ing)`, Sentence: "The text mentions throttling.",
	},
	{
		ID: "please-wait", Class: rateLimit, Source: "Amazon Bedrock, OpenAI",
		Pattern: `\bplease (?:wait|(?:re)?try (?:again |your request )?(?:in|after) ` +
			`(?:about |around |approximately |at least |another )?(?:\d|` +
			`(?:an? |a few |a short |a couple of |some |several |the next )?` +
			`(?:seconds?|minutes?|hours?|days?|moments?|while|time|wait(?:ing)?)\b))`,
		Sentence: "The text asks to wait, which would not make a context shorter.",
	},
	{
		ID: "tokens-per-time", Class: rateLimit, Source: "OpenAI, Groq, Azure",
		Pattern:  `\btokens? per (?:second|min|hour|day|month)|\btp[md]\b`,
		Sentence: "The text mentions tokens per unit of time.",
	},
	{
		ID: "quota", Class: rateLimit, Source: "OpenAI, Gemini",
		Pattern: `\bquota\b|\binsufficient_quota\b|\bresource[ _]exhausted\b`, Sentence: "The text mentions a quota.",
	},
	{
		ID: "unavailable", Class: other, Source: "Amazon Bedrock, Anthropic",
		Pattern:  `\bservice[ _]?unavailable|\boverloaded(?:_error)?\b`,
		Sentence: "The provider has no capacity at the moment.",
	},
	{
		ID: "output-limit", Class: other, Source: "OpenAI, Anthropic, Amazon Bedrock, Cohere, Databricks",
		Pattern: `supports at most \d+ (?:completion|output) tokens|` +
			`maximum tokens you requested exceeds? the model limit|` +
			`\bmax_(?:completion_|output_)?tokens\W{0,3}(?:\d+\W{0,2} )?` +
			`(?:(?:can|must|may|should) ?not exceed|exceeds? the limit of) \W?\d|` +
			`exceeds? the (?:model.?s )?max(?:imum)? (?:number of )?(?:output|completion) tokens|` +
			`maximum (?:allowed )?number of output tokens|maximum output for this model`,
		Sentence: "The request asks for more output than the model can write. A shorter context does not help.",
	},
}

// byteRules are wordings for a request that has too many bytes. They come after those for tokens, which say more.
var byteRules = []Rule{
	{
		ID: "request-too-large", Class: tooLarge, Source: "Anthropic, gateways",
		Pattern:  `request[ _]too[ _]large|request exceeds the maximum (?:allowed )?(?:size|number of bytes)`,
		Sentence: "The text, or the error's type, says that the request is too large.",
	},
	{
		ID: "payload-too-large", Class: tooLarge, Source: "HTTP servers and proxies",
		Pattern: `(?:payload|content|request entity|request body|body) (?:is )?too large|` +
			`\b(?:status|code)(?:[ _]?code)?\W{1,4}413\b`,
		Sentence: "The text is that of the HTTP status 413.",
	},
	{
		ID: "maximum-size", Class: tooLarge, Source: "Amazon Bedrock, Vertex AI, gRPC",
		Pattern: `exceeds? the (?:maximum|max) (?:request|payload|body|message) size|` +
			`(?:request|payload|body) size exceeds|message larger than max`,
		Sentence: "The text mentions a maximum size of requests.",
	},
	{
		ID: "string-too-long", Class: tooLarge, Source: "OpenAI",
		Pattern: contentField + `\W{1,3}string too long|` +
			contentField + `\W{1,4}code\W{1,4}string_above_max_length`,
		Sentence: "One text of the conversation is longer than the API accepts: a content, a tool's output or a prompt.",
	},
}

// contentField is the path of a field with content of a conversation, as errors of OpenAI name it. It does not match
// ids, names and tools, which a compaction does not make shorter.
const contentField = `['"](?:(?:input|prompt)(?:\[\d+\])?|` +
	`(?:messages|input)\[\d+\]\.(?:[a-z_]+(?:\[\d+\])?\.)*(?:content|output|arguments|text|url)(?:\[\d+\])?)`

var tooLargeStatus = Rule{
	ID: Status413, Class: tooLarge, Source: "HTTP",
	Sentence: "The HTTP status is 413, and the text does not mention tokens.",
}

var overWindow = Rule{
	ID: UsageOverWindow, Class: contextOverflow, Source: "z.ai and others that cut the input off",
	Sentence: "The model stopped normally, and input and cache_read are more than the window: the provider dropped " +
		"what exceeds the window.",
}

var noOutput = Rule{
	ID: UsageNoOutput, Class: contextOverflow, Source: "providers that leave no room to answer",
	Sentence: "The model stopped at its length without any output, and input and cache_read fill 99 % of the window.",
}

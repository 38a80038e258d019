package overflow

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Rule is one way to tell what an error is. The rules are asked in the order of the table; the first that holds decides.
type Rule struct {
	// ID is what answers name it by.
	ID string
	// Class is what an error is that the rule holds for.
	Class compactordv1.ErrorClass
	// Pattern is an RE2 expression that is searched for in the text in lower case; empty where the rule looks elsewhere.
	Pattern string
	// Sentence says when the rule holds.
	Sentence string
	// Source are the providers, gateways and programs that the wording is of.
	Source string
	// ClientError says that the wording is too common to go by without an HTTP status of 400 to 499.
	ClientError bool
}

// Ids of the rules that look elsewhere than in the text.
const (
	Status429       = "status-429"
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

// Rules returns the built-in rules in the order in which they are asked. Those of a configuration come before the
// built-in ones of their kind.
func Rules() []Rule {
	return slices.Concat(statusRules, stopRules, exclusions, tokenRules, byteRules, sizeStatusRules, usageRules)
}

var statusRules = []Rule{{
	ID: Status429, Class: rateLimit, Source: "HTTP",
	Sentence: "The HTTP status is 429, whatever the text says of tokens.",
}}

// stopReasons are finish reasons by which providers say that the window is full.
var stopReasons = []string{
	"model_context_window_exceeded", "context_window_exceeded", "context_length_exceeded", "contextlengthreached",
}

var stopRules = []Rule{{
	ID: ProviderStopped, Class: contextOverflow, Source: "Anthropic, Amazon Bedrock, z.ai, LM Studio",
	Sentence: "The provider's own stop reason says that the context window is full.",
}}

// exclusions look like overflows, or stand beside words that do, and are none.
var exclusions = []Rule{
	{
		ID: "text-429", Class: rateLimit, Source: "SDKs that put the status into the text",
		Pattern:  `^\W*(?:api |http )?(?:error:? ?)?\W?429\b|\b(?:status|code)(?:[ _]?code)?\W{1,4}429\b`,
		Sentence: "The text gives the status 429.",
	},
	{
		ID: "rate-limit", Class: rateLimit, Source: "OpenAI, Anthropic, Groq and others",
		Pattern: `\brate[ _-]?limit`, Sentence: "The text speaks of a rate limit.",
	},
	{
		ID: "too-many-requests", Class: rateLimit, Source: "HTTP, Azure",
		Pattern: `too[ _]?many[ _]?requests`, Sentence: "The text speaks of too many requests.",
	},
	{
		ID: "throttled", Class: rateLimit, Source: "Amazon Bedrock",
		Pattern: `\bthrottl(?:ed|ing)`, Sentence: "The text speaks of throttling.",
	},
	{
		ID: "please-wait", Class: rateLimit, Source: "Amazon Bedrock, OpenAI",
		Pattern:  `\bplease (?:wait|(?:re)?try (?:again )?(?:in|after)\b)`,
		Sentence: "The text asks to wait: what is too long does not get shorter by that.",
	},
	{
		ID: "tokens-per-time", Class: rateLimit, Source: "OpenAI, Groq, Azure",
		Pattern:  `\btokens? per (?:second|min|hour|day|month)|\btp[md]\b`,
		Sentence: "The text speaks of tokens in a span of time.",
	},
	{
		ID: "quota", Class: rateLimit, Source: "OpenAI, Gemini",
		Pattern: `\bquota\b|\binsufficient_quota\b|\bresource[ _]exhausted\b`, Sentence: "The text speaks of a quota.",
	},
	{
		ID: "unavailable", Class: other, Source: "Amazon Bedrock, Anthropic",
		Pattern:  `\bservice[ _]?unavailable|\boverloaded(?:_error)?\b`,
		Sentence: "The provider has no capacity at the moment.",
	},
	{
		ID: "output-limit", Class: other, Source: "OpenAI, Amazon Bedrock",
		Pattern: `supports at most \d+ (?:completion|output) tokens|` +
			`maximum tokens you requested exceeds? the model limit`,
		Sentence: "The request asks for more output than the model writes: no shorter context helps.",
	},
}

// tokenRules are wordings of providers for a context that is too long in tokens.
var tokenRules = []Rule{
	{
		ID: "anthropic-prompt", Class: contextOverflow, Source: "Anthropic",
		Pattern: `prompt is too long`, Sentence: "The text says that the prompt is too long.",
	},
	{
		ID: "anthropic-input-and-output", Class: contextOverflow, Source: "Anthropic",
		Pattern:  `input length and \W?max_tokens\W? exceed`,
		Sentence: "Input and max_tokens together exceed the context limit.",
	},
	{
		ID: "bedrock-input", Class: contextOverflow, Source: "Amazon Bedrock, MosaicML",
		Pattern: `input is too long|input tokens exceeded`, Sentence: "The text says that the input is too long.",
	},
	{
		ID: "openai-window", Class: contextOverflow, Source: "OpenAI Chat and Responses",
		Pattern:  `exceed(?:s|ed)? the (?:model.?s )?context window`,
		Sentence: "The input exceeds the context window.",
	},
	{
		ID: "gemini-input", Class: contextOverflow, Source: "Gemini",
		Pattern:  `input token count[^\n]*exceeds the maximum`,
		Sentence: "The input token count exceeds the maximum.",
	},
	{
		ID: "maximum-tokens", Class: contextOverflow, Source: "Gemini, Vertex AI",
		Pattern:  `exceeds the maximum number of tokens`,
		Sentence: "The text says that the maximum number of tokens is exceeded.",
	},
	{
		ID: "xai-prompt", Class: contextOverflow, Source: "xAI",
		Pattern: `maximum prompt length is \d`, Sentence: "The text gives the maximum prompt length.",
	},
	{
		ID: "reduce-length", Class: contextOverflow, Source: "Groq, OpenAI, vLLM",
		Pattern: `reduce the length`, Sentence: "The text asks to reduce the length.",
	},
	{
		ID: "copilot-limit", Class: contextOverflow, Source: "GitHub Copilot",
		Pattern: `exceeds the limit of \d`, Sentence: "The prompt exceeds a limit that the text gives.",
	},
	{
		ID: "llamacpp-size", Class: contextOverflow, Source: "llama.cpp",
		Pattern:  `exceeds? the available context size|exceed_context_size_error|context size has been exceeded`,
		Sentence: "The request exceeds the context size that the server was started with.",
	},
	{
		ID: "llamacpp-python-window", Class: contextOverflow, Source: "llama-cpp-python",
		Pattern:  `requested tokens[^\n]{0,20} exceed context window`,
		Sentence: "The requested tokens exceed the context window.",
	},
	{
		ID: "lmstudio-length", Class: contextOverflow, Source: "LM Studio",
		Pattern:  `greater than the context length|when context the overflows|when the context overflows`,
		Sentence: "What must stay of the prompt is longer than the context length that the model was loaded with.",
	},
	{
		ID: "minimax-window", Class: contextOverflow, Source: "MiniMax",
		Pattern: `context window exceeds limit`, Sentence: "The context window exceeds the limit.",
	},
	{
		ID: "kimi-limit", Class: contextOverflow, Source: "Kimi",
		Pattern: `exceeded model token limit`, Sentence: "The request exceeded the model's token limit.",
	},
	{
		ID: "mistral-length", Class: contextOverflow, Source: "Mistral",
		Pattern:  `too large for model with \d+ maximum context`,
		Sentence: "The prompt is too large for the model's maximum context length.",
	},
	{
		ID: "context-length", Class: contextOverflow, Source: "OpenAI, OpenRouter, vLLM, DeepSeek, gateways",
		Pattern: `maximum context length`, Sentence: "The text gives the maximum context length.",
	},
	{
		ID: "together-input", Class: contextOverflow, Source: "Together",
		Pattern:  `\btokens\) is longer than the model.?s context`,
		Sentence: "The input is longer than the model's context length.",
	},
	{
		ID: "ollama-prompt", Class: contextOverflow, Source: "Ollama",
		Pattern:  `prompt too long; exceeded (?:max )?context length`,
		Sentence: "The prompt exceeded the context length.",
	},
	{
		ID: "proxy-input", Class: contextOverflow, Source: "gateways",
		Pattern:  `exceeds the maximum allowed input length`,
		Sentence: "The input exceeds the maximum that is allowed.",
	},
	{
		ID: "vllm-total", Class: contextOverflow, Source: "vLLM",
		Pattern: `requested \d+ output tokens|prompt contains (?:at least )?\d+ input tokens|` +
			`for a total of (?:at least )?\d+ tokens`,
		Sentence: "The text counts input and output together.",
	},
	{
		ID: "tgi-inputs", Class: contextOverflow, Source: "Text Generation Inference",
		Pattern:  `inputs\W{1,2} tokens \+ \W?max_new_tokens\W? must be`,
		Sentence: "Inputs and max_new_tokens together are over the limit.",
	},
	{
		ID: "qwen-range", Class: contextOverflow, Source: "Qwen",
		Pattern: `range of input length`, Sentence: "The text gives the range of the input's length.",
	},
	{
		ID: "input-too-long", Class: contextOverflow, Source: "several",
		Pattern: `input too long`, Sentence: "The text says that the input is too long.",
	},
	{
		ID: "window-exceeded", Class: contextOverflow, Source: "z.ai, LiteLLM",
		Pattern:  `model_context_window_exceeded|contextwindowexceedederror`,
		Sentence: "The text has the name of an error for a full context window.",
	},
	{
		ID: "length-exceeded", Class: contextOverflow, Source: "OpenAI, Groq, Cerebras, gateways",
		Pattern:  `context[ _]length[ _]exceeded`,
		Sentence: "The text, or the error's code, says that the context length is exceeded.",
	},
	{
		ID: "too-many-tokens", Class: contextOverflow, Source: "Cohere and others",
		Pattern: `too many tokens`, Sentence: "The text says that there are too many tokens, and asks not to wait.",
	},
	{
		ID: "limit-exceeded", Class: contextOverflow, Source: "several",
		Pattern: `token limit exceeded`, Sentence: "The text says that the token limit is exceeded.",
	},
	{
		ID: "no-body", Class: contextOverflow, Source: "Cerebras",
		Pattern:  `^4(?:00|13)\s*(?:status code)?\s*\(no body\)`,
		Sentence: "The whole text is a status of 400 or 413 without a body.",
	},
	{
		ID: "client-error-wording", Class: contextOverflow, Source: "kimi-cli's and xbot's lists", ClientError: true,
		Pattern: `context[ _]length|maximum context|\btoken limit\b|` +
			`\bmax(?:imum)?[ _]tokens\b[^\n]{0,80}\bexceed|\bexceed[a-z]*\b[^\n]{0,80}\bmax(?:imum)?[ _]tokens\b`,
		Sentence: "With an HTTP status of 400 to 499, the text speaks of the context length or a token limit.",
	},
}

// byteRules are wordings for a request that is too large in bytes. They come after those for tokens, which say more.
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
		Sentence: "The text speaks of a largest size of requests.",
	},
	{
		ID: "string-too-long", Class: tooLarge, Source: "OpenAI",
		Pattern:  `string_above_max_length|string too long`,
		Sentence: "One text of the request is longer than the API takes.",
	},
}

var sizeStatusRules = []Rule{{
	ID: Status413, Class: tooLarge, Source: "HTTP",
	Sentence: "The HTTP status is 413, and the text says nothing of tokens.",
}}

var usageRules = []Rule{
	{
		ID: UsageOverWindow, Class: contextOverflow, Source: "z.ai and others that cut the input off",
		Sentence: "The model ended by itself, and input and cache_read are more than the window: the provider dropped " +
			"what was over it.",
	},
	{
		ID: UsageNoOutput, Class: contextOverflow, Source: "providers that leave no room to answer",
		Sentence: "The model stopped at its length without any output, and input and cache_read fill 99 % of the window.",
	},
}

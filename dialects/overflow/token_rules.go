package overflow

// tokenRules are wordings of providers for a context that has too many tokens.
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
		Sentence: "The part of the prompt that must stay is longer than the context length that the model was loaded with.",
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
		ID: "vertex-input", Class: contextOverflow, Source: "Vertex AI",
		Pattern:  `input token count is \d[\d,]* but (?:the )?model only supports`,
		Sentence: "The input token count is more than the model supports.",
	},
	{
		ID: "openai-configured", Class: contextOverflow, Source: "OpenAI by way of LiteLLM",
		Pattern:  `input tokens exceed the configured limit`,
		Sentence: "The input tokens exceed a limit that the text gives.",
	},
	{
		ID: "bedrock-titan", Class: contextOverflow, Source: "Amazon Titan and Nova on Bedrock",
		Pattern:  `too many input tokens\b`,
		Sentence: "The text says that there are too many input tokens, and asks not to wait.",
	},
	{
		ID: "cloudflare-window", Class: contextOverflow, Source: "Cloudflare Workers AI",
		Pattern:  `exceeded this model context window limit`,
		Sentence: "Input and output together exceed the model's context window.",
	},
	{
		ID: "zhipu-length", Class: contextOverflow, Source: "Zhipu, z.ai",
		Pattern:  `prompt exceeds max length|\bprompt ?超长|\bcode\W{1,4}1261\b`,
		Sentence: "The prompt is longer than the model accepts: code 1261.",
	},
	{
		ID: "perplexity-messages", Class: contextOverflow, Source: "Perplexity",
		Pattern:  `total length of all messages is too long|too_many_prompt_tokens`,
		Sentence: "All messages together are too long.",
	},
	{
		ID: "input-over-context", Class: contextOverflow, Source: "LM Studio, Ollama",
		Pattern:  `\binput (?:length )?(?:\d+ )?exceeds (?:the )?(?:model.?s )?context length`,
		Sentence: "The input exceeds the context length.",
	},
	{
		ID: "deepinfra-input", Class: contextOverflow, Source: "DeepInfra",
		Pattern:  `input length \d+ exceeds maximum input length`,
		Sentence: "The input exceeds the maximum input length.",
	},
	{
		ID: "watsonx-limit", Class: contextOverflow, Source: "IBM watsonx.ai",
		Pattern:  `number of input tokens \d+ cannot exceed the total tokens limit`,
		Sentence: "The input has more tokens than the model accepts in total.",
	},
	{
		ID: "vllm-prompt", Class: contextOverflow, Source: "vLLM",
		Pattern:  `prompt \(length \d+\) is longer than the maximum model length`,
		Sentence: "The prompt is longer than the maximum model length.",
	},
	{
		ID: "vllm-no-room", Class: contextOverflow, Source: "vLLM",
		Pattern:  `max_(?:completion_)?tokens must be at least 1, got -(?:[2-9]|\d{2,})`,
		Sentence: "The prompt leaves a negative number of tokens for the output. A request for -1 is excluded: it means no limit.",
	},
	{
		ID: "tabby-length", Class: contextOverflow, Source: "TabbyAPI",
		Pattern:  `(?:prompt|request) length \d+(?: \+ (?:max_tokens )?\d+)? is greater than (?:cache_size|max_seq_len)`,
		Sentence: "The request is longer than the sequence that the server was started with.",
	},
	{
		ID: "tgi-length", Class: contextOverflow, Source: "Text Generation Inference",
		Pattern:  `inputs\W{1,2} must have less than \d+ tokens`,
		Sentence: "The inputs have more tokens than the server accepts.",
	},
	{
		ID: "doubao-tokens", Class: contextOverflow, Source: "Doubao",
		Pattern:  `exceed max message tokens`,
		Sentence: "The messages have more tokens than the model accepts.",
	},
	{
		ID: "qianfan-prompt", Class: contextOverflow, Source: "Qianfan",
		Pattern:  `prompt tokens? too long`,
		Sentence: "The prompt has too many tokens.",
	},
	{
		ID: "prompt-too-long", Class: contextOverflow, Source: "z.ai, vMLX",
		Pattern:  `\bprompt[ _]too[ _]long\b`,
		Sentence: "The text says that the prompt is too long.",
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
		Pattern:  exceeded + `[^\n]{0,80}` + windowWords + `|` + windowWords + `[^\n]{0,80}` + exceeded,
		Sentence: "With an HTTP status of 400 to 499, the text says that the context length or a token limit is exceeded.",
	},
}

// Common words that mean an overflow only together. They do not include the parameter max_tokens, which bounds the
// output.
const (
	windowWords = `(?:\bcontext[ _](?:length|window|size|limit)|\bmaximum context|\btoken limit\b|` +
		`\bmax(?:imum)? (?:input |prompt |context )?tokens\b)`
	exceeded = `\b(?:exceed|surpass|reached\b|over\b|beyond\b|too (?:long|large|big|many)\b|` +
		`(?:longer|larger|greater|more) than\b)`
)

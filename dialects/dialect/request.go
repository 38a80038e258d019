package dialect

import "encoding/json"

// RequestOptions are what a request for an answer has besides its list.
type RequestOptions struct {
	// Model is the model's name on its server.
	Model string
	// MaxOutputTokens is the most tokens that the model may write, thinking included. With 0 the request has no limit,
	// unless the provider demands one.
	MaxOutputTokens uint32
	// TokenLimit is the name of the limit's field in Chat Completions, where servers differ. Empty means `max_tokens`.
	// Other dialects have one name.
	TokenLimit string
	// Effort is how hard the model is to think: the provider's word or, for dialects that accept one, a number of tokens.
	// Empty: the request does not mention it.
	Effort string
	// Tools are tool definitions in the provider's shape, a JSON array. Empty: none.
	Tools json.RawMessage
}

package dialect

import "encoding/json"

// RequestOptions are what a request for an answer says beside its list.
type RequestOptions struct {
	// Model is the model as its server names it.
	Model string
	// MaxOutputTokens is the most that the model may write, thinking included; 0: nothing is said of it, where the provider
	// does not insist on it.
	MaxOutputTokens uint32
	// TokenLimit is the name that the limit has in Chat Completions, where servers differ in it; empty: `max_tokens`. Other
	// dialects have one name.
	TokenLimit string
	// Effort is how hard the model is to think: the provider's word, or a number of tokens for dialects that take one; empty:
	// nothing is said of it.
	Effort string
	// Tools are tool definitions as the provider takes them, a JSON array; empty: none.
	Tools json.RawMessage
}

package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
)

// Continue puts the prompt behind the messages of the view. OpenAI's cache knows a prompt by its first tokens, which are those of
// the tools, the instructions and then of the messages: as long as all are the agent's to the byte, what stands before the
// prompt can come from the cache. How much is to be thought or written is not part of it. Whether a tool may be called is left
// as it is by itself, for the same reason.
func (chat) Continue(view *dialect.List, _ json.RawMessage, prompt *dialect.List) (*dialect.List, error) {
	return dialect.Concat(view, prompt), nil
}

package dialect

import "slices"

// Concat puts a prompt behind a view. The view's system prompt counts, where it has one.
//
// OpenAI's dialects need no more. Its cache knows a prompt by its first tokens, which are those of the tools, the instructions
// and then of the messages: as long as all are the agent's to the byte, what stands before the prompt can come from the cache.
// How much is to be thought or written is not part of it. Whether a tool may be called is left as it is by itself, for the same
// reason.
func Concat(view, prompt *List) *List {
	list := *prompt
	if len(view.System) > 0 {
		list.System = view.System
	}
	list.Messages = slices.Concat(view.Messages, prompt.Messages)
	return &list
}

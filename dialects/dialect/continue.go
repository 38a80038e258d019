package dialect

import "slices"

// Concat puts a prompt after a view. If the view has a system prompt, the result has that one.
//
// OpenAI's dialects need nothing else. Its prompt cache compares prompts by their first tokens: first the tools, then
// the instructions, then the messages. As long as these are byte for byte the agent's, everything before the prompt can
// come from the cache. The limits on thinking and output do not matter for the cache. The choice of tools stays the
// default one, for the same reason.
func Concat(view, prompt *List) *List {
	list := *prompt
	if len(view.System) > 0 {
		list.System = view.System
	}
	list.Messages = slices.Concat(view.Messages, prompt.Messages)
	return &list
}

package dialect

import "slices"

// Concat puts a prompt behind a view. The view's system prompt counts, where it has one.
func Concat(view, prompt *List) *List {
	list := *prompt
	if len(view.System) > 0 {
		list.System = view.System
	}
	list.Messages = slices.Concat(view.Messages, prompt.Messages)
	return &list
}

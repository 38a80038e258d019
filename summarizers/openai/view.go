package openai

import (
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/summarizers"
)

// onView puts the agent's own messages before the closing one, and its instructions beside them. OpenAI's cache knows a
// prompt by its first tokens, which are those of the tools, the instructions and then of the messages: as long as all are
// the agent's to the byte, what stands before the closing message can come from the cache. How much is to be thought or
// written is not part of it. Whether a tool may be called is left as it is by itself, for the same reason.
func onView(closing *dialect.List, view *summarizers.View) (*dialect.List, error) {
	list := *closing
	if len(view.System) > 0 {
		list.System = view.System
	}
	list.Messages = slices.Concat(view.Messages, closing.Messages)
	return &list, nil
}

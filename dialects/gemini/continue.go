package gemini

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// continueView puts the prompt into the last content where that is the user's, since user and model must alternate. It
// does not put it among function responses: a content of the user may follow those. Gemini's implicit cache compares
// the start of the prompt: the system instruction, the tools and then the contents. The limits on thinking and output
// do not matter for it.
func continueView(view *dialect.List, _ json.RawMessage, prompt *dialect.List) (*dialect.List, error) {
	list := dialect.Concat(view, prompt)
	if len(view.Messages) == 0 || len(prompt.Messages) == 0 {
		return list, nil
	}
	at := len(view.Messages) - 1
	// Malformed JSON is sent unchanged, and the server refuses it.
	last, _ := rawjson.ParseObject(list.Messages[at])
	if last.IsText("role", roleModel) || hasResults(last) {
		return list, nil
	}
	own, err := rawjson.ParseObject(prompt.Messages[0])
	if err != nil {
		return nil, err
	}
	more, err := own.Elements("parts")
	if err != nil {
		return nil, err
	}
	parts, err := rawjson.Append(last["parts"], more...)
	if err != nil {
		return nil, err
	}
	list.Messages[at], err = rawjson.Set(list.Messages[at], "parts", parts)
	list.Messages = slices.Delete(list.Messages, at+1, at+2)
	return list, err
}

// hasResults reports whether a content has function responses.
func hasResults(content rawjson.Object) bool {
	parts, _ := content.Elements("parts")
	return slices.ContainsFunc(parts, func(raw json.RawMessage) bool {
		part, err := rawjson.ParseObject(raw)
		return err == nil && either(part, fieldResponse, "function_response") != nil
	})
}

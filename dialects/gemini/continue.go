package gemini

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// continueView puts the prompt into the last content if that is the user's, since user and model take turns; but not among the
// results of functions, behind which the user may go on. Gemini's implicit cache knows a prompt by what it begins with: the
// system instruction, the tools and then the contents. How much is to be thought or written is not part of it.
func continueView(view *dialect.List, _ json.RawMessage, prompt *dialect.List) (*dialect.List, error) {
	list := dialect.Concat(view, prompt)
	if len(view.Messages) == 0 || len(prompt.Messages) == 0 {
		return list, nil
	}
	at := len(view.Messages) - 1
	// The server refuses what is malformed.
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

// hasResults says whether results of functions are among the parts of a content.
func hasResults(content rawjson.Object) bool {
	parts, _ := content.Elements("parts")
	return slices.ContainsFunc(parts, func(raw json.RawMessage) bool {
		part, err := rawjson.ParseObject(raw)
		return err == nil && either(part, fieldResponse, "function_response") != nil
	})
}

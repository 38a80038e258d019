package transcript

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// isCompletionLog reports whether it is OpenHands' log of a completion: the request's messages, and the response.
func isCompletionLog(o rawjson.Object) bool {
	if rawjson.KindOf(o["messages"]) != rawjson.Array {
		return false
	}
	response, err := o.Sub("response")
	return err == nil && rawjson.KindOf(response["choices"]) == rawjson.Array
}

// newCompletionLog reads the messages of the request and then the one of the response.
func newCompletionLog(in *lines) source {
	var response rawjson.Object
	names := callNames{}
	messages := newElements(in, "messages", func(key string, value json.RawMessage) error {
		if key != "response" {
			in.notes.add(bodyField)
			return nil
		}
		var err error
		response, err = rawjson.ParseObject(value)
		return err
	})
	return &elementSource{
		notes: in.notes,
		feed:  messages,
		read: func(raw json.RawMessage) ([]entry, error) {
			o, err := rawjson.ParseObject(raw)
			if err != nil {
				return nil, err
			}
			m, err := litellmMessage(o, in.notes)
			if err == nil {
				names.see(m)
			}
			return one(m, err)
		},
		rest: func() ([]entry, error) {
			m, err := litellmAnswer(response, in.notes)
			return one(m, rawjson.In("response", err))
		},
	}
}

// litellmAnswer parses the message of a response, with the response's fields. It returns nil where there is none.
func litellmAnswer(response rawjson.Object, notes *noteCounter) (*compactordv1.Message, error) {
	choice, err := litellmChoice(response)
	if err != nil || choice == nil {
		return nil, err
	}
	o, err := choice.Sub("message")
	if err != nil || o == nil {
		return nil, rawjson.In("choices", rawjson.InElement(0, err))
	}
	m, err := litellmMessage(o, notes)
	if err != nil {
		return nil, rawjson.In("choices", rawjson.InElement(0, rawjson.In("message", err)))
	}
	if m.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
		return nil, rawjson.In("choices", rawjson.InElement(0, rawjson.In("message", rawjson.In("role", errNoAnswer))))
	}
	return m, litellmResponse(m, response)
}

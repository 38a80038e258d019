package transcript

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// isCompletionLog says whether it is what OpenHands logs of a completion: the request's messages, and the response.
func isCompletionLog(o rawjson.Object) bool {
	if rawjson.KindOf(o["messages"]) != rawjson.Array {
		return false
	}
	response, err := o.Sub("response")
	return err == nil && rawjson.KindOf(response["choices"]) == rawjson.Array
}

// newCompletionLog reads the messages of the request and, behind them, the one of the response.
func newCompletionLog(in *lines) source {
	var response rawjson.Object
	names := callNames{}
	messages := newElements(in, "messages", func(key string, value json.RawMessage) error {
		if key != "response" {
			in.remarks.add(bodyField)
			return nil
		}
		var err error
		response, err = rawjson.ParseObject(value)
		return err
	})
	return &elementSource{
		remarks: in.remarks,
		feed:    messages,
		read: func(raw json.RawMessage) ([]entry, error) {
			o, err := rawjson.ParseObject(raw)
			if err != nil {
				return nil, err
			}
			m, err := litellmMessage(o, in.remarks)
			if err == nil {
				names.see(m)
			}
			return one(m, err)
		},
		rest: func() ([]entry, error) {
			m, err := litellmAnswer(response, in.remarks)
			return one(m, rawjson.In("response", err))
		},
	}
}

// litellmAnswer parses the message of a response, with what the response tells of it; nil where it holds none.
func litellmAnswer(response rawjson.Object, notes *remarks) (*compactordv1.Message, error) {
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

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// apiJSON writes a message of the API as the contract names its fields; null where it is not there.
type apiJSON struct {
	proto.Message
	// zeros says whether fields without presence are written that are zero, false or empty. Programs read an index of 0
	// then, and need not know what is left out. The many parts of a view's messages would be long for it.
	zeros bool
}

// wholeAnswer writes an answer of the API with its zeros.
func wholeAnswer(m proto.Message) apiJSON { return apiJSON{m, true} }

// wholeAnswers makes a JSON array of what pages of an answer held.
func wholeAnswers[M proto.Message](messages []M) []apiJSON {
	list := make([]apiJSON, len(messages))
	for i, m := range messages {
		list[i] = wholeAnswer(m)
	}
	return list
}

// MarshalJSON takes out the white space that protojson varies on purpose.
func (m apiJSON) MarshalJSON() ([]byte, error) {
	if m.Message == nil || !m.ProtoReflect().IsValid() {
		return []byte("null"), nil
	}
	raw, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: m.zeros}.Marshal(m.Message)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, raw)
	return compact.Bytes(), err
}

// apiList makes a JSON array of messages of the API.
func apiList[M proto.Message](messages []M) []apiJSON {
	list := make([]apiJSON, len(messages))
	for i, m := range messages {
		list[i] = apiJSON{Message: m}
	}
	return list
}

// optional leaves a message out of a document where it is not there.
func optional[M proto.Message](m M) *apiJSON {
	if !m.ProtoReflect().IsValid() {
		return nil
	}
	return &apiJSON{Message: m}
}

// printJSON prints one document.
func printJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	// What is raw stays readable: this is no page of HTML.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("cannot write the JSON document: %w", err)
	}
	return nil
}

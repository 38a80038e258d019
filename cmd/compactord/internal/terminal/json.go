package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// APIJSON writes a message of the API as the contract names its fields; null where it is not there.
type APIJSON struct {
	proto.Message
	// zeros says whether fields without presence are written that are zero, false or empty. Programs read an index of 0
	// then, and need not know what is left out. The many parts of a view's messages would be long for it.
	zeros bool
}

// WholeAnswer writes an answer of the API with its zeros.
func WholeAnswer(m proto.Message) APIJSON { return APIJSON{m, true} }

// WholeAnswers makes a JSON array of what pages of an answer held.
func WholeAnswers[M proto.Message](messages []M) []APIJSON {
	list := make([]APIJSON, len(messages))
	for i, m := range messages {
		list[i] = WholeAnswer(m)
	}
	return list
}

// MarshalJSON takes out the white space that protojson varies on purpose.
func (m APIJSON) MarshalJSON() ([]byte, error) {
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

// APIList makes a JSON array of messages of the API.
func APIList[M proto.Message](messages []M) []APIJSON {
	list := make([]APIJSON, len(messages))
	for i, m := range messages {
		list[i] = APIJSON{Message: m}
	}
	return list
}

// Optional leaves a message out of a document where it is not there.
func Optional[M proto.Message](m M) *APIJSON {
	if !m.ProtoReflect().IsValid() {
		return nil
	}
	return &APIJSON{Message: m}
}

// PrintJSON prints one document.
func PrintJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	// What is raw stays readable: this is no page of HTML.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("cannot write the JSON document: %w", err)
	}
	return nil
}

package openaichat

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	name = "openai_chat"
	kind = compactordv1.Dialect_DIALECT_OPENAI_CHAT
)

type chat struct{}

// New returns the dialect of OpenAI Chat Completions.
func New() dialect.Dialect { return chat{} }

func (chat) Kind() compactordv1.Dialect { return kind }

func (chat) Name() string { return name }

func (chat) Document(list *dialect.List) json.RawMessage {
	return rawjson.Object{"messages": rawjson.EncodeArray(list.Messages)}.Encode()
}

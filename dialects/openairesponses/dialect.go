package openairesponses

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const kind = compactordv1.Dialect_DIALECT_OPENAI_RESPONSES

// api is the dialect: its methods lead to the files where the work is done.
type api struct{}

// New returns the dialect.
func New() dialect.Dialect { return api{} }

func (api) Kind() compactordv1.Dialect { return kind }

func (api) Name() string { return "openai_responses" }

func (api) Split(raw []byte) (*dialect.List, error) {
	b, err := openBody(raw)
	if err != nil {
		return nil, err
	}
	return b.list(), nil
}

// Document writes the fields instructions and input of a request body. A list of one text is that text.
func (api) Document(list *dialect.List) json.RawMessage {
	o := rawjson.Object{fieldInput: rawjson.EncodeArray(list.Messages)}
	if len(list.Messages) == 1 && rawjson.KindOf(list.Messages[0]) == rawjson.String {
		o[fieldInput] = list.Messages[0]
	}
	if len(list.System) > 0 {
		o[fieldInstructions] = list.System[0]
	}
	return o.Encode()
}

func (api) Parse(raw []byte) (*dialect.Parsed, error) {
	b, err := openBody(raw)
	if err != nil {
		return nil, err
	}
	return parse(b)
}

func (api) Render(messages []*compactordv1.Message, opts dialect.RenderOptions) (*dialect.Rendered, error) {
	if opts.AsWritten {
		return renderAsWritten(messages), nil
	}
	return renderRequest(messages), nil
}

func (api) Rules() []dialect.Rule { return dialect.RulesOf(checks) }

func (api) Validate(list *dialect.List, mode dialect.Mode) []dialect.Violation {
	return dialect.Run(checks, decode(list), mode)
}

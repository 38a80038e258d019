package anthropic

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const kind = compactordv1.Dialect_DIALECT_ANTHROPIC

// api is the dialect: its methods lead to the files where the work is done.
type api struct{}

// New returns the dialect.
func New() dialect.Dialect { return api{} }

func (api) Kind() compactordv1.Dialect { return kind }

func (api) Name() string { return "anthropic" }

func (api) Split(raw []byte) (*dialect.List, error) {
	b, err := openBody(raw)
	if err != nil {
		return nil, err
	}
	return b.list(), nil
}

func (api) Document(list *dialect.List) json.RawMessage {
	body := rawjson.Object{"messages": rawjson.EncodeArray(list.Messages)}
	if text, is := systemText(list); is {
		body["system"] = text
	} else if len(list.System) > 0 {
		body["system"] = rawjson.EncodeArray(list.System)
	}
	return body.Encode()
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
	return renderRequest(messages, opts.Breakpoints), nil
}

func (api) Rules() []dialect.Rule { return dialect.RulesOf(checks) }

func (api) Validate(list *dialect.List, mode dialect.Mode) []dialect.Violation {
	return dialect.Run(checks, decode(list), mode)
}

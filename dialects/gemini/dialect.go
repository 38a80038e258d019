package gemini

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const kind = compactordv1.Dialect_DIALECT_GEMINI

// The roles of contents. Some clients answer calls in the role of the function.
const (
	roleUser     = "user"
	roleModel    = "model"
	roleFunction = "function"
)

type gemini struct{}

// New returns the dialect.
func New() dialect.Dialect { return gemini{} }

func (gemini) Kind() compactordv1.Dialect { return kind }

func (gemini) Name() string { return "gemini" }

func (gemini) Rules() []dialect.Rule { return dialect.RulesOf(checks) }

func (gemini) Validate(list *dialect.List, mode dialect.Mode) []dialect.Violation {
	return dialect.Run(checks, judge(list), mode)
}

func (gemini) Split(raw []byte) (*dialect.List, error) {
	e, err := open(raw)
	if err != nil {
		return nil, err
	}
	list := &dialect.List{Messages: e.contents}
	if e.system != nil {
		list.System = []json.RawMessage{e.system}
	}
	return list, nil
}

func (gemini) Document(list *dialect.List) json.RawMessage { return bodyOf(list).Encode() }

func bodyOf(list *dialect.List) rawjson.Object {
	body := rawjson.Object{"contents": rawjson.EncodeArray(list.Messages)}
	if len(list.System) > 0 {
		body["systemInstruction"] = list.System[0]
	}
	return body
}

func (gemini) Render(messages []*compactordv1.Message, opts dialect.RenderOptions) (*dialect.Rendered, error) {
	if opts.AsWritten {
		return renderAsWritten(messages), nil
	}
	return renderRequest(messages), nil
}

package anthropic

import (
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func (messagesAPI) Render(
	messages []*compactordv1.Message, opts dialect.RenderOptions,
) (*dialect.Rendered, error) {
	if opts.AsWritten {
		return writeAsWritten(messages), nil
	}
	return writeRequest(messages, opts.Breakpoints), nil
}

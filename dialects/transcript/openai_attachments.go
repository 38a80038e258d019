package transcript

import (
	"errors"
	"fmt"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errOfAssistant = errors.New("only a message of role assistant may have it")

// openAIAttachments keeps unknown fields, byte for byte.
func openAIAttachments(o rawjson.Object, known ...string) ([]*compactordv1.Attachment, error) {
	keys := o.Others(known...)
	if len(keys) > maxAttachments {
		return nil, fmt.Errorf("has %d fields that are not known, at most %d are possible", len(keys), maxAttachments)
	}
	attachments := make([]*compactordv1.Attachment, 0, len(keys))
	for _, key := range keys {
		a, err := attachment(compactordv1.Dialect_DIALECT_OPENAI_CHAT, key, o[key])
		if err != nil {
			return nil, err
		}
		attachments = append(attachments, a)
	}
	return attachments, nil
}

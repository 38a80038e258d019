package transcript

import (
	"github.com/compactord/compactord/dialects/openaichat"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// openAIMessage parses one message of OpenAI's shape, with the fields that transcripts add to it.
func openAIMessage(raw []byte, notes *noteCounter) (*compactordv1.Message, error) {
	m, findings, err := openaichat.ParseMessage(raw)
	if err == nil {
		err = notes.strictly(findings)
	}
	if err != nil {
		return nil, fieldOf(err)
	}
	m.Origin = compactordv1.Origin_ORIGIN_IMPORT
	return m, nil
}

package transcript

import (
	"errors"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// parseOne parses one message in a provider's shape. Its results and its text can become several messages of a log.
func parseOne(d dialect.Dialect, raw []byte, notes *noteCounter) ([]*compactordv1.Message, error) {
	parsed, err := d.Parse(raw)
	if err == nil {
		err = notes.strictly(parsed.Findings)
	}
	if err != nil {
		return nil, fieldOf(err)
	}
	for _, m := range parsed.Messages {
		m.Origin = importedOrigin(m)
	}
	return parsed.Messages, nil
}

// fieldOf returns an input error as an error of one message. The line says its position in the list.
func fieldOf(err error) error {
	input := &dialect.InputError{}
	switch {
	case !errors.As(err, &input):
		return err
	case input.Field == "":
		return input.Err
	default:
		return &rawjson.FieldError{Path: input.Field, Err: input.Err}
	}
}

// importedOrigin returns IMPORT, or the message's own origin where the message stands for an unreadable one.
func importedOrigin(m *compactordv1.Message) compactordv1.Origin {
	if m.GetOrigin() == compactordv1.Origin_ORIGIN_UNSPECIFIED {
		return compactordv1.Origin_ORIGIN_IMPORT
	}
	return m.GetOrigin()
}

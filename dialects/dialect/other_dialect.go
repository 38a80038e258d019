package dialect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// OtherDialectError is the error for a message that has what only another dialect writes, such as a call. The message
// could be kept, but no view would show its calls, and no request for them would be answered.
type OtherDialectError struct {
	// Given is the dialect that the client named, and Written the one that the message is written in. Written is
	// unspecified where several are possible.
	Given, Written compactordv1.Dialect
}

func (e *OtherDialectError) Error() string {
	return fmt.Sprintf("belongs to %s, but the messages are given as %s", nameOf(e.Written), nameOf(e.Given))
}

func nameOf(kind compactordv1.Dialect) string {
	if kind == compactordv1.Dialect_DIALECT_UNSPECIFIED {
		return "another dialect"
	}
	return strings.ToLower(strings.TrimPrefix(kind.String(), "DIALECT_"))
}

// rolesOfOne are roles that one dialect has.
var rolesOfOne = map[string]compactordv1.Dialect{
	"tool":  compactordv1.Dialect_DIALECT_OPENAI_CHAT,
	"model": compactordv1.Dialect_DIALECT_GEMINI,
}

// typesOfOne are types of parts and items that one dialect has, and that hold a call, a result or a text. In another
// dialect they would be kept as opaque parts.
var typesOfOne = map[string]compactordv1.Dialect{
	"tool_use":             compactordv1.Dialect_DIALECT_ANTHROPIC,
	"tool_result":          compactordv1.Dialect_DIALECT_ANTHROPIC,
	"function_call":        compactordv1.Dialect_DIALECT_OPENAI_RESPONSES,
	"function_call_output": compactordv1.Dialect_DIALECT_OPENAI_RESPONSES,
	"input_text":           compactordv1.Dialect_DIALECT_OPENAI_RESPONSES,
	"output_text":          compactordv1.Dialect_DIALECT_OPENAI_RESPONSES,
}

// CheckDialect returns an OtherDialectError where the fields beside the content of a message, or of an item, are those
// of another dialect. OpaqueOf finds parts of another dialect.
func CheckDialect(given compactordv1.Dialect, o rawjson.Object) error {
	if rawjson.KindOf(o["tool_calls"]) == rawjson.Array && string(o["tool_calls"]) != "[]" {
		if err := writtenIn(given, compactordv1.Dialect_DIALECT_OPENAI_CHAT); err != nil {
			return rawjson.In("tool_calls", err)
		}
	}
	if rawjson.KindOf(o["parts"]) == rawjson.Array && !o.Has("content") {
		if err := writtenIn(given, compactordv1.Dialect_DIALECT_GEMINI); err != nil {
			return rawjson.In("parts", err)
		}
	}
	if written, found := rolesOfOne[o.TextOrEmpty("role")]; found {
		return rawjson.In("role", writtenIn(given, written))
	}
	if written, found := typesOfOne[o.TextOrEmpty("type")]; found {
		return rawjson.In("type", writtenIn(given, written))
	}
	if o.Has("content") && !o.Has("parts") && given == compactordv1.Dialect_DIALECT_GEMINI {
		return rawjson.In("content", writtenIn(given, compactordv1.Dialect_DIALECT_UNSPECIFIED))
	}
	return nil
}

func writtenIn(given, written compactordv1.Dialect) error {
	if given == written {
		return nil
	}
	return &OtherDialectError{Given: given, Written: written}
}

func isOtherDialect(err error) bool {
	other := &OtherDialectError{}
	return errors.As(err, &other)
}

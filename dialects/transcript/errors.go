package transcript

import (
	"errors"
	"fmt"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

var (
	// ErrEmpty means that the input had no content.
	ErrEmpty = errors.New("the input is empty")
	// ErrUnknownFormat means that Open does not know the input's format. The error around it says what the input looks
	// like, and which formats are known.
	ErrUnknownFormat = errors.New("the format is not recognized")

	errNoFormat = errors.New("there is no such format")
)

// LineError says what is wrong on a line of the input. It quotes nothing of the conversation.
type LineError struct {
	// Line is the number of the line, from 1. In a JSON document it is the line on which the message begins.
	Line int
	// Field is the path of the field within the line, such as `tool_calls[1].function.name`. Empty for the whole line.
	Field string
	// Err says what is wrong with it.
	Err error
	// canContinue reports that the input can be read further after the line.
	canContinue bool
}

func (e *LineError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %s: %v", e.Line, e.Field, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

// ended marks an error after which nothing more can be read.
func ended(err error) error {
	line := &LineError{}
	if !errors.As(err, &line) {
		return err
	}
	last := *line
	last.canContinue = false
	return &last
}

func onLine(line int, err error) error {
	known := &LineError{}
	if err == nil || errors.As(err, &known) {
		return err
	}
	inner := &rawjson.FieldError{}
	if errors.As(err, &inner) {
		return &LineError{Line: line, Field: inner.Path, Err: inner.Err, canContinue: true}
	}
	return &LineError{Line: line, Err: err, canContinue: true}
}

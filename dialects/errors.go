package dialects

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrEmpty says that there was nothing to read.
	ErrEmpty = errors.New("the input is empty")
	// ErrUnknownFormat says that the input is of no format that Open knows.
	ErrUnknownFormat = errors.New("the format is not recognized; expected OpenAI-style messages (one JSON object a line, " +
		"each with a role; or one JSON array of them, or an object with messages) or a Pi session file (whose first line " +
		"has type session and an id)")
)

// LineError says what is wrong on a line of the input. It quotes nothing of the conversation.
type LineError struct {
	// Line is the number of the line, counted from 1 as editors do. In a JSON document it is the line on which the
	// message begins.
	Line int
	// Field is the path of the field within the line, such as `tool_calls[1].function.name`; empty for the whole line.
	Field string
	// Err says what is wrong with it.
	Err error
}

func (e *LineError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %s: %v", e.Line, e.Field, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

// fieldError is what the parsers return: they know the field, and whoever called them the line.
type fieldError struct {
	path string
	err  error
}

func (e *fieldError) Error() string { return e.path + ": " + e.err.Error() }

func (e *fieldError) Unwrap() error { return e.err }

// in puts an error under a field; index brackets and names join as they are read in JavaScript.
func in(field string, err error) error {
	if err == nil {
		return nil
	}
	inner := &fieldError{}
	if !errors.As(err, &inner) {
		return &fieldError{path: field, err: err}
	}
	if strings.HasPrefix(inner.path, "[") {
		return &fieldError{path: field + inner.path, err: inner.err}
	}
	return &fieldError{path: field + "." + inner.path, err: inner.err}
}

func inElement(i int, err error) error { return in(fmt.Sprintf("[%d]", i), err) }

func onLine(line int, err error) error {
	known := &LineError{}
	if err == nil || errors.As(err, &known) {
		return err
	}
	inner := &fieldError{}
	if errors.As(err, &inner) {
		return &LineError{Line: line, Field: inner.path, Err: inner.err}
	}
	return &LineError{Line: line, Err: err}
}

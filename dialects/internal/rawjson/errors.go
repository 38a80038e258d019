package rawjson

import (
	"errors"
	"fmt"
	"strings"
)

// FieldError says which field of a JSON value is wrong. It quotes nothing of the value.
type FieldError struct {
	// Path is the field's path as it is read in JavaScript, such as `tool_calls[1].function.name`.
	Path string
	// Err says what is wrong with it.
	Err error
}

func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// In puts an error under a field.
func In(field string, err error) error {
	if err == nil {
		return nil
	}
	inner := &FieldError{}
	if !errors.As(err, &inner) {
		return &FieldError{Path: field, Err: err}
	}
	if strings.HasPrefix(inner.Path, "[") {
		return &FieldError{Path: field + inner.Path, Err: inner.Err}
	}
	return &FieldError{Path: field + "." + inner.Path, Err: inner.Err}
}

// InElement puts an error under an element of an array.
func InElement(i int, err error) error { return In(fmt.Sprintf("[%d]", i), err) }

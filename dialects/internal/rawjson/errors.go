package rawjson

import (
	"errors"
	"fmt"
	"strings"
)

// FieldError names the field of a JSON value that is wrong. It quotes nothing of the value.
type FieldError struct {
	// Path is the field's path as in JavaScript, such as `tool_calls[1].function.name`.
	Path string
	// Err says what is wrong with it.
	Err error
}

func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// In adds a field to the path of an error.
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

// InElement adds an element of an array to the path of an error.
func InElement(i int, err error) error { return In(fmt.Sprintf("[%d]", i), err) }

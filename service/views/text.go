package views

import (
	"encoding/json"
	"unsafe"
)

// textOf returns rendered JSON as a text, without a copy: a view of a megabyte would be copied only for its type. Nothing
// changes JSON once it is rendered.
func textOf(raw json.RawMessage) string { return unsafe.String(unsafe.SliceData(raw), len(raw)) }

package agenttools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// white is the white space that does not count around a text.
const white = " \t\n\r\v\f"

// Definition is what a model reads about a tool.
type Definition struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Parameters is a JSON Schema of an object. Its properties are strings, booleans and integers.
	Parameters json.RawMessage `json:"parameters"`

	// names are those of the arguments, as the model reads them in argument errors.
	names      []string
	properties map[string]property
	required   []string
}

// property is the definition of an argument.
type property struct {
	Type    string   `json:"type"`
	Minimum float64  `json:"minimum"`
	Maximum *float64 `json:"maximum"`
}

// ParseDefinitions parses a JSON array of definitions.
func ParseDefinitions(text []byte) ([]*Definition, error) {
	var all []*Definition
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for _, d := range all {
		var parameters struct {
			Properties json.RawMessage `json:"properties"`
			Required   []string        `json:"required"`
		}
		if err := json.Unmarshal(d.Parameters, &parameters); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		d.required = parameters.Required
		if err := json.Unmarshal(parameters.Properties, &d.properties); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		names, err := keys(parameters.Properties)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		d.names = names
	}
	return all, nil
}

// keys returns the keys of a JSON object in their order.
func keys(object json.RawMessage) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	var names []string
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		names = append(names, fmt.Sprint(name))
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// ArgumentError says what is wrong with the arguments of a call, in words for the model.
type ArgumentError struct{ text string }

func (e *ArgumentError) Error() string { return e.text }

// NewArgumentError makes an ArgumentError of a sentence for the model.
func NewArgumentError(sentence string) error { return &ArgumentError{sentence} }

// argumentError makes an ArgumentError of a text for the model by its name, with values for its placeholders.
func argumentError(text string, values ...string) error {
	return &ArgumentError{Text(text, values...)}
}

// Arguments are the arguments that a call gives, by name. Empty texts and null count as not given.
type Arguments map[string]any

// Has reports whether an argument is given.
func (a Arguments) Has(name string) bool {
	_, given := a[name]
	return given
}

// Text returns an argument; empty where it is not given.
func (a Arguments) Text(name string) string {
	text, _ := a[name].(string)
	return text
}

// Flag returns an argument; false where it is not given.
func (a Arguments) Flag(name string) bool {
	flag, _ := a[name].(bool)
	return flag
}

// Number returns an argument, or another number where it is not given.
func (a Arguments) Number(name string, otherwise uint32) uint32 {
	if number, ok := a[name].(float64); ok {
		return uint32(number)
	}
	return otherwise
}

// Parse checks the arguments of a call, as the model wrote them. It returns an ArgumentError.
func (d *Definition) Parse(written string) (Arguments, error) {
	given := map[string]any{}
	if strings.Trim(written, white) != "" && (json.Unmarshal([]byte(written), &given) != nil || given == nil) {
		return nil, argumentError("arguments_no_object")
	}
	var unknown []string
	for name := range given {
		if !slices.Contains(d.names, name) {
			unknown = append(unknown, printable(name))
		}
	}
	if len(unknown) > 0 {
		return nil, argumentError("argument_unknown", "name", slices.Min(unknown), "names", strings.Join(d.names, ", "))
	}
	checked := Arguments{}
	for _, name := range d.names {
		value := given[name]
		if value == nil || value == "" {
			continue
		}
		if err := d.properties[name].check(name, value); err != nil {
			return nil, err
		}
		checked[name] = value
	}
	isMissing := func(name string) bool {
		text, isText := checked[name].(string)
		return !checked.Has(name) || isText && strings.Trim(text, white) == ""
	}
	var missing []string
	for _, name := range d.required {
		if isMissing(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, argumentError("arguments_missing", "names", strings.Join(missing, ", "))
	}
	return checked, nil
}

// check returns an ArgumentError where a value is none of the argument's type.
func (p property) check(name string, value any) error {
	switch p.Type {
	case "string":
		if _, ok := value.(string); !ok {
			return argumentError("argument_no_text", "name", name)
		}
	case "boolean":
		if _, ok := value.(bool); !ok {
			return argumentError("argument_no_flag", "name", name)
		}
	default:
		highest := float64(math.MaxUint32)
		if p.Maximum != nil {
			highest = *p.Maximum
		}
		number, ok := value.(float64)
		if !ok || number != math.Trunc(number) || number < p.Minimum || number > highest {
			return argumentError("argument_no_number",
				"name", name, "lowest", digits(uint32(p.Minimum)), "highest", digits(uint32(highest)))
		}
	}
	return nil
}

// printable returns what a model wrote as a name, as printable ASCII.
func printable(name string) string {
	letters := []rune(name)
	for i, letter := range letters {
		if letter < ' ' || letter > '~' {
			letters[i] = '?'
		}
	}
	return string(letters[:min(len(letters), 64)])
}

func digits(number uint32) string { return strconv.FormatUint(uint64(number), 10) }

package clients_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// white is the white space that the tools leave out around texts.
const white = " \t\n\r\v\f"

// arguments are the arguments of a call that are given, by name.
type arguments map[string]any

func (a arguments) text(name string) string {
	text, _ := a[name].(string)
	return text
}

func (a arguments) flag(name string) bool {
	flag, _ := a[name].(bool)
	return flag
}

func (a arguments) number(name string, otherwise uint32) uint32 {
	if number, ok := a[name].(float64); ok {
		return uint32(number)
	}
	return otherwise
}

func (a arguments) has(name string) bool {
	_, ok := a[name]
	return ok
}

// parameter is the definition of an argument.
type parameter struct {
	Type    string
	Minimum float64
	Maximum *float64
}

// definition returns the parameters of a tool, their names in order, and the names of those that must be given.
func (r *runner) definition(tool string) (properties map[string]parameter, names, required []string) {
	r.t.Helper()
	var tools []struct {
		Name       string
		Parameters struct {
			Properties json.RawMessage
			Required   []string
		}
	}
	text, err := os.ReadFile(filepath.Join(table, "..", "tools.json"))
	require.NoError(r.t, err)
	require.NoError(r.t, json.Unmarshal(text, &tools))
	for _, defined := range tools {
		if defined.Name == tool {
			require.NoError(r.t, json.Unmarshal(defined.Parameters.Properties, &properties))
			return properties, keys(r, defined.Parameters.Properties), defined.Parameters.Required
		}
	}
	require.Fail(r.t, "there is no such tool", tool)
	return nil, nil, nil
}

// keys returns the keys of a JSON object, in their order.
func keys(r *runner, object json.RawMessage) []string {
	r.t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(object)))
	_, err := decoder.Token()
	require.NoError(r.t, err)
	var names []string
	for decoder.More() {
		name, err := decoder.Token()
		require.NoError(r.t, err)
		text, ok := name.(string)
		require.True(r.t, ok)
		names = append(names, text)
		var value json.RawMessage
		require.NoError(r.t, decoder.Decode(&value))
	}
	return names
}

// arguments checks the arguments of a call. Empty ones count as not given.
func (r *runner) arguments(tool, written string) (arguments, error) {
	given := map[string]any{}
	if strings.Trim(written, white) != "" {
		if json.Unmarshal([]byte(written), &given) != nil || given == nil {
			return nil, errors.New(r.modelText("arguments_no_object"))
		}
	}
	properties, known, required := r.definition(tool)
	var unknown []string
	for name := range given {
		if !slices.Contains(known, name) {
			unknown = append(unknown, printable(name))
		}
	}
	if len(unknown) > 0 {
		return nil, errors.New(r.modelText("argument_unknown", "name", slices.Min(unknown), "names", strings.Join(known, ", ")))
	}
	checked := arguments{}
	for _, name := range known {
		if value := given[name]; value != nil && value != "" {
			if err := r.check(name, properties[name], value); err != nil {
				return nil, err
			}
			checked[name] = value
		}
	}
	var missing []string
	for _, name := range required {
		if text, ok := checked[name].(string); !checked.has(name) || ok && strings.Trim(text, white) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, errors.New(r.modelText("arguments_missing", "names", strings.Join(missing, ", ")))
	}
	return checked, nil
}

func (r *runner) check(name string, p parameter, value any) error {
	switch p.Type {
	case "string":
		if _, ok := value.(string); !ok {
			return errors.New(r.modelText("argument_no_text", "name", name))
		}
	case "boolean":
		if _, ok := value.(bool); !ok {
			return errors.New(r.modelText("argument_no_flag", "name", name))
		}
	default:
		highest := float64(math.MaxUint32)
		if p.Maximum != nil {
			highest = *p.Maximum
		}
		number, ok := value.(float64)
		if !ok || number != math.Trunc(number) || number < p.Minimum || number > highest {
			return errors.New(r.modelText("argument_no_number",
				"name", name, "lowest", digits(int(p.Minimum)), "highest", digits(int(highest))))
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

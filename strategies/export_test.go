package strategies

import "math"

// Functions that only tests outside of the package call.
var (
	MergePolicy = mergePolicy
	CheckPolicy = checkPolicy
)

// Fields returns the fields of a JSON object by their names. Of several with one name it has the last.
func Fields(text string) map[string]string {
	fields := make(map[string]string)
	for _, f := range fieldsOf(text, math.MaxInt) {
		fields[f.name] = f.value
	}
	return fields
}

// StringValue returns the text of a string in JSON.
var StringValue = stringValue

// ArgumentNames returns the names of the arguments that are read of a call.
func ArgumentNames(arguments string) []string {
	var names []string
	for _, a := range argumentsOf(arguments) {
		names = append(names, a.name)
	}
	return names
}

package strategies

// Functions that only tests outside of the package call.
var (
	MergePolicy = mergePolicy
	CheckPolicy = checkPolicy
)

// ArgumentNames returns the names of the arguments that are read of a call.
func ArgumentNames(arguments string) []string {
	var names []string
	for _, a := range argumentsOf(arguments) {
		names = append(names, a.name)
	}
	return names
}

package strategies

// What only tests of this package call from outside of it.
var (
	MergePolicy = mergePolicy
	CheckPolicy = checkPolicy
)

// ArgumentNames are the names of the arguments that are read of a call.
func ArgumentNames(arguments string) []string {
	var names []string
	for _, a := range argumentsOf(arguments) {
		names = append(names, a.name)
	}
	return names
}

package rules

// The documents, for tests from outside.
type (
	ValidateJSON  = validateJSON
	ViolationJSON = violationJSON
)

package rules

// JSON documents, exported to external tests.
type (
	ValidateJSON  = validateJSON
	ViolationJSON = violationJSON
)

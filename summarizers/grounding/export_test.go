package grounding

// WithoutMarks is for tests.
var WithoutMarks = withoutMarks

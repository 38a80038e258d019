package main

// task is a request of the user: a bug in a file of the project, a first fix that is not enough, and a second one that
// is.
type task struct {
	ticket string
	ask    string // what the user writes
	plan   []string
	think  string   // on reading the request
	reads  []string // files of other packages to read too
	grep   string
	look   *look // a command whose output shows the bug

	file                 string
	before, wrong, right string
	finding              string // what the assistant says before the first repair

	test     string // the name of the test that is written for it
	testFile string
	testCode string
	failure  string // what the test prints after the first repair
	insight  string // what the assistant makes of that

	done   string // the assistant's report
	asides []aside
	commit string
}

// look is a command with its output.
type look struct {
	command string
	output  func(*random) string
	failed  bool
}

// aside is a short exchange with at most one tool call.
type aside struct {
	user   string
	look   *look
	answer string
}

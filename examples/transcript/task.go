package main

// task is a piece of work that the user asks for: a fault in a file of the project, a first repair that is not enough,
// and one that is.
type task struct {
	ticket string
	ask    string // what the user writes
	plan   []string
	think  string   // on reading the request
	reads  []string // files of other packages; those of its own are read anyway
	grep   string
	look   *look // a command that shows the fault from outside

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

// look is a command and what it prints.
type look struct {
	command string
	output  func(*random) string
	failed  bool
}

// aside is a short exchange that needs no tools, or only one.
type aside struct {
	user   string
	look   *look
	answer string
}

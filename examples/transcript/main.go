// Command transcript writes the conversation of a coding agent with its user, made up but whole: requests, constraints,
// to-do lists, parallel tool calls, file contents, failing tests and what became of them. It is long enough that a
// window of 128,000 tokens does not hold it. The output is the same on every run; session.jsonl beside it is what
//
//	go run ./examples/transcript > examples/transcript/session.jsonl
//
// wrote.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := write(out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "transcript:", err)
		os.Exit(1)
	}
}

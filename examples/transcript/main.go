// Command transcript writes an invented but complete conversation of a coding agent with its user: requests,
// constraints, to-do lists, parallel tool calls, file contents, failing tests and their fixes. It does not fit into a
// window of 128,000 tokens. The output is the same on every run. session.jsonl beside it was written by
//
//	go run ./examples/transcript > examples/transcript/session.jsonl
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

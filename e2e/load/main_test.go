package load

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/compactord/compactord/e2e/daemontest"
)

// program is the path of the program that is measured.
var program string

func TestMain(m *testing.M) {
	if os.Getenv(echoVariable) != "" {
		if err := serveEcho(); err != nil {
			fmt.Fprintln(os.Stderr, "echo:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		os.Exit(m.Run())
	}
	os.Exit(daemontest.RunWithProgram(m, &program))
}

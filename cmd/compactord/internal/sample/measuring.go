package sample

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// MeasuringVariable names the folder with measuring tools in Python, which are not in the repository.
const MeasuringVariable = "COMPACTORD_MEASURE"

// MeasuringTools returns the folder with the measuring tools. It skips the test where they cannot run.
func MeasuringTools(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(MeasuringVariable)
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "..", "shared", "measure")
	}
	if _, err := os.Stat(filepath.Join(folder, "frr.py")); err != nil {
		t.Skipf("no measuring tools at %s; %s names their folder", folder, MeasuringVariable)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 to run the measuring tools")
	}
	return folder
}

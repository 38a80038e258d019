package load

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkImport is the whole command that imports a transcript of 1 MB. Target: 0.1 s and 60 MB.
func BenchmarkImport(b *testing.B) {
	file := filepath.Join(b.TempDir(), "transcript.jsonl")
	require.NoError(b, os.WriteFile(file, transcript(1_000_000), 0o600))
	b.Run("kB=1000", func(b *testing.B) {
		var took samples
		var peak float64
		for i := 0; b.Loop(); i++ {
			cmd := exec.CommandContext(b.Context(), program, "import", file, "--session", "s",
				"--store", filepath.Join(b.TempDir(), fmt.Sprint(i)))
			took.time(func() {
				out, err := cmd.CombinedOutput()
				require.NoError(b, err, "%s", out)
			})
			peak = max(peak, peakMB(cmd.ProcessState))
		}
		reportLimit(b, took, 100*time.Millisecond)
		b.ReportMetric(peak, "peak-MB")
	})
}

// transcript is a conversation of about size bytes as OpenAI messages, a line each.
func transcript(size int) []byte {
	var lines strings.Builder
	for i := 0; lines.Len() < size; i++ {
		fmt.Fprintf(&lines, `{"role":"user","content":%q}`+"\n", fmt.Sprint(i, " ", prose(2000)))
		fmt.Fprintf(&lines, `{"role":"assistant","content":%q}`+"\n", fmt.Sprint(i, " ", prose(2000)))
	}
	return []byte(lines.String())
}

// peakMB returns the most memory that a process had.
func peakMB(ended *os.ProcessState) float64 {
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return float64(usage.Maxrss) * 1024 / 1e6
}

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sumsName is what sha256sum --check reads.
const sumsName = "SHA256SUMS"

// writeSums writes the digests of a folder's files.
func writeSums(folder string) error {
	listed, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, f := range listed {
		if f.IsDir() || f.Name() == sumsName {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(content), f.Name())
	}
	return os.WriteFile(filepath.Join(folder, sumsName), []byte(out.String()), plain)
}
